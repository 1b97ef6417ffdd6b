"""Time stamps as monitors write them. A stamp without a zone is kept as it is: seconds since 1970 by its own clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[/.-](\d{{1,2}})[/.-](\d{{1,2}})[ T]{_CLOCK}(Z|[+-]\d\d:?\d\d)?")
_DAY_FIRST = re.compile(rf"(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}})[ T]{_CLOCK}")
_MONTH_NAME = re.compile(rf"(?:[A-Z][a-z]{{2}}\s+)?([A-Z][a-z]{{2}})\s+(\d{{1,2}})\s+{_CLOCK}\s+(\d{{4}})")
_SECONDS = re.compile(r"\d{9,10}(?:\.\d+)?")
_MILLISECONDS = re.compile(r"\d{12,13}(?:\.\d+)?")


def parse_time(text: str) -> tuple[float, bool] | None:
    """Seconds since 1970 and whether the zone is known; None when it is no time stamp.

    Forms: `2024/11/23 12:23:29.950`, ISO 8601, `03.01.2026 15:36:53` (day first), `Tue Oct 29 19:00:23 2024`, Unix
    seconds and milliseconds.
    """
    text = text.strip()
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day, *clock, zone = match.groups()
        return _seconds((year, month, day), clock, zone)
    if match := _DAY_FIRST.fullmatch(text):
        day, month, year, *clock = match.groups()
        return _seconds((year, month, day), clock, None)
    if match := _MONTH_NAME.fullmatch(text):
        name, day, *clock, year = match.groups()
        if name.lower() not in _MONTHS:
            return None
        return _seconds((year, str(_MONTHS.index(name.lower()) + 1), day), clock, None)
    if _SECONDS.fullmatch(text):
        return float(text), True
    if _MILLISECONDS.fullmatch(text):
        return float(text) / 1000, True
    return None


def _seconds(date: tuple[str, str, str], clock: list[str], zone: str | None) -> tuple[float, bool] | None:
    hour, minute, second, fraction = clock
    try:
        moment = datetime(int(date[0]), int(date[1]), int(date[2]), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    value = moment.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)
    if zone is None:
        return value, False
    if zone != "Z":
        sign = -1 if zone[0] == "-" else 1
        value -= sign * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)
    return value, True
