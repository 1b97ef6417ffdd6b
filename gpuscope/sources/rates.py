"""Rates from counters: what two readings of a growing number say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpuscope.domain.reasons import Reason

CLOCK_SLACK_S = 1.0
"""The driver may have renewed a counter this long before it was read."""
RATE_SLACK = 1.25
"""A rate may exceed the link's limit by so much, from the uncertainty of times, before it counts as impossible."""


class CounterRates:
    """Remembers counters by key and gives their growth a second.

    A counter that is seen for the first time, or that has started again from a lower value (a device was replaced, a
    driver loaded anew), has no rate at this reading.
    """

    def __init__(self) -> None:
        self._last: dict[object, tuple[float, float]] = {}

    def rate(self, key: object, value: float, now_s: float) -> float | Reason:
        """Growth of the counter a second since the last reading, or why there is none."""
        before = self._last.get(key)
        self._last[key] = (now_s, value)
        if before is None or now_s <= before[0] or value < before[1]:
            return Reason.FIRST_READING
        return (value - before[1]) / (now_s - before[0])

    def forget_all_but(self, keys: set[object]) -> None:
        """Drop what no longer exists, so that a long session does not grow."""
        self._last = {key: last for key, last in self._last.items() if key in keys}


class CounterReading(NamedTuple):
    """One reading of a driver's counter."""

    value: int
    driver_us: int
    """The driver's time stamp, microseconds; 0: it gives none."""
    read_s: float
    """Monotonic time at which it was read."""


@dataclass(frozen=True)
class CounterKind:
    """How a counter behaves."""

    modulus: int
    """It runs over at this value."""
    unit_bytes: int = 1
    most_bytes_per_s: float | None = None
    """What the link can carry; None: not known."""


def counter_rate(before: CounterReading | None, now: CounterReading, kind: CounterKind) -> float | Reason:
    """Bytes a second between two readings by the driver's own time stamps, or why that cannot be said.

    A counter that is lower than before has run over or has started again; which of the two shows from the rate that
    follows, where the link's limit is known.
    """
    if before is None:
        return Reason.FIRST_READING
    elapsed_s = _elapsed(before, now)
    if isinstance(elapsed_s, Reason):
        return elapsed_s
    growth = now.value - before.value
    most = None if kind.most_bytes_per_s is None else kind.most_bytes_per_s * RATE_SLACK * elapsed_s / kind.unit_bytes
    if most is not None and most >= kind.modulus:
        return Reason.COUNTER_WRAPPED
    if growth < 0:
        growth += kind.modulus
        if most is None or growth > most:
            return Reason.COUNTER_RESET
    if most is not None and growth > most:
        return Reason.IMPLAUSIBLE
    return growth * kind.unit_bytes / elapsed_s


def _elapsed(before: CounterReading, now: CounterReading) -> float | Reason:
    """Seconds by the driver's clock, checked against ours: its time stamps follow the system's clock, which is set."""
    ours_s = now.read_s - before.read_s
    if not (before.driver_us and now.driver_us):
        return ours_s if ours_s > 0 else Reason.STALE
    if now.driver_us == before.driver_us:
        return Reason.STALE
    drivers_s = (now.driver_us - before.driver_us) / 1e6
    if drivers_s <= 0 or abs(drivers_s - ours_s) > max(CLOCK_SLACK_S, ours_s / 2):
        return Reason.CLOCK_JUMPED
    return drivers_s
