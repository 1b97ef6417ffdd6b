"""Figures as people read them: the only place where the report turns numbers into text."""

from __future__ import annotations

import math
from collections.abc import Callable

from gpuscope.domain.base import Range
from gpuscope.domain.units import (
    format_bytes,
    format_duration,
    format_duration_range,
    format_money,
    format_money_range,
    format_rate,
    join_range,
)
from gpuscope.report.model import Figure

DASH = "–"


def significant(value: float) -> str:
    """Three significant figures, thousands separated: `0.125`, `41.3`, `1,240`."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    if "e" not in text:
        return text
    decimals = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{decimals}f}".rstrip("0")


def _with(unit: str) -> Callable[[float], str]:
    return lambda value: f"{significant(value)} {unit}"


def _usd_per_hour(value: float) -> str:
    return f"{format_money(value)}/h"


_FORMATS: dict[str, Callable[[float], str]] = {
    "bytes": format_bytes,
    "s": format_duration,
    "s_per_step": format_duration,
    "usd": format_money,
    "usd_per_hour": _usd_per_hour,
    "percent": lambda value: f"{significant(value)}%",
    "w": _with("W"),
    "j": _with("J"),
    "kwh": _with("kWh"),
    "bytes_per_s": format_rate,
}


def number(value: float, unit: str) -> str:
    """A number with its unit; a unit that is not in `Figure.unit`'s list is written as it is."""
    if unit == "count":
        return f"{value:,.0f}" if float(value).is_integer() else significant(value)
    return _FORMATS.get(unit, _with(unit))(value)


def spread(value: Range, unit: str) -> str:
    """A range in one unit, as `31–38 h`; one number when both ends read the same."""
    if unit in {"s", "s_per_step"}:
        return format_duration_range(value)
    if unit in {"usd", "usd_per_hour"}:
        return format_money_range(value) + ("/h" if unit == "usd_per_hour" else "")
    if unit not in {"bytes", "bytes_per_s"}:
        return _two_figures(value, unit)
    return join_range(number(value.low, unit), number(value.high, unit))


def _two_figures(value: Range, unit: str) -> str:
    """Both ends with as many decimals as two figures of the middle have: more would pretend to know better."""
    middle = number(value.mid, unit)
    if value.low == value.high or value.mid == 0:
        return middle
    decimals = max(0, 1 - math.floor(math.log10(abs(value.mid))))
    low, high = f"{value.low:,.{decimals}f}", f"{value.high:,.{decimals}f}"
    return middle if low == high else middle.replace(significant(value.mid), f"{low}–{high}", 1)


def optional(value: Range | None, unit: str) -> str:
    """A range, or a dash when it is unknown."""
    return DASH if value is None else spread(value, unit)


def figure_text(figure: Figure) -> str:
    """A figure's value with its unit, or a dash."""
    value = figure.value
    if value is None:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if figure.low is not None and figure.high is not None:
        return spread(Range(low=figure.low, mid=float(value), high=figure.high), figure.unit)
    return number(value, figure.unit)
