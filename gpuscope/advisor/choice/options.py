"""One configuration with the figures that it is compared by, the constraints that it breaks and what is doubtful."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.choice.constraints import BUY
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
    gpus: int
    seconds: float | None
    """For the work, or for the compared number of steps."""
    seconds_high: float | None
    total_known: bool
    """Whether `seconds` is the whole work."""
    serves: bool
    """It answers requests; `seconds` is then what one takes."""
    once_usd: float | None
    """Paid whatever is done: a purchase, or owning over years; 0 for a rent."""
    hourly_usd: float | None
    """Paid while it is used."""
    hours: float | None
    """Of use over years; None: as many as the work takes."""
    purchase_usd: float | None
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
    def lasting(self) -> bool:
        """Costs are of hours over years, whatever is done in them, not of one piece of work."""
        return self.hours is not None

    @property
    def usd(self) -> float | None:
        """Cost of the work, where a purchase counts in full; or over years."""
        return self._usd(self.seconds)

    @property
    def price_usd(self) -> float | None:
        """What a budget has to cover: the purchase, or renting for the work."""
        return self.purchase_usd if self.acquisition == BUY else self._rent(self.seconds)

    @property
    def price_usd_high(self) -> float | None:
        """The same if it takes as long as it may."""
        return self.purchase_usd if self.acquisition == BUY else self._rent(self.seconds_high)

    def _usd(self, seconds: float | None) -> float | None:
        if self.once_usd is None or self.hourly_usd is None:
            return None
        if self.hourly_usd == 0:
            return self.once_usd
        if self.hours is not None:
            return self.once_usd + self.hourly_usd * self.hours
        return None if seconds is None else self.once_usd + self.hourly_usd * seconds / 3600

    def _rent(self, seconds: float | None) -> float | None:
        return None if seconds is None or self.hourly_usd is None else self.hourly_usd * seconds / 3600


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


def closeness(option: Option) -> tuple[int, float, str]:
    """Sorts those first that break the fewest limits, and those by least; the option breaks one."""
    return len(option.breaches), max(breach.excess for breach in option.breaches), option.candidate.acquisition
