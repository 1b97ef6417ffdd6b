"""Where the ticks of a plot go and what stands at them, without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gpuscope.ui.session_status import clock_text

TIME_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
HEADROOM = 1.06
"""Room above the highest value, as a factor: a line at the limit is seen, and the limit gets its tick."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A vertical axis."""

    label: Callable[[float], str]
    """Text of a tick."""
    unit: float = 1.0
    """Ticks are round in this many of the data's units (GiB for bytes)."""
    top: float | None = None
    """Highest value that there can be; None: as the data asks."""
    least_top: float = 1.0
    """An axis without data, or with only small values, goes up to this."""

    def highest(self, data_highest: float) -> float:
        """Upper end of the axis for data that goes up to `data_highest`."""
        return HEADROOM * (self.top if self.top is not None else max(self.least_top, data_highest))


def value_spacing(span: float, pixels: float, least_px: float) -> float:
    """Distance of ticks that are 1, 2 or 5 times a power of ten apart, and at least `least_px` pixels."""
    wanted = span * least_px / max(pixels, least_px)
    if wanted <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= wanted * (1 - 1e-9))


def time_spacing(span_s: float, pixels: float, least_px: float) -> float:
    """Distance of ticks in seconds, round in minutes and hours, at least `least_px` pixels apart."""
    wanted = span_s * least_px / max(pixels, least_px)
    return next((step for step in TIME_STEPS_S if step >= wanted), math.ceil(wanted / 86400) * 86400.0)


def time_label(t: float, spacing_s: float) -> str:
    """Session time at a tick: `12:30`, `1:00:00`, `0:04.5`; nothing before the session began."""
    if t < -1e-9:
        return ""
    if spacing_s >= 1:
        return clock_text(t + 1e-6)
    tenths = round(t * 10)
    return f"{clock_text(tenths // 10)}.{tenths % 10}"
