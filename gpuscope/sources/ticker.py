"""When to read next: deadlines on the monotonic clock, and what was missed."""

from __future__ import annotations


class Ticker:
    """Absolute deadlines at a fixed distance; a missed one is skipped and counted, never made up.

    Attributes:
        missed: deadlines skipped so far.
        next_s: monotonic time of the next deadline.
    """

    def __init__(self, interval_s: float, start_s: float) -> None:
        self.interval_s = interval_s
        self.next_s = start_s
        self.missed = 0

    def due(self, now_s: float) -> bool:
        """True once for every deadline that has been reached; goes on to the first deadline in the future."""
        if now_s < self.next_s:
            return False
        skipped = int((now_s - self.next_s) / self.interval_s)
        self.missed += skipped
        self.next_s += (skipped + 1) * self.interval_s
        return True

    def change(self, interval_s: float, now_s: float) -> None:
        """Tick at another distance, from now on."""
        self.interval_s = interval_s
        self.next_s = min(self.next_s, now_s + interval_s)


class BackOff:
    """Waiting time between attempts: doubles from 1 s to 30 s, starts again after a success."""

    FIRST_S = 1.0
    LAST_S = 30.0

    def __init__(self) -> None:
        self._wait_s = self.FIRST_S

    def next_s(self) -> float:
        """How long to wait after the failure that has just happened."""
        wait_s, self._wait_s = self._wait_s, min(self.LAST_S, self._wait_s * 2)
        return wait_s

    def reset(self) -> None:
        """The last attempt worked."""
        self._wait_s = self.FIRST_S
