"""Keeps the monitor from slowing down what it watches: driver calls of all programs wait for one another."""

from __future__ import annotations

from gpuscope.domain.sample import SourceState
from gpuscope.sources.driver import SOURCE
from gpuscope.sources.figures import Tier

INTERVALS_S = {Tier.FAST: 0.0, Tier.MEDIUM: 1.0, Tier.SLOW: 2.0, Tier.PCIE: 0.5}
"""No tier is read more often than this, nor more often than the interval that was asked for. PCIe takes one GPU each
time, two calls of 20 ms: 8% of the time, and only where nothing else gives PCIe rates."""
BUDGET_SHARE = 0.2
"""Share of wall time in driver calls up to which nothing is stretched. Eight GPUs at 10 Hz need about 0.13: PCIe 0.08,
process lists 0.03 at 4 ms each, all else 0.02 at 30 µs a call."""
CHECK_INTERVAL_S = 5.0
STRETCH_ORDER = (Tier.SLOW, Tier.PCIE, Tier.MEDIUM)
"""The slowest first; the fast tier is what the person asked for."""
LARGEST_STRETCH = 8
CONTENTS = {
    Tier.SLOW: "processes, temperatures, fans and error counts",
    Tier.PCIE: "PCIe rates",
    Tier.MEDIUM: "energy, GPM, link rates and encoders",
}


class DriverBudget:
    """Watches the time spent in driver calls and stretches tiers, one step at each check, while it is too much."""

    def __init__(self, now_s: float) -> None:
        self._stretch = dict.fromkeys(Tier, 1)
        self._checked_s = now_s
        self._busy_s = 0.0

    def interval_s(self, tier: Tier, asked_s: float) -> float:
        """Seconds between readings of a tier when the person asked for an interval."""
        return max(asked_s, INTERVALS_S[tier]) * self._stretch[tier]

    def check(self, busy_s: float, now_s: float) -> tuple[Tier, float] | None:
        """The tier that has to be read less often from now on, and the share of time that says so; None mostly.

        Args:
            busy_s: time spent in driver calls so far.
            now_s: monotonic time.
        """
        elapsed_s = now_s - self._checked_s
        if elapsed_s < CHECK_INTERVAL_S:
            return None
        share = (busy_s - self._busy_s) / elapsed_s
        self._checked_s, self._busy_s = now_s, busy_s
        if share <= BUDGET_SHARE:
            return None
        tier = next((tier for tier in STRETCH_ORDER if self._stretch[tier] < LARGEST_STRETCH), None)
        if tier is None:
            return None
        self._stretch[tier] *= 2
        return tier, share


def stretched_state(tier: Tier, share: float, interval_s: float, generation: int) -> SourceState:
    """GPUs are read well, some figures less often than usual."""
    sentence = (
        f"Calls of the NVIDIA driver take {share:.0%} of the time, which may slow down the work itself: "
        f"{CONTENTS[tier]} are now read every {interval_s:g} s."
    )
    return SourceState(source=SOURCE, ok=True, code="stretched", sentence=sentence, generation=generation)
