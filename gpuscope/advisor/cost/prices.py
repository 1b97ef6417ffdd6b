"""What a configuration costs: rented by the hour, or bought."""

from __future__ import annotations

from datetime import date

from gpuscope.advisor.catalogue.specs import CatalogueOffer, GpuSpec
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Offer

FRESH_DAYS = 30
"""Prices older than this are marked as stale."""
FRESH_SPOT_DAYS = 1
"""Spot prices move daily."""

# Status words of GPUs that cannot be bought new.
_NOT_ON_SALE = {
    "announced": "it is announced, but not on sale yet",
    "cancelled": "it is not generally sold",
    "eol": "it is not sold new any more",
}
_ONLY_RENTED = "(AWS)"


def is_stale(price_date: str | None, today: date, *, spot: bool = False) -> bool:
    """Older than 30 days (a spot price: than one day), or undated."""
    fresh_days = FRESH_SPOT_DAYS if spot else FRESH_DAYS
    return price_date is None or (today - date.fromisoformat(price_date)).days > fresh_days


def hourly_price(offer: CatalogueOffer) -> float | None:
    """US dollars an hour of the whole instance: on demand, else spot; None: no price is known."""
    return offer.on_demand_usd_per_hour or offer.spot_usd_per_hour


def shown_offer(offer: CatalogueOffer, today: date, *, spot: bool = False) -> Offer:
    """An offer as a recommendation shows it, with the age of its price.

    Args:
        offer: of the catalogue, imported or quoted.
        today: for the age.
        spot: whether its spot price is the one that counts; that is stale after a day.
    """
    return Offer(
        provider=offer.provider,
        instance_type=offer.instance_type,
        region=offer.region,
        price_date=offer.price_date,
        source=offer.source,
        source_url=offer.source_url,
        on_demand_usd_per_hour=offer.on_demand_usd_per_hour,
        spot_usd_per_hour=offer.spot_usd_per_hour,
        stale=is_stale(offer.price_date, today, spot=spot or offer.on_demand_usd_per_hour is None),
        status=offer.price_status,
        virtual_cpus=offer.virtual_cpus,
        memory_gib=offer.memory_gib,
    )


def rent_usd(seconds: Range | None, usd_per_hour: float) -> Range | None:
    """Cost of renting for that time; None when the time is not known."""
    return None if seconds is None else seconds.scaled(usd_per_hour / 3600)


def purchase_usd(gpu: GpuSpec, count: int) -> float | None:
    """Launch price of the GPUs, without the machine around them; None: needs a quote. A launch price is not a quote."""
    return None if gpu.launch_price_usd is None else gpu.launch_price_usd * count


def on_sale(gpu: GpuSpec) -> bool:
    """Whether such a GPU can be bought new, as far as the catalogue says."""
    return why_not_on_sale(gpu) is None


def why_not_on_sale(gpu: GpuSpec) -> str | None:
    """A clause that says why such a GPU cannot be bought new; None: it can, as far as the catalogue says."""
    if _ONLY_RENTED in gpu.name:
        return "it is only rented out"
    return next((words for status, words in _NOT_ON_SALE.items() if gpu.status.startswith(status)), None)
