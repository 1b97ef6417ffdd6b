"""What a configuration costs: by the hour, at once, and over years."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

import msgspec

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.choice.constraints import RENT
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.choice.ways import Way, Ways
from gpuscope.advisor.cost.configuration import Configuration, Use, use_of
from gpuscope.advisor.cost.explanation import ownership_tree
from gpuscope.advisor.cost.machine import MachinePower, machine_power
from gpuscope.advisor.cost.prices import shown_offer
from gpuscope.advisor.cost.purchase import Purchase, purchase_of
from gpuscope.advisor.cost.rent import SPOT, RentPrice, spot_factor
from gpuscope.advisor.cost.service import use_of_service
from gpuscope.advisor.cost.terms import settle
from gpuscope.advisor.cost.years import OwnOrRent, own_or_rent
from gpuscope.domain.base import Range
from gpuscope.domain.economics import CostOverYears, Economics
from gpuscope.domain.recommendation import Candidate, Constraints, Explanation


class Owned(NamedTuple):
    """Owning and renting a configuration over years."""

    costs: CostOverYears
    tree: Explanation


class Money:
    """Prices under one set of constraints, with the person's tax.

    Args:
        limits: checked.
        ways: for the offers that are allowed.
        today: for the age of prices.
        kept: what owning costs, as far as it was computed before under the same terms.
        service: it answers requests for years.
    """

    def __init__(
        self, limits: Constraints, ways: Ways, today: date, kept: dict[object, Owned], *, service: bool
    ) -> None:
        self._limits = limits
        self._economics = economics = limits.economics
        self._service = service
        self._offers_of = (limits.providers, limits.regions, limits.residency, economics)
        self._kept = kept
        self._ways = ways
        self._today = today
        self._taxed = 1 + economics.tax_share

    @property
    def lasting(self) -> bool:
        """Costs are compared over years: of a service, or where the person said how many hours a month it is needed."""
        return self._service or self._economics.hours_per_month is not None

    @property
    def hours(self) -> float | None:
        """Hours of use within the longest horizon; None: what the work takes."""
        longest = max(self._economics.years)
        return use_of(self._economics, None).hours(longest) if self.lasting else None

    def under(self, economics: Economics) -> Money:
        """The same offers under other terms."""
        limits = msgspec.structs.replace(self._limits, economics=economics)
        return Money(limits, self._ways, self._today, {}, service=self._service)

    def slowdown(self, gpu: GpuSpec, way: Way) -> Range:
        """How many times longer the work takes because of interruptions."""
        if way.listing is None or way.listing.kind != SPOT:
            return Range.exact(1.0)
        return spot_factor(settle(self._economics, gpu))

    def priced(self, candidate: Candidate, way: Way, purchase: Purchase | None) -> Candidate:
        """The candidate with what it costs; its time is known already."""
        if purchase is None:
            return self._rented(candidate, way)
        return msgspec.structs.replace(
            candidate,
            system=way.system.name if way.system is not None else None,
            cost_usd=None if purchase.usd is None else Range.exact(purchase.usd * self._taxed),
            price_kind=purchase.kind,
        )

    def purchase(self, gpu: GpuSpec, way: Way) -> Purchase:
        """Price of the machines, before tax."""
        return purchase_of(_configuration(gpu, way), settle(self._economics, gpu), self._economics, self._today)

    def power(self, gpu: GpuSpec | None, way: Way | None, watts: Range | None, how: str) -> MachinePower | None:
        """Power of the whole machines; None: not known."""
        return None if gpu is None or way is None else machine_power(_configuration(gpu, way), watts, how)

    def over_years(self, option: Option, rival: Option | None) -> Owned | None:
        """Owning and renting such GPUs over years; None: there is no GPU, or it is at hand.

        Args:
            option: a configuration.
            rival: the best that rents; a purchase has to be cheaper than that, too.
        """
        gpu, way = option.parts.gpu, option.parts.way
        if gpu is None or way is None:
            return None
        use = self._use(option.candidate)
        against = _for_the_same_work(option, rival)
        system = None if way.system is None else way.system.id
        key = (gpu.id, way.topology.gpus, way.machines, system, use, option.parts.power, against, self._offers_of)
        if key not in self._kept:
            found = self._own_or_rent(gpu, way, option.parts.power, use, against)
            self._kept[key] = Owned(found.costs, ownership_tree(found))
        return self._kept[key]

    def lasting_usd(self, gpu: GpuSpec, way: Way, power: MachinePower | None) -> float | None:
        """Over the longest horizon: owning a purchase, or the reservation of a rent; None: not known, or none."""
        costs = self._own_or_rent(gpu, way, power, use_of(self._economics, None), None).costs
        if way.acquisition == RENT:
            return costs.rent[-1].reserved_usd if costs.rent else None
        total = costs.own[-1].total_usd
        return None if total is None else total.mid

    def _use(self, candidate: Candidate) -> Use:
        """Hours in which its machines work: those of the replicas that are switched on, or of the work."""
        if candidate.serving is not None:
            return use_of_service(candidate.serving, self._economics)
        time_s = candidate.time_to_finish_s
        return use_of(self._economics, None if time_s is None else time_s.mid / 3600)

    def _own_or_rent(
        self, gpu: GpuSpec, way: Way, power: MachinePower | None, use: Use, rival: RentPrice | None
    ) -> OwnOrRent:
        what = _configuration(gpu, way)
        offers = self._ways.offers(gpu.id, what.count // what.nodes)
        return own_or_rent(what, offers, power, use, self._economics, self._today, rival)

    def _rented(self, candidate: Candidate, way: Way) -> Candidate:
        assert way.listing is not None
        assert way.usd_per_hour is not None
        hourly = way.usd_per_hour * self._taxed
        time_s = candidate.time_to_finish_s
        return msgspec.structs.replace(
            candidate,
            offer=shown_offer(way.listing.offer, self._today, spot=way.listing.kind == SPOT),
            cost_usd_per_hour=Range.exact(hourly),
            cost_usd=None if time_s is None else time_s.scaled(hourly / 3600),
            price_kind=way.listing.kind,
        )


def _configuration(gpu: GpuSpec, way: Way) -> Configuration:
    return Configuration(gpu=gpu, count=way.topology.gpus, nodes=way.machines, system=way.system)


def _for_the_same_work(option: Option, rival: Option | None) -> RentPrice | None:
    """What the rival's rent is for the work that this option does in an hour, before tax."""
    if rival is None or rival is option or not rival.figures.seconds or not option.figures.seconds:
        return None
    listing, way = (None, None) if rival.parts.way is None else (rival.parts.way.listing, rival.parts.way)
    if listing is None or way is None or way.usd_per_hour is None:
        return None
    usd = way.usd_per_hour * rival.figures.seconds / option.figures.seconds
    offer = listing.offer
    return RentPrice(usd, f"{listing.kind} from {offer.provider}, {offer.instance_type}, for the same work")
