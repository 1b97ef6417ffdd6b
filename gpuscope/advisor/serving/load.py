"""What the load makes of one copy: how many there must be, over the day too, and how busy they are."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.serving.load_curve import STABILISATION_HOURS, START_HOURS, LoadCurve, over_the_day
from gpuscope.advisor.serving.replicas import Demand, demand
from gpuscope.domain.recommendation import Explanation
from gpuscope.domain.serving import ServingTarget


class Load(NamedTuple):
    """Copies of a service and what they are for."""

    replicas: int
    demand: Demand | None
    """None: no load is given; then there are as many copies as there is room for."""
    curve: LoadCurve | None
    """None: no load of the day is given."""
    utilisation: float | None
    missed: str
    """A clause where there is no room for all copies, else empty."""

    @property
    def replica_hours(self) -> float | None:
        """Of a day; None: no load of the day is given."""
        return None if self.curve is None else self.curve.replica_hours

    @property
    def by_hour(self) -> tuple[int, ...]:
        """Copies in each hour; () where no load of the day is given."""
        return () if self.curve is None else self.curve.replicas_by_hour

    @property
    def saving_share(self) -> float | None:
        """By switching copies on and off; None: no load of the day is given."""
        return None if self.curve is None else self.curve.saving_share


def load_of(target: ServingTarget, batch: float, latency_s: float, here: int | None) -> Load:
    """The load on copies that each take `batch` requests, of `latency_s` each.

    Args:
        target: with the load, or without: then there is a copy wherever there is room.
        batch: requests of a copy.
        latency_s: of a request in a full batch.
        here: copies that there is room for; None: as many as the load needs.
    """
    wanted = demand(target, batch, latency_s)
    if wanted is None:
        return Load(here or 1, None, None, None, "")

    def replicas_at(load_share: float) -> int:
        part = demand(target, batch, latency_s, load_share)
        return 1 if part is None else part.replicas

    missed = ""
    if here is not None and wanted.replicas > here:
        missed = f"the load needs {wanted.replicas} copies and there is room for {here}: {wanted.how}"
    curve = over_the_day(target.hourly_load, replicas_at)
    utilisation = min(1.0, wanted.slots / (wanted.replicas * batch))
    return Load(wanted.replicas, wanted, curve, utilisation, missed)


def load_trees(load: Load) -> tuple[Explanation, ...]:
    """The copies and their hours unfolded."""
    trees = []
    if load.demand is not None:
        trees.append(
            Explanation(
                name="Copies",
                value=str(load.replicas),
                formula=load.demand.how,
                provenance="derived: Little's law and the square-root rule of staffing",
            )
        )
    if load.curve is not None:
        hours = " ".join(str(count) for count in load.curve.replicas_by_hour)
        trees.append(
            Explanation(
                name="Copy-hours a day",
                value=f"{load.curve.replica_hours:.3g}, {load.curve.saving_share:.0%} less than all of them all day",
                formula=f"Σ copies of each hour + {START_HOURS * 60:g} min for each one started + "
                f"{STABILISATION_HOURS * 60:g} min for each one stopped",
                provenance=f"derived: {hours} copies, hour by hour",
            )
        )
    return tuple(trees)
