"""Moments as people type them: a date and time, a weekday, `yesterday 14:00`, `2h ago`, `now`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from gpuscope.errors import UsageError

_AGO = re.compile(r"(?:now)?\s*-\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)|(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w) ago")
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def parse_moment(text: str, now: datetime) -> datetime:
    """The moment that a text means.

    Args:
        text: `2026-11-24 14:00` (local time, or with a zone such as `+09:00` or `Z`), `2026-11-24`, `14:00` (today),
            `yesterday 14:00`, `tuesday 14:00` and `last tuesday 14:00` (the latest that has passed), `2h ago`,
            `now-2h`, `now`, or Unix seconds.
        now: the present, with its zone.

    Raises:
        UsageError: it is none of these.
    """
    plain = " ".join(text.strip().lower().split())
    if plain == "now":
        return now
    ago = _AGO.fullmatch(plain)
    try:
        if ago is not None:
            amount, unit = ago.group(1) or ago.group(3), ago.group(2) or ago.group(4)
            return now - timedelta(seconds=float(amount) * _SECONDS[unit])
        if re.fullmatch(r"\d{9,11}(\.\d+)?", plain):
            return datetime.fromtimestamp(float(plain), tz=now.tzinfo)
        by_name = _named_day(plain, now)
        if by_name is not None:
            return by_name
        moment = datetime.fromisoformat(plain.upper())
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{text!r} is no moment: give one like '2026-11-24 14:00', 'yesterday 14:00', 'tuesday 14:00' or '2h ago'."
        ) from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)


def _named_day(plain: str, now: datetime) -> datetime | None:
    """A day by its name with a time of day; None: no name and no bare time."""
    day, _, clock = plain.removeprefix("last ").rpartition(" ") if ":" in plain else (plain, "", "")
    day = day.removeprefix("last ").strip()
    bare_time = not day and _CLOCK.fullmatch(clock) is not None
    if not bare_time and day not in {"today", "yesterday", *_DAYS}:
        return None
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if day == "yesterday":
        midnight -= timedelta(days=1)
    moment = midnight + _time_of_day(clock)
    if day in _DAYS:
        moment -= timedelta(days=(now.weekday() - _DAYS.index(day)) % 7)
        if moment > now:
            moment -= timedelta(days=7)
    return moment


def _time_of_day(clock: str) -> timedelta:
    if not clock:
        return timedelta()
    match = _CLOCK.fullmatch(clock)
    if match is None:
        raise ValueError(clock)
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(clock)
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)
