"""Published prices: how old they are, what GPUs cost at launch, and which are on sale."""

from __future__ import annotations

from datetime import date

from gpuscope.advisor.catalogue.specs import CatalogueOffer, GpuSpec
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
