"""What a person typed into the Advisor panel's form, and the constraints it means."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from PySide6.QtCore import QCoreApplication

from gpuscope.domain.base import Value
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.units import parse_count, parse_duration, parse_money, parse_power
from gpuscope.errors import UsageError

T = TypeVar("T")

translate = QCoreApplication.translate

STEPS, SAMPLES, EPOCHS = "steps", "samples", "epochs"
_CLOCK = re.compile(r"(?:(?P<day>[a-z]+)\s+)?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_BARE_NUMBER = re.compile(r"\d+(\.\d*)?")


class ConstraintTexts(Value, frozen=True, kw_only=True):
    """The form's fields; empty means no limit, or "as in the run"."""

    stage: str = ""
    deadline: str = ""
    total: str = ""
    total_unit: str = STEPS
    samples_per_epoch: str = ""
    budget: str = ""
    budget_per_hour: str = ""
    acquisition: str = ""
    regions: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    counts: str = ""
    power_limit: str = ""
    precision: str = ""


def understood(texts: ConstraintTexts, now: datetime) -> tuple[Constraints | None, dict[str, str]]:
    """The constraints, or None with a sentence for each field that could not be read, by field name.

    Args:
        texts: what was typed.
        now: the present moment with its zone; deadlines such as `Fri 18:00` are counted from it.
    """
    found: dict[str, str] = {}
    total = _read(found, "total", texts.total, _positive_count)
    per_epoch = None
    if texts.total_unit == EPOCHS and total is not None:
        per_epoch = _read(found, "samples_per_epoch", texts.samples_per_epoch, _positive_count)
        if not texts.samples_per_epoch.strip():
            found["samples_per_epoch"] = translate("ConstraintTexts", "How many samples are one epoch?")
    constraints = Constraints(
        stage=texts.stage or None,
        deadline_s=_read(found, "deadline", texts.deadline, lambda text: parse_deadline(text, now)),
        total_steps=total if texts.total_unit == STEPS else None,
        total_samples=total if texts.total_unit == SAMPLES else None,
        total_epochs=total if texts.total_unit == EPOCHS else None,
        samples_per_epoch=per_epoch,
        budget_usd=_read(found, "budget", texts.budget, parse_money),
        budget_usd_per_hour=_read(found, "budget_per_hour", texts.budget_per_hour, parse_money),
        acquisition=texts.acquisition or None,
        regions=texts.regions,
        providers=texts.providers,
        vendors=texts.vendors,
        gpus=texts.gpus,
        counts=_read(found, "counts", texts.counts, parse_counts) or (),
        power_limit_w=_read(found, "power_limit", texts.power_limit, parse_power),
        precision=texts.precision or None,
    )
    return (None, found) if found else (constraints, found)


def parse_deadline(text: str, now: datetime) -> float:
    """`36h`, `36` (hours), `18:00`, `Fri 18:00`, `tomorrow 9:00`, `2026-12-04 18:00` → seconds from `now`.

    Raises:
        UsageError: it is none of these, or lies in the past.
    """
    text = text.strip().lower()
    if _BARE_NUMBER.fullmatch(text):
        seconds = float(text) * 3600
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
        UsageError: it is no such list, or holds a number outside 1 to 1024.
    """
    numbers: set[int] = set()
    for part in text.replace("–", "-").split(","):
        match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
        if match is None:
            raise UsageError(translate("ConstraintTexts", "Write the numbers of GPUs like 1, 2, 4 or 1-8."))
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if not 1 <= first <= last <= 1024:
            raise UsageError(translate("ConstraintTexts", "Numbers of GPUs run from 1 to 1024, the smaller first."))
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


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


def _positive_count(text: str) -> float:
    count = parse_count(text)
    if count < 1:
        raise UsageError(translate("ConstraintTexts", "It must be at least 1."))
    return float(count)


def _read(found: dict[str, str], field: str, text: str, parse: Callable[[str], T]) -> T | None:
    if not text.strip():
        return None
    try:
        return parse(text)
    except UsageError as error:
        found[field] = str(error)
        return None
