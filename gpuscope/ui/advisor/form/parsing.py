"""Texts of single fields as values; whatever cannot be read raises a sentence that says how to write it."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from PySide6.QtCore import QCoreApplication

from gpuscope.advisor.choice.constraints import MOST_GPUS
from gpuscope.domain.serving import HOURS_OF_A_DAY
from gpuscope.domain.units import GIB, parse_count, parse_duration, parse_money, parse_number
from gpuscope.errors import UsageError

translate = QCoreApplication.translate

_CLOCK = re.compile(r"(?:(?P<day>[a-z]+)\s+)?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_BYTES = re.compile(r"(\d{1,12}(?:\.\d*)?)\s*(gib|gb|g|tib|tb|t|mib|mb|m)?", re.IGNORECASE)
_BYTE_UNITS = {
    "": GIB, "g": GIB, "gib": GIB, "gb": 10**9, "t": 1024 * GIB, "tib": 1024 * GIB, "tb": 10**12,
    "m": GIB / 1024, "mib": GIB / 1024, "mb": 10**6,
}  # fmt: skip
MOST_COUNTS = 64
"""Each number is planned for on each GPU of the catalogue: thousands of them would take minutes."""


def parse_deadline(text: str, now: datetime) -> float:
    """`36h`, `36` (hours), `18:00`, `Fri 18:00`, `tomorrow 9:00`, `2026-12-04 18:00` → seconds from `now`.

    Raises:
        UsageError: it is none of these, or lies in the past.
    """
    text = text.strip().lower()
    if (hours := parse_number(text)) is not None:
        seconds = hours * 3600
    elif (moment := _moment(text, now)) is not None:
        seconds = (moment - now).total_seconds()
    else:
        try:
            seconds = parse_duration(text)
        except UsageError as error:
            sentence = translate(
                "ConstraintTexts", "Write when it has to be done like 36h, Fri 18:00 or 2026-12-04 18:00."
            )
            raise UsageError(sentence) from error
    if seconds <= 0:
        raise UsageError(translate("ConstraintTexts", "That moment has passed."))
    return seconds


def parse_counts(text: str) -> tuple[int, ...]:
    """`1, 2, 4-8` → the numbers of GPUs that are allowed, ascending.

    Raises:
        UsageError: it is no such list, holds a number outside 1 to `MOST_GPUS`, or more than `MOST_COUNTS` of them.
    """
    numbers: set[int] = set()
    for part in text.replace("–", "-").split(","):
        match = re.fullmatch(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?", part)
        if match is None:
            raise UsageError(translate("ConstraintTexts", "Write the numbers of GPUs like 1, 2, 4 or 1-8."))
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if not 1 <= first <= last <= MOST_GPUS:
            sentence = translate("ConstraintTexts", "Numbers of GPUs run from 1 to {0}, the smaller first.")
            raise UsageError(sentence.format(MOST_GPUS))
        numbers.update(range(first, last + 1))
    if len(numbers) > MOST_COUNTS:
        sentence = translate("ConstraintTexts", "These are {0} numbers of GPUs: write up to {1}, like 1, 2, 4, 8, 16.")
        raise UsageError(sentence.format(f"{len(numbers):,}", MOST_COUNTS))
    return tuple(sorted(numbers))


def parse_positive_count(text: str) -> float:
    """`7B`, `12,000` → a number of at least 1.

    Raises:
        UsageError: it is none.
    """
    count = parse_count(text)
    if count < 1:
        raise UsageError(translate("ConstraintTexts", "It must be at least 1."))
    return float(count)


def parse_whole(text: str) -> int:
    """A whole number of at least 1.

    Raises:
        UsageError: it is none.
    """
    return int(parse_positive_count(text))


def parse_positive(text: str) -> float:
    """`0.5`, `12.25` → a number above 0.

    Raises:
        UsageError: it is none.
    """
    value = parse_amount(text)
    if value <= 0:
        raise UsageError(translate("ConstraintTexts", "It must be above 0."))
    return value


def parse_amount(text: str) -> float:
    """A number that may be 0.

    Raises:
        UsageError: it is none.
    """
    value = parse_number(text)
    if value is None:
        raise UsageError(translate("ConstraintTexts", "Write a number like 12, 0.5 or 1,200."))
    return value


def parse_percent(text: str) -> float:
    """`10`, `10%`, `2.5 %` → a share of 1.

    Raises:
        UsageError: it is none, or above 100.
    """
    percent = parse_number(text.strip().removesuffix("%"))
    if percent is None or percent > 100:
        raise UsageError(translate("ConstraintTexts", "Write a percentage from 0 to 100, like 10% or 2.5%."))
    return percent / 100


def parse_memory(text: str) -> int:
    """`80`, `80 GB`, `24GiB` → bytes; a bare number is GiB.

    Raises:
        UsageError: it is none of these.
    """
    match = _BYTES.fullmatch(text.strip())
    if match is None:
        raise UsageError(translate("ConstraintTexts", "Write an amount of memory like 40 GiB or 80 GB."))
    return round(float(match.group(1)) * _BYTE_UNITS[(match.group(2) or "").lower()])


def parse_latency(text: str) -> float:
    """`200 ms`, `0.2 s`, `200` (milliseconds) → seconds.

    Raises:
        UsageError: it is none of these, or 0.
    """
    cleaned = text.strip().lower()
    try:
        milliseconds = parse_number(cleaned)
        seconds = parse_duration(cleaned) if milliseconds is None else milliseconds / 1000
    except UsageError as error:
        raise UsageError(translate("ConstraintTexts", "Write a latency like 200 ms or 1.5 s.")) from error
    if seconds <= 0:
        raise UsageError(translate("ConstraintTexts", "It must be above 0."))
    return seconds


def parse_years(text: str) -> tuple[int, ...]:
    """`1, 3, 5` → whole years, ascending.

    Raises:
        UsageError: it is no such list, or a year is outside 1 to 10.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and 1 <= int(part) <= 10 for part in parts):
        raise UsageError(translate("ConstraintTexts", "Write whole years from 1 to 10, like 1, 3, 5."))
    return tuple(sorted({int(part) for part in parts}))


def parse_load(text: str) -> tuple[float, ...]:
    """24 figures, separated by blanks or commas: the load of each hour from midnight on.

    Raises:
        UsageError: there are not 24, one is no number, or all are 0.
    """
    parts = [part for part in re.split(r"[\s,;]+", text.strip()) if part]
    load = [value for part in parts if (value := parse_number(part)) is not None]
    if not len(load) == len(parts) == HOURS_OF_A_DAY:
        sentence = translate("ConstraintTexts", "Write 24 figures, one for each hour from midnight on; there are {0}.")
        raise UsageError(sentence.format(len(parts)))
    if not any(load):
        raise UsageError(translate("ConstraintTexts", "At least one hour must have a load."))
    return tuple(load)


def parse_currency(text: str) -> str:
    """`jpy` → `JPY`.

    Raises:
        UsageError: it is no code of three letters.
    """
    code = text.strip().upper()
    if not re.fullmatch(r"[A-Z]{3}", code):
        raise UsageError(translate("ConstraintTexts", "Write a currency as its three letters, like EUR or JPY."))
    return code


def parse_date(text: str) -> str:
    """An ISO date.

    Raises:
        UsageError: it is none.
    """
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError as error:
        raise UsageError(translate("ConstraintTexts", "Write a date like 2026-11-30.")) from error


def parse_names(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def parse_price(text: str) -> float:
    """An amount of money above 0, in whatever currency.

    Raises:
        UsageError: it is none.
    """
    price = parse_money(text)
    if price <= 0:
        raise UsageError(translate("ConstraintTexts", "It must be above 0."))
    return price


def _moment(text: str, now: datetime) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _clock_moment(text, now)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)


def _clock_moment(text: str, now: datetime) -> datetime | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    clock = now.replace(hour=int(match["hour"]), minute=int(match["minute"]), second=0, microsecond=0)
    day = match["day"]
    if day is None:
        return clock if clock > now else clock + timedelta(days=1)
    if day in {"today", "tomorrow"}:
        return clock + timedelta(days=int(day == "tomorrow"))
    if day[:3] not in _WEEKDAYS:
        return None
    ahead = (_WEEKDAYS.index(day[:3]) - now.weekday()) % 7
    clock += timedelta(days=ahead)
    return clock if clock > now else clock + timedelta(days=7)
