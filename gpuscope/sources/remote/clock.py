"""Another machine's clock, as seen through messages that went there and back."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

ROUND_TRIPS = 12
"""Of the last so many, the quickest counts: queues only ever make the way longer. At one every five seconds it is at
most a minute old, in which quartz clocks drift by some milliseconds at the very most."""

SETTLED_TRIPS = 5


class RoundTrip(NamedTuple):
    """One message that went there and back."""

    duration_s: float
    offset_s: float
    wall_ahead_s: float


class ClockOffset:
    """What to add to the far monotonic clock, assuming that both ways take equally long (as NTP does, RFC 5905)."""

    def __init__(self) -> None:
        self._trips: deque[RoundTrip] = deque(maxlen=ROUND_TRIPS)

    @property
    def known(self) -> bool:
        """Whether a message has come back yet."""
        return bool(self._trips)

    @property
    def settled(self) -> bool:
        """Whether enough have come back that one of them was probably quick."""
        return len(self._trips) >= SETTLED_TRIPS

    @property
    def offset_s(self) -> float:
        """Seconds to add to the far monotonic clock to have this machine's."""
        return self._best().offset_s

    @property
    def uncertainty_s(self) -> float:
        """The offset cannot be further off: both ways together took twice as long."""
        return self._best().duration_s / 2

    @property
    def wall_ahead_s(self) -> float:
        """How far the far calendar clock is ahead of this machine's; not used, but good to know."""
        return self._best().wall_ahead_s

    def add(self, *, sent_s: float, far_s: float, received_s: float, far_wall_s: float, wall_s: float) -> None:
        """Learn from a round trip.

        Args:
            sent_s: when it was sent, on this machine's monotonic clock.
            far_s: when it was answered, on the far one.
            received_s: when the answer came, on this machine's.
            far_wall_s: the far calendar clock at the answer.
            wall_s: this machine's calendar clock when the answer came.
        """
        duration_s = max(0.0, received_s - sent_s)
        middle_s = received_s - duration_s / 2
        self._trips.append(RoundTrip(duration_s, middle_s - far_s, far_wall_s - (wall_s - duration_s / 2)))

    def _best(self) -> RoundTrip:
        return min(self._trips, key=lambda trip: trip.duration_s)
