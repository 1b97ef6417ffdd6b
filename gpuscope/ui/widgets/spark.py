"""A tiny plot without axes: the last minute of one figure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from gpuscope.ui.decimate import min_max
from gpuscope.ui.theme import colours_of

FloatArray = NDArray[np.float64]

HEIGHT_PX = 32


class Spark(QWidget):
    """Values from 0 to 100 over a stretch of time; gaps are left out."""

    def __init__(self, colour: QColor, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._colour = colour
        self._span = (0.0, 1.0)
        self._t = self._values = np.empty(0)
        self.setMinimumSize(QSize(64, HEIGHT_PX))

    def show_series(self, span: tuple[float, float], t: FloatArray, values: FloatArray) -> None:
        """Replace what is shown."""
        self._span, self._t, self._values = span, t, values
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a base line and the pieces of the curve."""
        painter = QPainter(self)
        width, height = self.width(), self.height() - 1
        painter.setPen(QPen(QColor(colours_of(self).grid)))
        painter.drawLine(0, height, width, height)
        start, end = self._span
        t, values = min_max(self._t, self._values, start, end, width)
        if not len(t):
            return
        x = (t - start) * (width / (end - start))
        y = height - np.clip(values, 0, 100) * (height / 100)
        painter.setPen(QPen(self._colour, 1.5))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        breaks = np.flatnonzero(np.isnan(y))
        for piece_x, piece_y in zip(np.split(x, breaks), np.split(y, breaks), strict=True):
            known = ~np.isnan(piece_y)
            points = [QPointF(px, py) for px, py in zip(piece_x[known], piece_y[known], strict=True)]
            painter.drawPolyline(QPolygonF(points))
        painter.end()
