"""Money over years: what the person pays for what, and what a configuration costs to own or to rent."""

from __future__ import annotations

from gpuscope.domain.base import Range, Value


class Quote(Value, frozen=True, kw_only=True):
    """A price that the person was offered; it goes before the catalogue's."""

    gpu: str
    """Catalogue id."""
    count: int = 1
    """GPUs that the price is for."""
    kind: str = "buy"
    """buy, rent, spot or reserved"""
    price: float
    """In `currency`: of the purchase, or an hour."""
    currency: str = "USD"
    date: str | None = None
    """ISO date."""
    valid_until: str | None = None
    vendor: str = ""
    region: str = ""
    includes_machine: bool = True
    """A purchase price of the whole machine, not of the bare GPUs."""
    note: str = ""


class Economics(Value, frozen=True, kw_only=True):
    """What money costs the person. The defaults are assumptions and are shown as such."""

    currency: str = "USD"
    """ISO 4217 code that amounts are shown in; the documents stay in US dollars."""
    currency_per_usd: float | None = None
    """Needed when `currency` is not USD."""
    tax_share: float = 0.0
    """Added to every price: 0.1 is 10%."""
    electricity_usd_per_kwh: float | None = None
    power_usage_effectiveness: float | None = None
    hosting_usd_per_kw_month: float | None = None
    support_share_per_year: float | None = None
    """Of the purchase price."""
    staff_usd_per_year: float | None = None
    finance_rate_per_year: float | None = None
    residual_share: float | None = None
    """Of the purchase price, left after the longest horizon."""
    machine_share: float | None = None
    """Price of the machine around bare GPUs, as a share of the GPUs' price."""
    hours_per_month: float | None = None
    """Hours in which the configuration is needed; null: as many as the work takes, or all."""
    years: tuple[int, ...] = (1, 3, 5)
    reserved_discount_share: float | None = None
    """Off the on-demand price for a reservation over the horizon; null: not known, so not offered."""
    use_spot: bool = False
    """Spot prices may be used, with the work that interruptions lose."""
    spot_interruptions_per_day: float | None = None
    spot_restart_s: float | None = None
    """From an interruption until the job computes again."""
    checkpoint_interval_s: float | None = None
    """Half of it is lost at each interruption."""
    quotes: tuple[Quote, ...] = ()


class OwnershipCost(Value, frozen=True, kw_only=True):
    """What owning costs over a horizon, US dollars; null is unknown, 0 is nothing."""

    years: int
    purchase_usd: float | None = None
    energy_usd: Range | None = None
    hosting_usd: float | None = None
    support_usd: float | None = None
    staff_usd: float | None = None
    finance_usd: float | None = None
    tax_usd: float | None = None
    residual_usd: float | None = None
    """What it sells for at the end: taken off the total."""
    total_usd: Range | None = None


class RentalCost(Value, frozen=True, kw_only=True):
    """What renting the same costs over a horizon, US dollars with tax; null is unknown."""

    years: int
    on_demand_usd: float | None = None
    spot_usd: Range | None = None
    reserved_usd: float | None = None
    hours: float


class CostOverYears(Value, frozen=True, kw_only=True):
    """Own against rent for one GPU configuration."""

    own: tuple[OwnershipCost, ...] = ()
    rent: tuple[RentalCost, ...] = ()
    break_even_utilization: float | None = None
    """Share of hours from which owning is cheaper than renting, over the longest horizon; null: never, or unknown."""
    worth_below_usd: float | None = None
    """A purchase at a price below this is cheaper than the cheapest rent for the same work; null: unknown."""
    compared_rent: str = ""
    """The rent that `worth_below_usd` and the break-even compare with, in words."""
