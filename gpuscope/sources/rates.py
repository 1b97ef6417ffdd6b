"""Rates from counters: what two readings of a growing number say."""

from __future__ import annotations

from gpuscope.domain.reasons import Reason


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
