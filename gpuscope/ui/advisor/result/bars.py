"""Horizontal bars of amounts with their ranges, grouped: to compare a few figures at a glance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuscope.domain.base import Range
from gpuscope.ui import theme
from gpuscope.ui.theme import GRID, Size

LINE_HEIGHT = 18
BAR_HEIGHT = 10
GAP = 6
"""Between groups."""
_RANGE_OPACITY = 110


@dataclass(frozen=True, slots=True)
class Bar:
    """One amount."""

    group: str
    """Bars of the same group stand together under it."""
    label: str
    value: Range | None
    colour: str


class RangeBars(QWidget):
    """From zero to the middle of the range, with the range drawn over its end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_bars`."""
        super().__init__(parent)
        self._bars: list[Bar] = []
        self._say: Callable[[Range], str] = lambda value: f"{value.mid:g}"
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_bars(self, bars: list[Bar], say: Callable[[Range], str]) -> None:
        """Replace the bars; `say` writes an amount."""
        self._bars = bars
        self._say = say
        self.setAccessibleDescription(
            "; ".join(f"{bar.group}, {bar.label}: {'–' if bar.value is None else say(bar.value)}" for bar in bars)
        )
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line for each bar."""
        groups = len(dict.fromkeys(bar.group for bar in self._bars))
        return QSize(30 * GRID, len(self._bars) * LINE_HEIGHT + max(groups - 1, 0) * GAP + 2)

    def minimumSizeHint(self) -> QSize:
        """Less width will do."""
        return QSize(20 * GRID, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw group, label, bar and amount in each line."""
        if not self._bars:
            return
        painter = QPainter(self)
        font = theme.font(Size.SMALL)
        painter.setFont(font)
        metrics = QFontMetrics(font)
        amounts = ["–" if bar.value is None else self._say(bar.value) for bar in self._bars]
        group_px = max(metrics.horizontalAdvance(bar.group) for bar in self._bars) + GRID
        label_px = max(metrics.horizontalAdvance(bar.label) for bar in self._bars) + GRID
        amount_px = max(metrics.horizontalAdvance(amount) for amount in amounts) + GRID
        lane_px = max(self.width() - group_px - label_px - amount_px, 4 * GRID)
        highest = max((bar.value.high for bar in self._bars if bar.value is not None), default=0.0)
        top, before = 0.0, ""
        for bar, amount in zip(self._bars, amounts, strict=True):
            if bar.group != before and before:
                top += GAP
            line = QRectF(0, top, self.width(), LINE_HEIGHT)
            self._paint_words(painter, line, bar, amount, group_px, new_group=bar.group != before)
            if bar.value is not None and highest > 0:
                lane = QRectF(group_px + label_px, top + (LINE_HEIGHT - BAR_HEIGHT) / 2, lane_px, BAR_HEIGHT)
                self._paint_bar(painter, lane, bar, lane_px / highest)
            top, before = top + LINE_HEIGHT, bar.group
        painter.end()

    def _paint_words(
        self, painter: QPainter, line: QRectF, bar: Bar, amount: str, group_px: int, *, new_group: bool
    ) -> None:
        colours = theme.colours_of(self)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(colours.text))
        if new_group:
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft | middle, bar.group)
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | middle, amount)
        painter.setPen(QColor(colours.muted))
        painter.drawText(line.adjusted(group_px, 0, 0, 0), Qt.AlignmentFlag.AlignLeft | middle, bar.label)

    def _paint_bar(self, painter: QPainter, lane: QRectF, bar: Bar, px_per_unit: float) -> None:
        assert bar.value is not None
        colour = QColor(bar.colour)
        low, mid, high = (max(value, 0.0) * px_per_unit for value in (bar.value.low, bar.value.mid, bar.value.high))
        painter.fillRect(QRectF(lane.left(), lane.top(), max(low, 1.0), lane.height()), colour)
        if high > low:
            colour.setAlpha(_RANGE_OPACITY)
            painter.fillRect(QRectF(lane.left() + low, lane.top(), high - low, lane.height()), colour)
            mark = QColor(theme.colours_of(self).text)
            painter.fillRect(QRectF(lane.left() + mid - 1, lane.top() - 1, 2, lane.height() + 2), mark)
