"""A panel that scrolls up and down when its window is too low for it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget


def fill_scrolling(panel: QWidget, page: QWidget) -> None:
    """Make `page` the whole content of `panel`, as wide as the panel and scrolled vertically where it must."""
    scroll = QScrollArea(panel)
    scroll.setWidget(page)
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QScrollArea.Shape.NoFrame)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    whole = QVBoxLayout(panel)
    whole.setContentsMargins(0, 0, 0, 0)
    whole.addWidget(scroll)
