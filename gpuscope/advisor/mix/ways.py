"""The ways to serve a mix: what is bought for which jobs, what is rented, and what that costs over years."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.cost.configuration import Use
from gpuscope.advisor.cost.ownership import own, price_factor, running_usd
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH, MONTHS_PER_YEAR, settle
from gpuscope.advisor.mix.jobs import MachineKey, MixedJob, machine_key
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics

RENTED, SHARED, SEPARATE, MIXED = "rented", "shared", "separate", "mixed"
MOST_BUSY = 0.85
"""Share of all hours that a bought machine can be busy: jobs of several people wait for each other (assumed)."""


class Bought(NamedTuple):
    """Machines of one kind for some of the jobs."""

    options: dict[int, Option]
    """By index of the job; all are the same hardware."""
    machines: int
    hours_per_month: float
    """Of all machines together, in the first year."""
    costs: tuple[Range | None, ...]
    """For each of the years; None: a price or the power is not known."""
    purchase_usd: float | None
    worth_below_usd: float | None

    @property
    def utilization(self) -> float:
        """In the first year."""
        return self.hours_per_month / (HOURS_PER_MONTH * self.machines)


class MixWay(NamedTuple):
    """One way to serve all jobs."""

    kind: str
    bought: tuple[Bought, ...]
    rented: dict[int, Option]
    costs: tuple[Range | None, ...]
    """For each of the years."""

    @property
    def order(self) -> tuple[int, float, int, str]:
        """Sorts the best first: no doubts, then cheapest over the longest horizon, then fewest machines."""
        options = [*self.rented.values(), *(option for each in self.bought for option in each.options.values())]
        doubts = sum(len(option.risks) for option in options)
        cost = self.costs[-1]
        keys = str(sorted(machine_key(option) for option in options))
        return doubts, math.inf if cost is None else cost.mid, sum(each.machines for each in self.bought), keys


class Mixer:
    """Works out the ways.

    Args:
        jobs: all of them.
        growth_per_year: more runs each year than the year before.
        economics: checked.
        runs_factor: times the runs of all jobs, to see what they decide.
    """

    def __init__(
        self, jobs: Sequence[MixedJob], growth_per_year: float, economics: Economics, runs_factor: float = 1.0
    ) -> None:
        self._jobs = [job._replace(runs_per_month=job.runs_per_month * runs_factor) for job in jobs]
        self._growth = growth_per_year
        self._economics = economics
        self.years = tuple(sorted(set(economics.years)))

    def ways(self) -> list[MixWay]:
        """Every way worth a look, best first; empty: some job cannot be run."""
        everyone = range(len(self._jobs))
        found = [way for way in (self._way(RENTED, (), everyone), self._separate()) if way is not None]
        for key in sorted({key for job in self._jobs for key in job.bought}):
            found += self._with_machine(key)
        return sorted(found, key=lambda way: way.order)

    def _with_machine(self, key: MachineKey) -> Iterator[MixWay]:
        """All jobs that fit on machines of a kind, and only those that are worth it there."""
        fitting = tuple(index for index, job in enumerate(self._jobs) if key in job.bought)
        everything = self._shared(key, fitting)
        if everything is not None:
            yield everything
        fewer = self._pruned(key, fitting)
        if fewer is not None and (everything is None or fewer.order < everything.order):
            yield fewer

    def _pruned(self, key: MachineKey, members: tuple[int, ...]) -> MixWay | None:
        """Without the jobs that are cheaper rented, taken away one by one."""
        best = self._shared(key, members)
        improved = True
        while improved and len(members) > 1:
            improved = False
            for index in members:
                rest = tuple(each for each in members if each != index)
                way = self._shared(key, rest)
                if way is not None and (best is None or way.order < best.order):
                    best, members, improved = way, rest, True
                    break
        return best

    def _shared(self, key: MachineKey, members: tuple[int, ...]) -> MixWay | None:
        others = [index for index in range(len(self._jobs)) if index not in members]
        kind = MIXED if others else SHARED
        return self._way(kind, (self._bought({i: self._jobs[i].bought[key] for i in members}),), others)

    def _separate(self) -> MixWay | None:
        """Each job on a machine of its own: the cheapest that it can be bought for."""
        if len(self._jobs) < 2:
            return None
        machines = []
        for index, job in enumerate(self._jobs):
            own_ways = [self._bought({index: option}) for option in job.bought.values()]
            priced = [each for each in own_ways if each.costs[-1] is not None]
            if not priced:
                return None
            machines.append(min(priced, key=_cost))
        if len({machine_key(next(iter(each.options.values()))) for each in machines}) == 1:
            return None  # the same hardware for all is better shared
        return self._way(SEPARATE, tuple(machines), ())

    def _way(self, kind: str, bought: tuple[Bought, ...], rented: Sequence[int]) -> MixWay | None:
        """None: one of the rented jobs has no offer."""
        chosen: dict[int, Option] = {}
        for index in rented:
            rents = self._jobs[index].rents
            if not rents:
                return None
            chosen[index] = rents[0]
        costs = []
        for position, years in enumerate(self.years):
            parts = [each.costs[position] for each in bought]
            parts += [self._rent_usd(index, option, years) for index, option in chosen.items()]
            costs.append(_sum(parts))
        return MixWay(kind, bought, chosen, tuple(costs))

    def _bought(self, options: dict[int, Option]) -> Bought:
        first = next(iter(options.values()))
        gpu = first.parts.gpu
        assert gpu is not None
        terms = settle(self._economics, gpu)
        hours = sum(self._jobs[index].hours(option) for index, option in options.items())
        last = hours * (1 + self._growth) ** (self.years[-1] - 1)
        machines = max(1, math.ceil(last / (HOURS_PER_MONTH * MOST_BUSY)))
        price = None if first.parts.purchase is None else first.parts.purchase.usd
        costs = []
        for years in self.years:
            use = Use(hours_per_month=hours * self._mean_growth(years) / machines)
            total = own(price, first.parts.power, use, years, terms).total_usd
            costs.append(None if total is None else total.scaled(machines))
        longest = self.years[-1]
        use = Use(hours_per_month=hours * self._mean_growth(longest) / machines)
        running = running_usd(first.parts.power, use, longest, terms)
        rents = [self._cheapest_rent_usd(index, longest) for index in options]
        worth = None
        if running is not None and all(rent is not None for rent in rents):
            rent = sum(rent.mid for rent in rents if rent is not None)
            worth = max(0.0, (rent - machines * running.mid) / price_factor(longest, terms))
        return Bought(options, machines, hours, tuple(costs), None if price is None else price * machines, worth)

    def _cheapest_rent_usd(self, index: int, years: int) -> Range | None:
        rents = self._jobs[index].rents
        return self._rent_usd(index, rents[0], years) if rents else None

    def _rent_usd(self, index: int, option: Option, years: int) -> Range | None:
        each = option.candidate.cost_usd
        runs = self._jobs[index].runs_per_month * MONTHS_PER_YEAR * years * self._mean_growth(years)
        return None if each is None else each.scaled(runs)

    def _mean_growth(self, years: int) -> float:
        """Mean over the years of the runs relative to the first year."""
        return sum((1 + self._growth) ** year for year in range(years)) / years


def _cost(each: Bought) -> float:
    cost = each.costs[-1]
    return math.inf if cost is None else cost.mid


def _sum(parts: Sequence[Range | None]) -> Range | None:
    known = [part for part in parts if part is not None]
    return None if len(known) < len(parts) else Range.total(known)
