"""A bar of memory: what is used, what the driver keeps for itself, what is free."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuscope.ui.theme import colours_of

HEIGHT_PX = 8


class MemoryBar(QWidget):
    """Parts of a whole, left to right; hatched is nobody's data."""

    def __init__(self, colour: QColor, parent: QWidget | None = None) -> None:
        """Unknown as yet: an empty frame."""
        super().__init__(parent)
        self._colour = colour
        self._used = self._reserved = 0.0
        self.setMinimumSize(QSize(64, HEIGHT_PX))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_shares(self, used: float, reserved: float) -> None:
        """Shares of the whole, 0 to 1."""
        used = min(1.0, max(0.0, used))
        shares = (used, min(1.0 - used, max(0.0, reserved)))
        if shares != (self._used, self._reserved):
            self._used, self._reserved = shares
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the frame and the two parts."""
        colours = colours_of(self)
        painter = QPainter(self)
        width, height = float(self.width()), float(self.height())
        painter.fillRect(QRectF(0, 0, width, height), QColor(colours.grid))
        painter.fillRect(QRectF(0, 0, width * self._used, height), self._colour)
        hatched = QBrush(QColor(colours.reserved), Qt.BrushStyle.BDiagPattern)
        painter.fillRect(QRectF(width * self._used, 0, width * self._reserved, height), hatched)
        painter.end()
