"""Predicted against measured, both logarithmic: on the diagonal is right."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.domain.units import format_duration
from gpuscope.ui import theme
from gpuscope.ui.theme import GRID
from gpuscope.ui.validation.work import StudyRows
from gpuscope.ui.widgets.log_axis import LogAxis, nice_durations, say_duration, style_axes
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

COLOURS = (
    theme.BLUE, theme.ORANGE, theme.BLUISH_GREEN, theme.REDDISH_PURPLE, theme.SKY_BLUE, theme.VERMILLION,
)  # fmt: skip
_BRUSHES = tuple(QBrush(QColor(colour)) for colour in COLOURS)
SYMBOLS = ("o", "s", "t", "d")
MOST_RANGES = 600
"""With more rows the ranges would cover everything."""
_SIZE = 6
_FACTORS = (0.5, 2.0)
"""Dotted lines: half and twice as long."""


class OutcomeScatter(QWidget):
    """A study has a colour and a shape of its own; ranges are drawn where there are not too many rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._studies: list[StudyRows] = []
        self._order: list[str] = []
        self._plot = pg.PlotWidget(
            axisItems={
                "bottom": LogAxis("bottom", nice_durations, say_duration),
                "left": LogAxis("left", nice_durations, say_duration),
            }
        )
        self._plot.setAccessibleName(self.tr("Predicted against measured"))
        self.setWhatsThis(
            self.tr(
                "Each mark is a published measurement: to the right what was measured, upwards what is predicted "
                "without having seen it. On the diagonal both are the same; dotted: half and twice as long."
            )
        )
        self._plot.setMenuEnabled(False)
        self._plot.hideButtons()
        self._plot.getPlotItem().getViewBox().setMouseEnabled(x=False, y=False)
        self._lines = [pg.PlotCurveItem() for _ in range(1 + len(_FACTORS))]
        self._ranges = pg.PlotCurveItem(connect="pairs")
        self._marks = pg.ScatterPlotItem(hoverable=True, tip=None)
        self._marks.sigHovered.connect(self._on_hovered)
        for item in (*self._lines, self._ranges, self._marks):
            self._plot.addItem(item)
        self._legend = WrappingLabel(self)
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        self._legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        column.setSpacing(GRID // 2)
        column.addWidget(self._plot, 1)
        column.addWidget(self._legend)
        self._restyle()

    def show_studies(self, studies: list[StudyRows], order: list[str]) -> None:
        """Replace all marks; `order` keeps each study's colour when only some are shown."""
        self._studies, self._order = studies, order
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._restyle()

    def shown_outcomes(self) -> list[Outcome]:
        """The rows that have a mark."""
        return [outcome for study in self._studies for outcome in study.outcomes if _drawable(outcome)]

    def _restyle(self) -> None:
        style_axes(self._plot, theme.colours_of(self), bottom=self.tr("measured"), left=self.tr("predicted"))
        self._draw()

    def _draw(self) -> None:
        colours = theme.colours_of(self)
        rows = self.shown_outcomes()
        places = np.asarray([_log(outcome) for outcome in rows]).reshape(-1, 2)
        looks = [self._look(study) for study in self._studies for outcome in study.outcomes if _drawable(outcome)]
        self._marks.setData(
            x=places[:, 0],
            y=places[:, 1],
            data=rows,
            symbol=[symbol for symbol, _ in looks],
            brush=[brush for _, brush in looks],
            size=_SIZE,
            pen=None,
        )
        self._draw_ranges(rows if len(rows) <= MOST_RANGES else [], colours.muted)
        self._draw_diagonal(rows, colours.muted)
        self._legend.setText(self._legend_text())

    def _look(self, study: StudyRows) -> tuple[str, QBrush]:
        number = self._order.index(study.name) if study.name in self._order else 0
        return SYMBOLS[number // len(COLOURS) % len(SYMBOLS)], _BRUSHES[number % len(COLOURS)]

    def _draw_ranges(self, rows: list[Outcome], colour: str) -> None:
        xs: list[float] = []
        ys: list[float] = []
        for outcome in rows:
            if outcome.predicted is not None and outcome.predicted.low > 0:
                xs += [math.log10(outcome.measured)] * 2
                ys += [math.log10(outcome.predicted.low), math.log10(outcome.predicted.high)]
        pen = QColor(colour)
        pen.setAlpha(90)
        self._ranges.setPen(pg.mkPen(pen, width=1))
        self._ranges.setData(np.asarray(xs), np.asarray(ys), connect="pairs")

    def _draw_diagonal(self, rows: list[Outcome], colour: str) -> None:
        if not rows:
            for line in self._lines:
                line.setData([], [])
            return
        values = [value for outcome in rows for value in _log(outcome)]
        low, high = min(values) - 0.1, max(values) + 0.1
        shifts = (0.0, *(math.log10(factor) for factor in _FACTORS))
        for line, shift in zip(self._lines, shifts, strict=True):
            style = Qt.PenStyle.SolidLine if shift == 0 else Qt.PenStyle.DotLine
            line.setPen(pg.mkPen(colour, width=1, style=style))
            line.setData([low, high], [low + shift, high + shift])
        self._plot.setXRange(low, high, padding=0.0)
        self._plot.setYRange(low, high, padding=0.0)

    def _legend_text(self) -> str:
        marks = {"o": "●", "s": "■", "t": "▼", "d": "◆"}
        parts = []
        for study in self._studies:
            number = self._order.index(study.name) if study.name in self._order else 0
            colour, symbol = COLOURS[number % len(COLOURS)], SYMBOLS[number // len(COLOURS) % len(SYMBOLS)]
            parts.append(f'<span style="color:{colour}">{marks[symbol]}</span>&nbsp;{study.name}')
        return " &nbsp; ".join(parts)

    def _on_hovered(self, _item: object, spots: list[pg.SpotItem]) -> None:
        self._plot.setToolTip("\n".join(describe(spot.data()) for spot in spots[:4]))


def describe(outcome: Outcome) -> str:
    """`resnet50, batch 64 on a100: predicted 31 ms, measured 30 ms (Lambda)`."""
    predicted = "–" if outcome.predicted is None else _say(outcome.predicted.mid, outcome.unit)
    measured = _say(outcome.measured, outcome.unit)
    return f"{outcome.label}, {outcome.gpu}, {outcome.precision}: {predicted} / {measured} ({outcome.source})"


def _say(value: float, unit: str) -> str:
    return format_duration(value) if unit == "s" else f"{value:,.4g} {unit}"


def _drawable(outcome: Outcome) -> bool:
    return outcome.predicted is not None and outcome.predicted.mid > 0 and outcome.measured > 0


def _log(outcome: Outcome) -> tuple[float, float]:
    assert outcome.predicted is not None
    return math.log10(outcome.measured), math.log10(outcome.predicted.mid)
