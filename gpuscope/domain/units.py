"""Read and write quantities the way people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from gpuscope.domain.base import Range
from gpuscope.errors import UsageError

KIB = 1024
MIB = 1024**2
GIB = 1024**3
GB = 10**9

_COUNT_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
_DURATION_UNITS: dict[str, float] = {
    "": 1, "ms": 1e-3, "s": 1, "sec": 1, "second": 1, "seconds": 1, "min": 60, "m": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hour": 3600, "hours": 3600, "d": 86400, "day": 86400, "days": 86400, "w": 604800, "week": 604800,
    "weeks": 604800,
}  # fmt: skip
_MONEY_UNITS = {"": 1, "k": 10**3, "m": 10**6, "usd": 1}
_POWER_UNITS = {"": 1, "w": 1, "kw": 10**3}
_SHOWN = 40
"""Characters of a mistyped text that an error repeats."""
_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9][0-9_]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+"
"""Commas only between thousands: read as a decimal point in one country and left out in another, 1,5 would be 15."""
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z]*)\s*")
_PLAIN = re.compile(rf"\s*({_NUMBER})\s*")


def _parse(text: str, units: Mapping[str, float], what: str, example: str) -> float:
    match = _QUANTITY.fullmatch(text)
    factor = units.get(match.group(2).lower()) if match else None
    if match is None or factor is None:
        point = ", decimals with a point" if "," in text else ""
        raise UsageError(f"{shown(text)} is not {what}: write it like {example}{point}.")
    value = _value(match.group(1)) * factor
    if not math.isfinite(value):
        raise UsageError(f"{shown(text)} is too large: write {what} like {example}.")
    return value


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("_", ""))


def shown(text: str) -> str:
    """What a person typed, quoted for a sentence; no more of it than can be read there."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def parse_number(text: str) -> float | None:
    """`12`, `0.5`, `1,200` → a number without a unit; None: it is none, or too large to compute with."""
    match = _PLAIN.fullmatch(text)
    value = _value(match.group(1)) if match is not None else math.inf
    return value if math.isfinite(value) else None


def parse_count(text: str) -> int:
    """`7B`, `350M`, `1.5e9`, `12,000` → a number.

    Raises:
        UsageError: it is none of these.
    """
    return round(_parse(text, _COUNT_UNITS, "a number", "7B, 350M or 12000"))


def parse_duration(text: str) -> float:
    """`36h`, `90 min`, `2d`, `45` → seconds.

    Raises:
        UsageError: it is none of these.
    """
    return _parse(text, _DURATION_UNITS, "a length of time", "36h, 90min or 2d")


def parse_money(text: str) -> float:
    """`$1,200`, `2.49`, `1.5k` → US dollars.

    Raises:
        UsageError: it is none of these.
    """
    return _parse(text.strip().removeprefix("$"), _MONEY_UNITS, "an amount of money", "$1,200 or 2.49")


def parse_power(text: str) -> float:
    """`700 W`, `1.5kW`, `300` → watts.

    Raises:
        UsageError: it is none of these.
    """
    return _parse(text, _POWER_UNITS, "a power", "700W or 1.5kW")


def format_bytes(value: float) -> str:
    """Bytes in binary units with three significant figures: `26.1 GiB`, `8.13 MiB`."""
    for unit, size in (("TiB", 1024**4), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(value) >= size:
            return f"{_three(value / size)} {unit}"
    return f"{value:.0f} B"


def format_bytes_range(value: Range) -> str:
    """A range of bytes: `3.1–4.8 GiB`, `800 MiB – 1.2 GiB`."""
    return join_range(format_bytes(value.low), format_bytes(value.high))


def join_range(low: str, high: str) -> str:
    """Two figures with their units as one range: the unit once where both have it, one figure where both read alike."""
    low_figure, _, low_unit = low.partition(" ")
    if low == high:
        return low
    return f"{low_figure}–{high}" if low_unit == high.partition(" ")[2] else f"{low} – {high}"


def format_duration(seconds: float) -> str:
    """Seconds in the unit that reads best: `38 ms`, `2.3 s`, `14 min`, `31 h`, `12 d`."""
    unit, size = _duration_unit(seconds)
    return f"{_three(seconds / size)} {unit}"


def format_duration_range(value: Range) -> str:
    """A range of times in one unit: `31–38 h`."""
    unit, size = _duration_unit(value.mid)
    return f"{_range_digits(value.scaled(1 / size))} {unit}"


def format_money(value: float) -> str:
    """US dollars: cents below 100, whole above."""
    return f"${value:,.2f}" if abs(value) < 100 else f"${value:,.0f}"


def format_money_range(value: Range) -> str:
    """A range of US dollars: `$74–91`; an exact amount as `format_money` writes it."""
    return format_money(value.mid) if value.low == value.high else f"${_range_digits(value)}"


def format_rate(bytes_per_second: float) -> str:
    """Bytes a second in decimal units: `12.3 GB/s`."""
    for unit, size in (("TB/s", 10**12), ("GB/s", 10**9), ("MB/s", 10**6), ("kB/s", 10**3)):
        if abs(bytes_per_second) >= size:
            return f"{_three(bytes_per_second / size)} {unit}"
    return f"{bytes_per_second:.0f} B/s"


def format_count(value: float) -> str:
    """A number of things with three significant figures: `7B`, `124M`, `1.25k`."""
    for unit, size in (("T", 10**12), ("B", 10**9), ("M", 10**6), ("k", 10**3)):
        if abs(value) >= size:
            return f"{_three(value / size)}{unit}"
    return f"{value:g}"


def _duration_unit(seconds: float) -> tuple[str, float]:
    for unit, size, above in (("d", 86400.0, 72 * 3600), ("h", 3600.0, 5400), ("min", 60.0, 90), ("s", 1.0, 1)):
        if seconds >= above:
            return unit, size
    return ("ms", 1e-3) if seconds >= 1e-3 or seconds == 0 else ("µs", 1e-6)


def _range_digits(value: Range) -> str:
    """Both ends with as many decimals as two figures of the high end have; three where they would look the same."""
    magnitude = math.floor(math.log10(abs(value.high))) if value.high else 0
    for figures in (2, 3):
        decimals = max(0, figures - 1 - magnitude)
        low, high = f"{value.low:,.{decimals}f}", f"{value.high:,.{decimals}f}"
        if low != high:
            return f"{low}–{high}"
    return _three(value.mid)


def _three(value: float) -> str:
    """Three significant figures without an exponent; integers above 100 in full."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
