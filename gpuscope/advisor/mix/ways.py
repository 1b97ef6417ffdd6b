"""The ways to serve a mix: what is bought for which jobs, what is rented, and what that costs over years."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.cost.configuration import Use
from gpuscope.advisor.cost.ownership import own, price_factor, running_usd
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH, MONTHS_PER_YEAR, settle
from gpuscope.advisor.mix.jobs import MachineKey, MixedJob, machine_key, rent_usd
from gpuscope.advisor.mix.kept import MOST_BUSY, Kept, kept_machines
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics

RENTED, SHARED, SEPARATE, MIXED, KEPT = "rented", "shared", "separate", "mixed", "kept"


_NOTHING = Range.exact(0.0)
_ROUNDING = 1e-9
"""A month of hours is one machine, also where dividing says a little more."""


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

    utilization_last_year: float

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
    kept: tuple[Kept, ...] = ()

    @property
    def options(self) -> dict[int, Option]:
        """Where each job runs, by its index."""
        owned = [*(each.options for each in self.kept), *(each.options for each in self.bought)]
        return {**self.rented, **{index: option for options in owned for index, option in options.items()}}

    @property
    def order(self) -> tuple[int, float, int, str]:
        """Sorts the best first: no doubts, then cheapest over the longest horizon, then fewest machines."""
        options = list(self.options.values())
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
        everyone = tuple(range(len(self._jobs)))
        found = self._ways_for(everyone)
        kept = tuple(kept_machines(self._jobs, self._last_growth))
        if kept:
            stay = {index for each in kept for index in each.options}
            rest = tuple(index for index in everyone if index not in stay)
            others = self._ways_for(rest) if rest else [MixWay(KEPT, (), {}, (_NOTHING,) * len(self.years))]
            found += [way._replace(kind=MIXED if rest else KEPT, kept=kept) for way in others]
        return sorted(found, key=lambda way: way.order)

    @property
    def _last_growth(self) -> float:
        """Runs of the last year over those of the first."""
        return (1 + self._growth) ** (self.years[-1] - 1)

    def _ways_for(self, jobs: tuple[int, ...]) -> list[MixWay]:
        """To rent or buy something for these jobs."""
        found = [way for way in (self._way(RENTED, (), jobs), self._separate(jobs)) if way is not None]
        for key in sorted({key for index in jobs for key in self._jobs[index].bought}):
            found += self._with_machine(key, jobs)
        return found

    def _with_machine(self, key: MachineKey, jobs: tuple[int, ...]) -> Iterator[MixWay]:
        """All jobs that fit on machines of a kind, and only those that are worth it there."""
        fitting = tuple(index for index in jobs if key in self._jobs[index].bought)
        everything = self._shared(key, fitting, jobs)
        if everything is not None:
            yield everything
        fewer = self._pruned(key, fitting, jobs)
        if fewer is not None and (everything is None or fewer.order < everything.order):
            yield fewer

    def _pruned(self, key: MachineKey, members: tuple[int, ...], jobs: tuple[int, ...]) -> MixWay | None:
        """Without the jobs that are cheaper rented, taken away one by one."""
        best = self._shared(key, members, jobs)
        improved = True
        while improved and len(members) > 1:
            improved = False
            for index in members:
                rest = tuple(each for each in members if each != index)
                way = self._shared(key, rest, jobs)
                if way is not None and (best is None or way.order < best.order):
                    best, members, improved = way, rest, True
                    break
        return best

    def _shared(self, key: MachineKey, members: tuple[int, ...], jobs: tuple[int, ...]) -> MixWay | None:
        others = [index for index in jobs if index not in members]
        kind = MIXED if others else SHARED
        return self._way(kind, (self._bought({i: self._jobs[i].bought[key] for i in members}),), others)

    def _separate(self, jobs: tuple[int, ...]) -> MixWay | None:
        """Each job on a machine of its own: the cheapest that it can be bought for."""
        if len(jobs) < 2:
            return None
        machines = []
        for index in jobs:
            own_ways = [self._bought({index: option}) for option in self._jobs[index].bought.values()]
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
        machines = self._machines(options)
        price = None if first.parts.purchase is None else first.parts.purchase.usd
        costs = []
        for years in self.years:
            use = Use(hours_per_month=self._mean_hours(options, years) / machines)
            total = own(price, first.parts.power, use, years, terms).total_usd
            costs.append(None if total is None else total.scaled(machines))
        longest = self.years[-1]
        use = Use(hours_per_month=self._mean_hours(options, longest) / machines)
        running = running_usd(first.parts.power, use, longest, terms)
        rents = [self._cheapest_rent_usd(index, longest) for index in options]
        worth = None
        if running is not None and all(rent is not None for rent in rents):
            rent = sum(rent.mid for rent in rents if rent is not None)
            worth = max(0.0, (rent - machines * running.mid) / price_factor(longest, terms))
        paid = None if price is None else price * machines
        busy_last = self._hours_in_last_year(options) / (HOURS_PER_MONTH * machines)
        return Bought(options, machines, hours, tuple(costs), paid, worth, busy_last)

    def _machines(self, options: dict[int, Option]) -> int:
        """Enough for the last year: services may all be under load at the same time, jobs take the hours between."""
        hours = {index: self._jobs[index].hours(option) for index, option in options.items()}
        services = {index: each for index, each in hours.items() if self._jobs[index].serves}
        jobs_hours = (sum(hours.values()) - sum(services.values())) * self._last_growth
        together = math.ceil((sum(services.values()) + jobs_hours / MOST_BUSY) / HOURS_PER_MONTH - _ROUNDING)
        return max(1, len(services), together)

    def _hours_in_last_year(self, options: dict[int, Option]) -> float:
        growth = {index: 1.0 if self._jobs[index].serves else self._last_growth for index in options}
        return sum(self._jobs[index].hours(option) * growth[index] for index, option in options.items())

    def _mean_hours(self, options: dict[int, Option], years: int) -> float:
        """Hours a month of all machines, in the mean over the years."""
        return sum(self._jobs[i].hours(option) * self._mean_growth(i, years) for i, option in options.items())

    def _cheapest_rent_usd(self, index: int, years: int) -> Range | None:
        rents = self._jobs[index].rents
        return self._rent_usd(index, rents[0], years) if rents else None

    def _rent_usd(self, index: int, option: Option, years: int) -> Range | None:
        each = rent_usd(option)
        runs = self._jobs[index].runs_per_month * MONTHS_PER_YEAR * years * self._mean_growth(index, years)
        return None if each is None else each.scaled(runs)

    def _mean_growth(self, index: int, years: int) -> float:
        """Mean over the years of the runs relative to the first year; a service's hours of load stay."""
        if self._jobs[index].serves:
            return 1.0
        return sum((1 + self._growth) ** year for year in range(years)) / years


def _cost(each: Bought) -> float:
    cost = each.costs[-1]
    return math.inf if cost is None else cost.mid


def _sum(parts: Sequence[Range | None]) -> Range | None:
    known = [part for part in parts if part is not None]
    return None if len(known) < len(parts) else Range.total(known)
