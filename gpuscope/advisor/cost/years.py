"""Own or rent: both over the years that the person looks ahead, where they cross, and what a purchase may cost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.cost.configuration import Configuration, Use
from gpuscope.advisor.cost.machine import MachinePower
from gpuscope.advisor.cost.ownership import own, price_factor, running_usd
from gpuscope.advisor.cost.purchase import Purchase, purchase_of
from gpuscope.advisor.cost.rent import RentPrice, Rents, rents_of, spot_factor
from gpuscope.advisor.cost.terms import HOURS_PER_YEAR, Terms, settle
from gpuscope.domain.base import Range
from gpuscope.domain.economics import CostOverYears, Economics, RentalCost


class CheapestRent(NamedTuple):
    """The rent that owning is compared with, as it depends on the hours of use, with tax."""

    usd_per_hour: float
    """Of a useful hour."""
    flat_usd: float | None
    """Of a reservation over the longest horizon, whatever the use; None: none."""
    words: str
    flat_words: str

    def usd(self, hours: float) -> float:
        """For that many useful hours."""
        by_hour = self.usd_per_hour * hours
        return by_hour if self.flat_usd is None else min(by_hour, self.flat_usd)

    def words_at(self, hours: float) -> str:
        """Which of the two it is at that many hours."""
        if self.flat_usd is not None and self.flat_usd < self.usd_per_hour * hours:
            return self.flat_words
        return self.words


class OwnOrRent(NamedTuple):
    """The costs of one configuration with what they were computed from."""

    what: Configuration
    use: Use
    economics: Economics
    terms: Terms
    """Of `economics`, with the assumptions for what it leaves open."""
    purchase: Purchase
    power: MachinePower | None
    rents: Rents
    compared: CheapestRent | None
    costs: CostOverYears


def own_or_rent(
    what: Configuration,
    offers: Iterable[CatalogueOffer],
    power: MachinePower | None,
    use: Use,
    economics: Economics,
    today: date,
    rival: RentPrice | None = None,
) -> OwnOrRent:
    """Both ways of having a configuration, over each of `economics.years`. Prices are taken to stay as they are.

    Args:
        what: the configuration.
        offers: allowed ones for as many of its GPUs as one machine holds.
        power: of its machines; None: not known, then owning has no total.
        use: how much it works.
        economics: checked; quotes and all that the person gave.
        today: for the age of prices.
        rival: what renting another configuration costs for an hour of this one's work; a purchase has to be cheaper
            than that, too.

    Raises:
        UsageError: a quote is in a currency whose rate is not known.
    """
    terms = settle(economics, what.gpu)
    purchase = purchase_of(what, terms, economics, today)
    rents = rents_of(what, offers, terms, economics, today)
    longest = terms.years[-1]
    compared = _cheapest(rents, rival, terms, longest)
    costs = CostOverYears(
        own=tuple(own(purchase.usd, power, use, years, terms) for years in terms.years),
        rent=tuple(_rental(rents, use, years, terms) for years in terms.years) if any(rents) else (),
        break_even_utilization=_break_even(purchase, power, compared, longest, terms),
        worth_below_usd=_worth_below(power, use, compared, longest, terms),
        compared_rent="" if compared is None else compared.words_at(use.hours(longest)),
    )
    return OwnOrRent(what, use, economics, terms, purchase, power, rents, compared, costs)


def _rental(rents: Rents, use: Use, years: int, terms: Terms) -> RentalCost:
    hours, taxed = use.hours(years), 1 + terms.tax_share
    spot: Range | None = None
    if rents.spot is not None:
        spot = spot_factor(terms).scaled(rents.spot.usd_per_hour * hours * taxed)
    return RentalCost(
        years=years,
        on_demand_usd=None if rents.on_demand is None else rents.on_demand.usd_per_hour * hours * taxed,
        spot_usd=spot,
        reserved_usd=None if rents.reserved is None else rents.reserved.usd_per_hour * HOURS_PER_YEAR * years * taxed,
        hours=hours,
    )


def _cheapest(rents: Rents, rival: RentPrice | None, terms: Terms, years: int) -> CheapestRent | None:
    """What a purchase competes with; None: nothing has a rent."""
    taxed = 1 + terms.tax_share
    hourly = [(price.usd_per_hour * taxed, price.words) for price in (rents.on_demand, rival) if price is not None]
    if rents.spot is not None:
        hourly.append((rents.spot.usd_per_hour * spot_factor(terms).mid * taxed, rents.spot.words))
    flat = None if rents.reserved is None else rents.reserved.usd_per_hour * HOURS_PER_YEAR * years * taxed
    flat_words = "" if rents.reserved is None else rents.reserved.words
    if not hourly and flat is None:
        return None
    usd_per_hour, words = min(hourly, default=(float("inf"), ""))
    return CheapestRent(usd_per_hour, flat, words, flat_words)


def _break_even(
    purchase: Purchase, power: MachinePower | None, rent: CheapestRent | None, years: int, terms: Terms
) -> float | None:
    """Share of all hours from which owning is the cheaper one; None: never, or something is not known.

    Owning costs a fixed part and something for each hour, renting only something for each hour (or a fixed part that is
    reached later, for a reservation): they cross once at most.
    """
    if purchase.usd is None or power is None or rent is None:
        return None
    whole = HOURS_PER_YEAR * years
    price = purchase.usd * price_factor(years, terms)

    def owned(hours: float) -> float:
        running = running_usd(power, Use(hours_once=hours), years, terms)
        return price + (running.mid if running is not None else 0.0)

    fixed, full = owned(0.0), owned(whole)
    if fixed <= 0:
        return 0.0
    saved_per_hour = rent.usd_per_hour - (full - fixed) / whole
    if saved_per_hour <= 0:
        return None
    hours = 0.0 if saved_per_hour == float("inf") else fixed / saved_per_hour
    if rent.flat_usd is not None and rent.flat_usd < owned(hours):
        return None
    return hours / whole if hours <= whole else None


def _worth_below(
    power: MachinePower | None, use: Use, rent: CheapestRent | None, years: int, terms: Terms
) -> float | None:
    """The purchase price at which owning costs as much as the cheapest rent for the same hours; 0: at no price."""
    running = running_usd(power, use, years, terms)
    factor = price_factor(years, terms)
    if running is None or rent is None or factor <= 0:
        return None
    return max(0.0, (rent.usd(use.hours(years)) - running.mid) / factor)
