"""A thin row above the plots with a sign for each marker; what it says appears on hover."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuscope.ui.monitor_markers import Marker
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.session_status import clock_text
from gpuscope.ui.theme import Size, colours_of, font
from gpuscope.ui.widgets.plot import AXIS_WIDTH_PX

HEIGHT_PX = 18
SIGN_PX = 5.0
NEAR_PX = 6.0
LEAST_WORDS_PX = 80
MOST_LINES = 8


class MarkerStrip(QWidget):
    """On the same time axis as the plots; the newest marker's words stand beside its sign where there is room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No markers: no room taken."""
        super().__init__(parent)
        self._markers: list[Marker] = []
        self._labels: dict[str, str] = {}
        self._span = (0.0, 1.0)
        self.setFixedHeight(HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFont(font(Size.SMALL))
        self.hide()

    def show_markers(self, markers: Sequence[Marker], span: tuple[float, float], labels: dict[str, str]) -> None:
        """The markers in a stretch of time; `labels` has the GPUs' names by UUID."""
        state = (list(markers), span, labels)
        if state == (self._markers, self._span, self._labels):
            return
        self._markers, self._span, self._labels = state
        self.setVisible(bool(markers))
        self.setAccessibleName("; ".join(self.line(marker) for marker in self._markers[-MOST_LINES:]))
        self.update()

    def line(self, marker: Marker) -> str:
        """When, where and what."""
        place = self._labels.get(marker.uuid or "", "")
        return " ".join(part for part in (clock_text(marker.t), place, marker.text) if part)

    def hint_at(self, x: float) -> str:
        """What is said of the markers near a place."""
        near = [marker for marker in self._markers if abs(self._x_of(marker.t) - x) <= NEAR_PX]
        lines = [self.line(marker) for marker in near[:MOST_LINES]]
        return "\n".join([*lines, *(["…"] if len(near) > MOST_LINES else [])])

    def event(self, event: QEvent) -> bool:
        """Show what markers under the pointer say."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), as_plain(self.hint_at(event.pos().x())), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A triangle for each marker, and the words of the newest."""
        colours = colours_of(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for marker in self._markers:
            x = self._x_of(marker.t)
            painter.setBrush(QColor(colours.accent if marker.own else colours.warning))
            top, bottom = self.height() - 2 * SIGN_PX, float(self.height())
            triangle = [QPointF(x - SIGN_PX, top), QPointF(x + SIGN_PX, top), QPointF(x, bottom)]
            painter.drawPolygon(QPolygonF(triangle))
        if self._markers:
            self._paint_words(painter, self._markers[-1])
        painter.end()

    def _paint_words(self, painter: QPainter, marker: Marker) -> None:
        """Beside its sign, on the side with more room, but not over the sign before it."""
        x, metrics = self._x_of(marker.t), painter.fontMetrics()
        before = [self._x_of(other.t) + SIGN_PX for other in self._markers if other.t < marker.t]
        left_px, right_px = x - max([0.0, *before]) - 3 * SIGN_PX, self.width() - x - 2 * SIGN_PX
        room = max(left_px, right_px)
        if room < LEAST_WORDS_PX:
            return
        text = metrics.elidedText(self.line(marker), Qt.TextElideMode.ElideRight, int(room))
        width = metrics.horizontalAdvance(text)
        start = x + 2 * SIGN_PX if right_px >= left_px else x - 2 * SIGN_PX - width
        painter.setPen(QColor(colours_of(self).muted))
        painter.drawText(QRectF(start, 0, width + 1, self.height()), Qt.AlignmentFlag.AlignVCenter, text)

    def _x_of(self, t: float) -> float:
        start, end = self._span
        inner = max(1, self.width() - 2 * AXIS_WIDTH_PX)
        return AXIS_WIDTH_PX + inner * (t - start) / max(end - start, 1e-9)
