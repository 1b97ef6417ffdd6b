"""A line of text that never asks for more room than there is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gpuscope.ui.plain_text import as_plain


class ElidedLabel(QLabel):
    """One line of text that is shortened where there is no room; the tooltip has all of it."""

    def __init__(self, parent: QWidget | None = None, mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        """Empty; `mode` says where it is shortened."""
        super().__init__(parent)
        self._mode = mode
        self._full = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def set_full_text(self, text: str) -> None:
        """Replace the text."""
        if text == self._full:
            return
        self._full = text
        self.setToolTip(as_plain(text))
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten for the new width."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        metrics = QFontMetrics(self.font())
        self.setText(metrics.elidedText(self._full, self._mode, max(0, self.width() - 2)))
