"""Cost against time: one mark a candidate, with the ranges of both as bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpuscope.domain.base import Range
from gpuscope.domain.money import DOLLAR
from gpuscope.domain.recommendation import Candidate, Recommendation
from gpuscope.ui import theme
from gpuscope.ui.advisor.result.cells import configuration_name, place
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, Colours, set_role
from gpuscope.ui.widgets.log_axis import LogAxis, nice_amounts, nice_durations, say_duration, style_axes

_SYMBOLS = {"rent": "o", "buy": "s", "keep": "d"}
_COLOURS = {"rent": theme.BLUE, "buy": theme.ORANGE, "keep": theme.BLUISH_GREEN}
_MARK_SIZE = 10
_CHOSEN_SIZE = 15


@dataclass(frozen=True, slots=True)
class Point:
    """A candidate that has both figures."""

    number: int
    """Index into the recommendation's candidates."""
    time_s: Range
    cost: Range
    """In the person's currency."""
    acquisition: str


def points(recommendation: Recommendation) -> list[Point]:
    """The candidates whose time and cost are known and above 0 (the axes are logarithmic)."""
    found = []
    per_usd = Money.of(recommendation.constraints.economics).per_usd
    for number, candidate in enumerate(recommendation.candidates):
        time, cost = candidate.time_to_finish_s, candidate.cost_usd
        if time is not None and cost is not None and time.low > 0 and cost.low > 0:
            found.append(Point(number, time, cost.scaled(per_usd), candidate.acquisition))
    return found


class CostTimePlot(QWidget):
    """Both axes are logarithmic; a click chooses the candidate."""

    chosen = Signal(int)
    """Number of the candidate whose mark was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_recommendation`."""
        super().__init__(parent)
        self._points: list[Point] = []
        self._candidates: tuple[Candidate, ...] = ()
        self._recommended: int | None = None
        self._chosen: int | None = None
        bottom = LogAxis("bottom", nice_durations, say_duration)
        self._money = Money()
        left = LogAxis("left", nice_amounts, lambda value: tick_text(value, self._money))
        self._plot = pg.PlotWidget(axisItems={"bottom": bottom, "left": left})
        self._plot.setAccessibleName(self.tr("Cost against time"))
        self.setWhatsThis(
            self.tr(
                "Each mark is a configuration: to the left is faster, below is cheaper. Lines are the ranges of both; "
                "the dashed line joins those that no other beats. Both axes are logarithmic. Click a mark to choose "
                "its configuration."
            )
        )
        self._plot.setMenuEnabled(False)
        self._plot.hideButtons()
        self._plot.getPlotItem().getViewBox().setMouseEnabled(x=False, y=False)
        self._ranges = pg.PlotCurveItem(connect="pairs")
        self._front = pg.PlotCurveItem()
        self._marks = pg.ScatterPlotItem(hoverable=True, tip=None)
        self._marks.sigClicked.connect(self._on_clicked)
        self._marks.sigHovered.connect(self._on_hovered)
        self._plot.addItem(self._ranges)
        self._plot.addItem(self._front)
        self._plot.addItem(self._marks)
        self._legend = QLabel(self)
        set_role(self._legend, "muted")
        self._legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._empty = QLabel(self)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        column.setSpacing(GRID // 2)
        column.addWidget(self._legend)
        column.addWidget(self._plot, 1)
        column.addWidget(self._empty, 1)
        self._restyle()

    def show_recommendation(self, recommendation: Recommendation) -> None:
        """Replace all marks."""
        self._candidates = recommendation.candidates
        self._recommended = recommendation.recommended
        self._money = Money.of(recommendation.constraints.economics)
        self._points = points(recommendation)
        self._chosen = None
        self._draw()
        self._show_empty(recommendation)

    def choose(self, candidate_number: int) -> None:
        """Make one candidate's mark stand out."""
        self._chosen = candidate_number
        self._draw()

    def mark_position(self, candidate_number: int) -> QPointF:
        """Where a candidate's mark is, in this widget's pixels; for tests and help."""
        point = next(point for point in self._points if point.number == candidate_number)
        scene = self._plot.getPlotItem().getViewBox().mapViewToScene(QPointF(*_log(point)))
        return QPointF(self._plot.mapTo(self, self._plot.mapFromScene(scene)))

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._restyle()

    def _show_empty(self, recommendation: Recommendation) -> None:
        if not recommendation.candidates:
            sentence = self.tr("There is no configuration to draw.")
        elif all(candidate.time_to_finish_s is None for candidate in recommendation.candidates):
            sentence = self.tr("Say how much work there is in all (steps, samples or epochs) to see cost against time.")
        else:
            sentence = self.tr("No candidate has both a price and a predicted time.")
        self._empty.setText(sentence)
        self._empty.setVisible(not self._points)
        self._plot.setVisible(bool(self._points))
        self._legend.setVisible(bool(self._points))

    def _restyle(self) -> None:
        style_axes(self._plot, theme.colours_of(self), bottom=self.tr("time for the whole work"), left=self.tr("cost"))
        self._draw()

    def _draw(self) -> None:
        colours = theme.colours_of(self)
        xs: list[float] = []
        ys: list[float] = []
        for point in self._points:
            x, y = _log(point)
            xs += [math.log10(point.time_s.low), math.log10(point.time_s.high), x, x]
            ys += [y, y, math.log10(point.cost.low), math.log10(point.cost.high)]
        line = QColor(colours.muted)
        line.setAlpha(110)
        self._ranges.setPen(pg.mkPen(line, width=1))
        self._ranges.setData(xs, ys, connect="pairs")
        front_x, front_y = front_line([point for point in self._points if self._candidates[point.number].pareto])
        self._front.setPen(pg.mkPen(colours.accent, width=1.5, style=Qt.PenStyle.DashLine))
        self._front.setData(front_x, front_y)
        self._marks.setData([self._spot(point, colours) for point in self._points])
        self._legend.setText(self._legend_text())
        if xs:
            self._plot.setXRange(min(xs), max(xs), padding=0.06)
            self._plot.setYRange(min(ys), max(ys), padding=0.08)

    def _spot(self, point: Point, colours: Colours) -> dict[str, object]:
        standing_out = point.number == self._chosen
        ring = colours.text if standing_out else colours.surface
        return {
            "pos": _log(point),
            "data": point.number,
            "symbol": "star" if point.number == self._recommended else _SYMBOLS.get(point.acquisition, "o"),
            "size": _CHOSEN_SIZE if standing_out or point.number == self._recommended else _MARK_SIZE,
            "brush": pg.mkBrush(_COLOURS.get(point.acquisition, theme.BLUE)),
            "pen": pg.mkPen(ring, width=2 if standing_out else 1),
        }

    def _legend_text(self) -> str:
        shown = {point.acquisition for point in self._points}
        words = {
            "rent": f'<span style="color:{theme.BLUE}">●</span> ' + self.tr("rent"),
            "buy": f'<span style="color:{theme.ORANGE}">■</span> ' + self.tr("buy (purchase price)"),
            "keep": f'<span style="color:{theme.BLUISH_GREEN}">◆</span> ' + self.tr("this machine"),
        }
        parts = [text for key, text in words.items() if key in shown]
        if any(point.number == self._recommended for point in self._points):
            parts.append("★ " + self.tr("recommended"))
        if any(self._candidates[point.number].pareto for point in self._points):
            parts.append("╌ " + self.tr("best trade-offs"))
        return "&nbsp;&nbsp;&nbsp;".join(parts)

    def _on_clicked(self, _item: object, spots: list[pg.SpotItem]) -> None:
        if len(spots):
            self.chosen.emit(int(spots[0].data()))

    def _on_hovered(self, _item: object, spots: list[pg.SpotItem]) -> None:
        lines = []
        for spot in spots[:4]:
            candidate = self._candidates[int(spot.data())]
            lines.append(
                configuration_name(candidate.gpu, candidate.gpu_name, candidate.count) + ", " + place(candidate)
            )
        self._plot.setToolTip(as_plain("\n".join(lines)))


def front_line(front: list[Point]) -> tuple[list[float], list[float]]:
    """Coordinates of the line through the candidates that no other beats, as stairs.

    A purchase price and the rent for one job are different things: the line is that of rents, or of what there is.
    """
    rented = [point for point in front if point.acquisition != "buy"]
    xs: list[float] = []
    ys: list[float] = []
    for x, y in sorted(_log(point) for point in rented or front):
        if ys and y >= ys[-1]:
            continue  # on the front for its energy
        if ys:
            xs.append(x)
            ys.append(ys[-1])
        xs.append(x)
        ys.append(y)
    return xs, ys


def tick_text(value: float, money: Money) -> str:
    """An amount of the person's currency at a tick."""
    if money.economics.currency != DOLLAR:
        return money.amount(value / money.per_usd)
    return f"${value:,.0f}" if value >= 1 else f"${value:.2g}"


def _log(point: Point) -> tuple[float, float]:
    return math.log10(point.time_s.mid), math.log10(point.cost.mid)
