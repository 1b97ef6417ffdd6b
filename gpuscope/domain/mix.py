"""What to get for several jobs that come again and again (docs/json.md)."""

from __future__ import annotations

from gpuscope.domain.base import Range, Value
from gpuscope.domain.recommendation import Constraints, Offer, Sensitivity

SCHEMA = "gpuscope.mix/1"


class MixJob(Value, frozen=True, kw_only=True):
    """One of the jobs."""

    name: str
    runs_per_month: float
    """In the first year; of a service its hours of load."""
    work: str = ""
    """What one run does, in a sentence."""


class JobOnMachine(Value, frozen=True, kw_only=True):
    """One job on one kind of machine."""

    job: int
    """Index into `jobs`."""
    precision: str | None = None
    hours_per_run: Range | None = None
    hours_per_month: Range | None = None
    """In the first year."""
    usd_per_run: Range | None = None
    """Of a rent; null: the machine is bought."""


class MixMachine(Value, frozen=True, kw_only=True):
    """Machines of one kind, and the jobs that run on them."""

    gpu: str | None
    """Catalogue id; null: CPU only."""
    gpu_name: str | None = None
    cpu: str | None = None
    count: int
    """GPUs of one configuration."""
    nodes: int = 1
    """Machines that one configuration consists of."""
    system: str | None = None
    acquisition: str
    """rent, buy or keep"""
    offer: Offer | None = None
    machines: int | None = None
    """Configurations that are bought, enough for the last year; null: rented by the hour, as many as are needed."""
    jobs: tuple[JobOnMachine, ...]
    utilization: float | None = None
    """Share of all hours in the first year in which bought ones work."""
    utilization_last_year: float | None = None
    purchase_usd: float | None = None
    """Of all of them; null: rented, or needs a quote."""
    worth_below_usd: float | None = None
    """All of them bought at a price below this are cheaper than renting for their jobs; null: unknown."""


class MixCost(Value, frozen=True, kw_only=True):
    """Cost of all machines of an option over some years."""

    years: int
    usd: Range | None = None
    """Null: a price is not known."""


class MixOption(Value, frozen=True, kw_only=True):
    """One way to serve all jobs."""

    kind: str
    """kept (all on machines at hand), rented (each job where it is cheapest), shared (all on machines of one kind),
    separate (each job has its own), or mixed (some on what is kept or bought, the others rented)"""
    machines: tuple[MixMachine, ...]
    costs: tuple[MixCost, ...] = ()
    energy_kwh_per_month: Range | None = None
    """Of the GPUs, in the first year."""
    reason: str = ""
    """One sentence."""


class MixRecommendation(Value, frozen=True, kw_only=True):
    """The document `gpuscope.mix/1`."""

    schema: str = SCHEMA
    sentence: str
    """The decision in a sentence."""
    constraints: Constraints
    jobs: tuple[MixJob, ...]
    growth_per_year: float = 0.0
    """0.2: each year a fifth more runs than the year before."""
    recommended: int | None = None
    """Index into `options`; null: nothing serves all jobs."""
    alternates: tuple[int, ...] = ()
    options: tuple[MixOption, ...] = ()
    """Best first."""
    sensitivity: tuple[Sensitivity, ...] = ()
    assumptions: tuple[str, ...] = ()
