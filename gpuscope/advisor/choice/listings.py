"""Prices by the hour: of the catalogue's offers and of the person's own quotes, one for each kind of price."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import CatalogueOffer
from gpuscope.advisor.cost.purchase import quote_words
from gpuscope.advisor.cost.rent import ON_DEMAND, SPOT
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.money import to_usd

QUOTED = "quote"
"""Status of a price that the person was offered."""
_KIND_OF_QUOTE = {"rent": ON_DEMAND, "spot": SPOT}


class Listing(NamedTuple):
    """One price of an instance."""

    offer: CatalogueOffer
    kind: str
    """on demand or spot"""
    usd_per_hour: float
    """Of one instance, before tax."""


def listings(catalogue: Catalogue, economics: Economics) -> list[Listing]:
    """All prices. A quote goes before the catalogue's prices of the same kind for as many of that GPU.

    Raises:
        UsageError: a quote is in a currency whose rate is not known.
    """
    quoted = [found for quote in economics.quotes if (found := _of_quote(quote, economics)) is not None]
    taken = {_key(listing) for listing in quoted}
    listed = [found for offer in catalogue.offers for found in _of_offer(offer, economics.use_spot)]
    return [*quoted, *(listing for listing in listed if _key(listing) not in taken)]


def _of_offer(offer: CatalogueOffer, use_spot: bool) -> Iterator[Listing]:
    if offer.on_demand_usd_per_hour:
        yield Listing(offer, ON_DEMAND, offer.on_demand_usd_per_hour)
    if offer.spot_usd_per_hour and use_spot:
        yield Listing(offer, SPOT, offer.spot_usd_per_hour)


def _of_quote(quote: Quote, economics: Economics) -> Listing | None:
    kind = _KIND_OF_QUOTE.get(quote.kind)
    if kind is None:
        return None
    usd = to_usd(quote.price, quote.currency, economics)
    offer = CatalogueOffer(
        provider=quote.vendor or "your quote",
        kind="vm",
        instance_type=f"{quote.count} × {quote.gpu}",
        gpu_id=quote.gpu,
        gpu_count=quote.count,
        region=quote.region,
        on_demand_usd_per_hour=usd if kind == ON_DEMAND else None,
        spot_usd_per_hour=usd if kind == SPOT else None,
        price_date=quote.date,
        price_status=QUOTED,
        source=quote_words(quote),
        notes=quote.note,
    )
    return Listing(offer, kind, usd)


def _key(listing: Listing) -> tuple[str | None, float, str]:
    return listing.offer.gpu_id, listing.offer.gpu_count, listing.kind
