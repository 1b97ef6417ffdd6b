"""What is bought or rented, and how much it is used."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec, SystemSpec
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH, HOURS_PER_YEAR, MONTHS_PER_YEAR
from gpuscope.domain.base import Value
from gpuscope.domain.economics import Economics


class Configuration(Value, frozen=True, kw_only=True):
    """GPUs in machines."""

    gpu: GpuSpec
    count: int
    """GPUs in all."""
    nodes: int = 1
    """Machines that they are in, each with the same number."""
    system: SystemSpec | None = None
    """Machine of the catalogue that holds `count / nodes` of them; None: a usual one."""

    @property
    def words(self) -> str:
        """`8× H100 SXM5 80GB`, with the machines where there are several."""
        text = f"{self.count}× {self.gpu.name}"
        return text if self.nodes == 1 else f"{text} in {self.nodes} machines"


class Use(NamedTuple):
    """Hours in which a configuration works."""

    hours_per_month: float | None = None
    """Every month; None: `hours_once`, or all hours."""
    hours_once: float | None = None
    """For one piece of work, after which nothing more is needed."""

    def hours(self, years: float) -> float:
        """Hours of work within that many years, at most all."""
        whole = HOURS_PER_YEAR * years
        if self.hours_per_month is not None:
            return min(whole, self.hours_per_month * MONTHS_PER_YEAR * years)
        return whole if self.hours_once is None else min(whole, self.hours_once)

    @property
    def words(self) -> str:
        """What was assumed about the use, as a sentence."""
        if self.hours_per_month is not None:
            return f"It works {self.hours_per_month:,.0f} of {HOURS_PER_MONTH:,.0f} hours a month."
        if self.hours_once is not None:
            return f"It works for {self.hours_once:,.3g} hours in all, for this work only: give the hours a month."
        return "It works all hours."


def use_of(economics: Economics, work_hours: float | None) -> Use:
    """The hours that the person gave, else those that the work takes, else all.

    Args:
        economics: what the person gave.
        work_hours: predicted for the whole work on this configuration; None: not known or without end.
    """
    if economics.hours_per_month is not None:
        return Use(hours_per_month=economics.hours_per_month)
    return Use(hours_once=work_hours)
