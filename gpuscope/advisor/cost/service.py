"""What a service costs a day, with as many replicas as the hour needs."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.cost.configuration import Use, use_of
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH
from gpuscope.domain.economics import Economics
from gpuscope.domain.serving import Serving

HOURS_PER_DAY = 24.0


class DailyCost(NamedTuple):
    """US dollars a day, with tax."""

    all_day_usd: float
    """With all replicas all day."""
    usd: float
    """With the replicas that each hour needs; all of them where there is no load curve."""

    @property
    def saved_usd(self) -> float:
        """What switching replicas off saves."""
        return self.all_day_usd - self.usd


def daily_cost(usd_per_hour: float, serving: Serving, economics: Economics) -> DailyCost:
    """Rent of a service for a day.

    Each replica is billed for the hours in which it runs. That holds where every replica has machines of its own.

    Args:
        usd_per_hour: rent of the machines of all replicas, before tax.
        serving: with the replicas, and their hours where a load curve was given.
        economics: for the tax.
    """
    taxed = usd_per_hour * (1 + economics.tax_share)
    return DailyCost(all_day_usd=taxed * HOURS_PER_DAY, usd=taxed * HOURS_PER_DAY * working_share(serving))


def working_share(serving: Serving) -> float:
    """Share of all replicas' hours in which they run: 1 without a load curve."""
    if serving.replica_hours_per_day is None:
        return 1.0
    return min(1.0, serving.replica_hours_per_day / (serving.replicas * HOURS_PER_DAY))


def use_of_service(serving: Serving, economics: Economics) -> Use:
    """Hours in which the machines of a service work: as the person said, else as autoscaling leaves them on."""
    if economics.hours_per_month is not None:
        return use_of(economics, None)
    return Use(hours_per_month=HOURS_PER_MONTH * working_share(serving))
