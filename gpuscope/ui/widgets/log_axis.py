"""Logarithmic axes of a plot, with ticks at figures that people use."""

from __future__ import annotations

import math
from collections.abc import Callable

import pyqtgraph as pg

from gpuscope.ui import theme
from gpuscope.ui.theme import Colours, Size

_TIME_UNITS = (
    ("µs", 1e-6, (1, 5, 20, 100)),
    ("ms", 0.001, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    ("s", 1, (1, 2, 5, 10, 20, 30)),
    ("min", 60, (1, 2, 5, 10, 20, 30)),
    ("h", 3600, (1, 2, 3, 6, 12)),
    ("d", 86400, (1, 2, 3, 7, 14, 30, 90, 180, 365, 1000, 3650)),
)
TICKS_AT_MOST = 6
_GRID_OPACITY = 40
"""Of 255."""


class LogAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph is untyped
    """An axis whose coordinates are log10 of a figure, with ticks at figures that people use."""

    def __init__(
        self, orientation: str, nice: Callable[[float, float], list[float]], say: Callable[[float], str]
    ) -> None:
        """`nice(low, high)` gives the figures to mark, `say` writes one."""
        super().__init__(orientation)
        self._nice = nice
        self._say = say
        self.enableAutoSIPrefix(False)  # noqa: FBT003 - pyqtgraph's own signature

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803, ARG002 - pyqtgraph's signature
        """Where the ticks are, in log10."""
        low, high = 10 ** max(minVal, -12.0), 10 ** min(maxVal, 18.0)
        return [(1.0, [math.log10(value) for value in self._nice(low, high)])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002 - pyqtgraph's signature
        """What is written at the ticks."""
        return [self._say(10**value) for value in values]


def nice_durations(low: float, high: float) -> list[float]:
    """Round lengths of time between two of them, seconds; every second or third when there would be many."""
    steps = [count * unit_s for _, unit_s, counts in _TIME_UNITS for count in counts]
    inside = [value for value in steps if low <= value <= high]
    return inside[:: -(-len(inside) // TICKS_AT_MOST)] if inside else []


def say_duration(seconds: float) -> str:
    """`20 min`, `6 h`: in the largest unit that is not longer."""
    fitting = [(unit, unit_s) for unit, unit_s, _ in _TIME_UNITS if unit_s <= seconds * 1.001]
    unit, unit_s = fitting[-1] if fitting else ("µs", 1e-6)
    return f"{seconds / unit_s:.4g} {unit}"


def nice_amounts(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... between two amounts; powers of ten only when there would be many."""
    fine = _one_two_five(low, high)
    coarse = [value for value in fine if math.log10(value) == round(math.log10(value))]
    return coarse if len(fine) > 8 and len(coarse) > 1 else fine


def _one_two_five(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [factor * 10.0**decade for decade in decades for factor in (1, 2, 5)]
    return [value for value in values if low <= value <= high]


def style_axes(plot: pg.PlotWidget, colours: Colours, *, bottom: str, left: str) -> None:
    """Give the axes the colours and the small font of the theme, and say what they show."""
    plot.setBackground(colours.surface)
    for side, label in (("bottom", bottom), ("left", left)):
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(colours.border))
        axis.setTextPen(pg.mkPen(colours.muted))
        axis.setTickFont(theme.font(Size.SMALL))
        axis.setLabel(label, **{"color": colours.muted, "font-size": f"{theme.POINT_SIZES[Size.SMALL]}pt"})
        axis.setGrid(_GRID_OPACITY)
