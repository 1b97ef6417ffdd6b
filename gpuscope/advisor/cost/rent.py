"""What a configuration costs to rent by the hour: on demand, on spot with what interruptions lose, and reserved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.cost.configuration import Configuration
from gpuscope.advisor.cost.prices import is_stale
from gpuscope.advisor.cost.purchase import quote_is_stale, quote_words
from gpuscope.advisor.cost.terms import Terms
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.money import to_usd

ON_DEMAND, SPOT, RESERVED = "on demand", "spot", "reserved"
_KIND_OF_QUOTE = {ON_DEMAND: "rent", SPOT: "spot", RESERVED: "reserved"}
_NO_PLACE = {"", "not stated"}
"""Regions of prices that hold wherever the provider is."""
_MOST_LOST = 0.95
"""Share of the hours that interruptions lose at most: beyond it, nobody would go on."""
_SECONDS_PER_DAY = 86400.0


class RentPrice(NamedTuple):
    """A price an hour of a whole configuration, before tax."""

    usd_per_hour: float
    words: str
    """Whose price it is, of when: `on demand from lambda, 2026-09-20`."""
    stale: bool = False
    """Older than 30 days (spot: than one day), undated, or no longer valid."""


class Rents(NamedTuple):
    """The cheapest price of each kind; None: there is none."""

    on_demand: RentPrice | None = None
    spot: RentPrice | None = None
    """While it works; `spot_factor` says how much longer the work takes."""
    reserved: RentPrice | None = None
    """To be paid for all hours, used or not."""


def rents_of(
    what: Configuration, offers: Iterable[CatalogueOffer], terms: Terms, economics: Economics, today: date
) -> Rents:
    """The cheapest prices of a configuration.

    A quote of the person goes before the catalogue's prices of that kind. A reservation has a price only by a quote
    or by the discount that the person names.

    Args:
        what: the configuration.
        offers: allowed ones for `what.count / what.nodes` of its GPUs.
        terms: settled economics.
        economics: with the quotes.
        today: for the age of prices.

    Raises:
        UsageError: a quote is in a currency whose rate is not known.
    """
    known = list(offers)
    on_demand = _quoted(ON_DEMAND, what, economics, today) or _listed(ON_DEMAND, known, what.nodes, today)
    spot = None
    if economics.use_spot:
        spot = _quoted(SPOT, what, economics, today) or _listed(SPOT, known, what.nodes, today)
    reserved = _quoted(RESERVED, what, economics, today)
    discount = terms.reserved_discount_share
    if reserved is None and discount is not None and on_demand is not None:
        words = f"reserved: {discount:.0%} off {on_demand.words}"
        reserved = RentPrice(on_demand.usd_per_hour * (1 - discount), words, on_demand.stale)
    return Rents(on_demand, spot, reserved)


def lost_share(interruptions_per_day: float, terms: Terms) -> float:
    """Share of the paid hours in which spot machines compute nothing that is kept.

    Each interruption loses the work since the last checkpoint, half an interval on average, and the time until the
    job computes again: rate × (interval / 2 + restart).
    """
    lost_s = terms.checkpoint_interval_s / 2 + terms.restart_s
    return min(_MOST_LOST, interruptions_per_day / _SECONDS_PER_DAY * lost_s)


def spot_factor(terms: Terms) -> Range:
    """How many times longer the work takes on spot machines: 1 / (1 − lost share)."""
    rate = terms.interruptions_per_day
    low, mid, high = (1 / (1 - lost_share(each, terms)) for each in (rate.low, rate.mid, rate.high))
    return Range(low=low, mid=mid, high=high)


def _listed(kind: str, offers: Sequence[CatalogueOffer], nodes: int, today: date) -> RentPrice | None:
    """The cheapest of the offers; None: none has a price of that kind."""
    priced = [
        (usd, offer.provider, offer.instance_type, offer.region, offer.price_date or "")
        for offer in offers
        if (usd := offer.on_demand_usd_per_hour if kind == ON_DEMAND else offer.spot_usd_per_hour)
    ]
    if not priced:
        return None
    usd, provider, instance_type, region, day = min(priced)
    place = f" in {region}" if region not in _NO_PLACE else ""
    words = f"{kind} from {provider}, {instance_type}{place}, {day or 'undated'}"
    return RentPrice(usd * nodes, words, is_stale(day or None, today, spot=kind == SPOT))


def _quoted(kind: str, what: Configuration, economics: Economics, today: date) -> RentPrice | None:
    """The cheapest of the person's quotes; None: there is none of that kind for it."""
    wanted = _KIND_OF_QUOTE[kind]
    prices = [
        _from_quote(kind, quote, what, economics, today)
        for quote in economics.quotes
        if quote.kind == wanted and quote.gpu == what.gpu.id and _covers(quote, what)
    ]
    return min(prices, key=lambda price: (price.usd_per_hour, price.words), default=None)


def _covers(quote: Quote, what: Configuration) -> bool:
    """A quote holds for as many GPUs as it names, or for one machine of several."""
    return quote.count in {what.count, what.count // what.nodes}


def _from_quote(kind: str, quote: Quote, what: Configuration, economics: Economics, today: date) -> RentPrice:
    usd = to_usd(quote.price, quote.currency, economics) * (what.count // quote.count)
    return RentPrice(usd, f"{kind}: {quote_words(quote)}", quote_is_stale(quote, today))
