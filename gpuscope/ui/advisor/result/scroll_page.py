"""A page of one of the result's tabs: parts below each other that scroll where there is no room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID


class ScrollPage(QScrollArea):
    """Scrolls vertically only."""

    def __init__(self, parts: Sequence[QWidget], parent: QWidget | None = None) -> None:
        """Take over the parts, top to bottom."""
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        for part in parts:
            column.addWidget(part)
        column.addStretch(1)
        self.setWidget(page)
