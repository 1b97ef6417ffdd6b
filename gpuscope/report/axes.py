"""Scales and ticks of the report's plots."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpuscope.domain.units import GIB, KIB, MIB
from gpuscope.report.format import significant

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit to draw in: one `label` is `size` of the raw unit."""

    label: str
    size: float


def plot_unit(unit: str, highest: float) -> Unit:
    """The unit that reads best for values up to `highest`."""
    if unit == "s":
        return _time_unit(highest)
    choices = {
        "bytes": (Unit("GiB", GIB), Unit("MiB", MIB), Unit("KiB", KIB)),
        "s_per_step": (Unit("s", 1.0), Unit("ms", 1e-3), Unit("µs", 1e-6)),
        "percent": (Unit("%", 1.0),),
        "w": (Unit("W", 1.0),),
        "usd": (Unit("USD", 1.0),),
        "usd_per_hour": (Unit("USD/h", 1.0),),
    }[unit]
    return next((choice for choice in choices if highest >= 1.5 * choice.size), choices[-1])


def _time_unit(highest_s: float) -> Unit:
    """The unit in which `format_duration` would write so long a time."""
    units = ((72 * 3600, Unit("d", 86400.0)), (5400, Unit("h", 3600.0)), (90, Unit("min", 60.0)), (1, Unit("s", 1.0)))
    return next((unit for above, unit in units if highest_s >= above), Unit("ms", 1e-3))


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers within [low, high], about so many."""
    if not high > low:
        return [low]
    rough = (high - low) / about
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(magnitude * factor for factor in _STEPS if magnitude * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [(first + index) * step for index in range(count)]


def round_up(value: float) -> float:
    """The next number that makes a good end of an axis: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten."""
    if value <= 0:
        return 1.0
    magnitude = 10.0 ** math.floor(math.log10(value))
    factors = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
    return next(magnitude * factor for factor in factors if magnitude * factor >= value * 0.9999)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to points, linearly or by logarithm."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Points of a value; values outside end at the edge."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, about: int = 4) -> list[float]:
        """Values to label."""
        if not self.logarithmic:
            return ticks(self.low, self.high, about)
        found = []
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            found += [factor * 10.0**power for factor in (1.0, 2.0, 5.0)]
        within = [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]
        return [value for value in within if f"{value:e}"[0] == "1"] if len(within) > 2 * about else within


LOGARITHMIC_FROM = 8.0
"""Ratio of highest to lowest value from which a logarithmic axis separates points better."""


def span(lows: list[float], highs: list[float], start: float, end: float) -> Scale:
    """A scale for a scatter of positive values with their ranges."""
    lowest, highest = min(lows), max(highs)
    if lowest > 0 and highest / lowest > LOGARITHMIC_FROM:
        return Scale(lowest / 1.3, highest * 1.3, start, end, logarithmic=True)
    return Scale(0.0, round_up(highest * 1.05), start, end)


def tick_text(value: float, unit: str = "") -> str:
    """A tick's label."""
    return f"{significant(value)} {unit}".rstrip()
