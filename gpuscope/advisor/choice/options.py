"""One configuration with the figures that it is compared by, the constraints that it breaks and what is doubtful."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.choice.explain import Parts
from gpuscope.domain.recommendation import Candidate


class Breach(NamedTuple):
    """A constraint that a configuration breaks."""

    code: str
    sentence: str
    excess: float
    """Needed over allowed: by how much the constraint would have to give."""
    relax: str
    """What to change, to how much."""


class Figures(NamedTuple):
    """What ranking and limits look at; None is unknown."""

    acquisition: str
    seconds: float | None
    """For the work, or for the compared number of steps."""
    seconds_high: float | None
    total_known: bool
    """Whether `seconds` is the whole work."""
    once_usd: float | None
    """Paid whatever is done: a purchase; 0 for a rent."""
    hourly_usd: float | None
    """Paid while it is used."""
    throughput: float | None
    throughput_low: float | None
    power_w: float | None
    """Board power of all GPUs."""
    machine_w: tuple[float, float] | None
    """Power of one machine: its GPUs alone, and all in."""
    energy_kwh: float | None
    doubts: int
    """Other doubts than those about limits: whether it fits."""

    @property
    def usd(self) -> float | None:
        """Cost of the work; a purchase counts in full."""
        running = self.running_usd
        return None if self.once_usd is None or running is None else self.once_usd + running

    @property
    def running_usd(self) -> float | None:
        """Part of the cost that grows with the time."""
        if self.hourly_usd == 0:
            return 0.0
        if self.hourly_usd is None or self.seconds is None:
            return None
        return self.hourly_usd * self.seconds / 3600

    @property
    def usd_high(self) -> float | None:
        """The cost if it takes as long as it may."""
        if self.hourly_usd == 0 or self.seconds_high is None or self.once_usd is None or self.hourly_usd is None:
            return self.usd
        return self.once_usd + self.hourly_usd * self.seconds_high / 3600


class Option(NamedTuple):
    """A candidate with what ranking and rejecting need to know."""

    candidate: Candidate
    figures: Figures
    breaches: tuple[Breach, ...]
    risks: tuple[str, ...]
    """Each a clause: "may not fit", ..."""
    parts: Parts
    """What its explanation is made of."""

    @property
    def hardware(self) -> tuple[str | None, int]:
        """The same for candidates that differ only in price, precision or links."""
        return self.candidate.gpu or self.candidate.cpu, self.candidate.count
