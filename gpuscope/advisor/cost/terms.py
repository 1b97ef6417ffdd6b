"""What money costs the person, settled: what they gave, and for the rest the assumptions of one table."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.errors import UsageError

HOURS_PER_YEAR = 8760.0
MONTHS_PER_YEAR = 12
HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR


class Assumption(NamedTuple):
    """A figure that is used where the person gave none."""

    field: str
    """Of `Economics`."""
    words: str
    """What is assumed, with its value, as a sentence without its full stop."""
    why: str
    """Reason or source."""


ELECTRICITY_USD_PER_KWH = 0.13
POWER_USAGE_EFFECTIVENESS = 1.58
DESK_POWER_USAGE_EFFECTIVENESS = 1.0
HOSTING_USD_PER_KW_MONTH = 150.0
SUPPORT_SHARE_PER_YEAR = 0.05
FINANCE_RATE_PER_YEAR = 0.06
VALUE_KEPT_PER_YEAR = 0.65
MACHINE_SHARE = 0.4
MACHINE_AT_LEAST_USD = 2000.0
SPOT_INTERRUPTIONS_PER_DAY = Range(low=0.01, mid=0.5, high=6.0)
SPOT_RESTART_S = 600.0
CHECKPOINT_INTERVAL_S = 1800.0

ASSUMPTIONS: tuple[Assumption, ...] = (
    Assumption(
        "electricity_usd_per_kwh",
        f"electricity costs ${ELECTRICITY_USD_PER_KWH:.2f} per kWh",
        "about the average commercial price in the United States in 2025 (EIA, Electric Power Monthly, table 5.6.A)",
    ),
    Assumption(
        "power_usage_effectiveness",
        f"a data centre takes {POWER_USAGE_EFFECTIVENESS:g} times the power of its machines, a room with workstations "
        f"{DESK_POWER_USAGE_EFFECTIVENESS:g} times",
        "industry average of 2023 (Uptime Institute, Global Data Center Survey); new large halls reach 1.3 or less",
    ),
    Assumption(
        "hosting_usd_per_kw_month",
        f"a place for data-centre GPUs costs ${HOSTING_USD_PER_KW_MONTH:g} per kW and month, for others nothing",
        "asking rents: $120 to 140 in 2018 (CBRE, North America), $150 to 250 for GPU halls in 2026; power not in it",
    ),
    Assumption(
        "support_share_per_year",
        f"support costs {SUPPORT_SHARE_PER_YEAR:.0%} of the purchase price a year",
        "no published figure; set your contract's",
    ),
    Assumption(
        "staff_usd_per_year",
        "the work of staff is not counted",
        "it depends on who is there already",
    ),
    Assumption(
        "finance_rate_per_year",
        f"money costs {FINANCE_RATE_PER_YEAR:.0%} a year",
        "no published figure; set your bank's, or 0 for money that is there",
    ),
    Assumption(
        "residual_share",
        f"hardware keeps {VALUE_KEPT_PER_YEAR:.0%} of its value each year",
        "resale guides for the H100: 65% after one year, about 30% after three, 10 to 15% after five",
    ),
    Assumption(
        "machine_share",
        f"the machine around bare GPUs costs {MACHINE_SHARE:.0%} of their price, at least ${MACHINE_AT_LEAST_USD:,.0f}",
        "DGX H100: about $270,000, of which $195,000 for the board with 8 GPUs (SemiAnalysis, 2023)",
    ),
    Assumption(
        "spot_interruptions_per_day",
        f"a spot machine is taken away {SPOT_INTERRUPTIONS_PER_DAY.low:g} to {SPOT_INTERRUPTIONS_PER_DAY.high:g} "
        f"times a day, usually {SPOT_INTERRUPTIONS_PER_DAY.mid:g}",
        "AWS showed 5 to 20% of A100 and H100 machines a month in 2025, users report several a day; places and "
        "hours differ",
    ),
    Assumption(
        "spot_restart_s",
        f"a new machine computes again {SPOT_RESTART_S / 60:g} minutes after an interruption",
        "no published figure; data and image have to be loaded",
    ),
    Assumption(
        "checkpoint_interval_s",
        f"a checkpoint is written every {CHECKPOINT_INTERVAL_S / 60:g} minutes",
        "usual advice is 15 to 30 minutes",
    ),
)
"""All defaults with their reasons, in the order of `Economics`."""

_FOR_SPOT = frozenset({"spot_interruptions_per_day", "spot_restart_s", "checkpoint_interval_s"})
"""Fields that only matter where spot prices may be used; the others are about owning."""

# Field → words for a message, smallest and largest value that make sense.
_LIMITS: dict[str, tuple[str, float, float]] = {
    "currency_per_usd": ("The exchange rate", 1e-6, 1e9),
    "tax_share": ("The tax", 0.0, 1.0),
    "electricity_usd_per_kwh": ("The price of electricity per kWh", 0.0, 10.0),
    "power_usage_effectiveness": ("The power usage effectiveness (PUE)", 1.0, 5.0),
    "hosting_usd_per_kw_month": ("The price of hosting per kW and month", 0.0, 10_000.0),
    "support_share_per_year": ("The share for support", 0.0, 1.0),
    "staff_usd_per_year": ("The cost of staff a year", 0.0, 1e9),
    "finance_rate_per_year": ("The interest a year", 0.0, 1.0),
    "residual_share": ("The residual value", 0.0, 1.0),
    "machine_share": ("The machine's share", 0.0, 10.0),
    "hours_per_month": ("The hours of use a month", 0.0, 744.0),
    "reserved_discount_share": ("The discount for a reservation", 0.0, 0.99),
    "spot_interruptions_per_day": ("The number of interruptions a day", 0.0, 1440.0),
    "spot_restart_s": ("The time to start again", 0.0, 7 * 86400.0),
    "checkpoint_interval_s": ("The time between checkpoints", 1.0, 30 * 86400.0),
}
_LONGEST_YEARS = 20


class Terms(NamedTuple):
    """All that the sums need, with nothing left open but staff."""

    years: tuple[int, ...]
    """Ascending."""
    tax_share: float
    electricity_usd_per_kwh: float
    power_usage_effectiveness: float
    hosting_usd_per_kw_month: float
    support_share_per_year: float
    staff_usd_per_year: float | None
    """None: not counted."""
    finance_rate_per_year: float
    value_kept_per_year: float
    """Share of the purchase price that is left, from one year to the next."""
    machine_share: float | None
    """None: `MACHINE_SHARE`, but at least `MACHINE_AT_LEAST_USD` a machine."""
    reserved_discount_share: float | None
    interruptions_per_day: Range
    restart_s: float
    checkpoint_interval_s: float


def check_economics(economics: Economics) -> None:
    """Refuse what cannot be meant.

    Raises:
        UsageError: a value is out of its limits, or a currency lacks its rate; one sentence says which.
    """
    for field, (words, low, high) in _LIMITS.items():
        value = getattr(economics, field)
        if value is not None and not (math.isfinite(value) and low <= value <= high):
            raise UsageError(f"{words} must be from {low:g} to {high:g}, not {value:g}.")
    if not economics.years or any(not 1 <= year <= _LONGEST_YEARS for year in economics.years):
        raise UsageError(f"The years to look ahead must be whole numbers from 1 to {_LONGEST_YEARS}, such as 1,3,5.")
    if economics.currency != "USD" and economics.currency_per_usd is None:
        raise UsageError(
            f"To show amounts in {economics.currency}, say how many {economics.currency} one US dollar costs."
        )


def settle(economics: Economics, gpu: GpuSpec) -> Terms:
    """What the person gave, and the assumptions for the rest.

    Args:
        economics: already checked.
        gpu: decides what a place for the machine costs: data-centre parts stand in a data centre.
    """
    years = tuple(sorted(set(economics.years)))
    usual_pue = POWER_USAGE_EFFECTIVENESS if gpu.is_datacenter else DESK_POWER_USAGE_EFFECTIVENESS
    kept = VALUE_KEPT_PER_YEAR
    if economics.residual_share is not None:
        kept = economics.residual_share ** (1 / years[-1])
    rate = economics.spot_interruptions_per_day
    return Terms(
        years=years,
        tax_share=economics.tax_share,
        electricity_usd_per_kwh=_given(economics.electricity_usd_per_kwh, ELECTRICITY_USD_PER_KWH),
        power_usage_effectiveness=_given(economics.power_usage_effectiveness, usual_pue),
        hosting_usd_per_kw_month=_given(
            economics.hosting_usd_per_kw_month, HOSTING_USD_PER_KW_MONTH if gpu.is_datacenter else 0.0
        ),
        support_share_per_year=_given(economics.support_share_per_year, SUPPORT_SHARE_PER_YEAR),
        staff_usd_per_year=economics.staff_usd_per_year,
        finance_rate_per_year=_given(economics.finance_rate_per_year, FINANCE_RATE_PER_YEAR),
        value_kept_per_year=kept,
        machine_share=economics.machine_share,
        reserved_discount_share=economics.reserved_discount_share,
        interruptions_per_day=SPOT_INTERRUPTIONS_PER_DAY if rate is None else Range.exact(rate),
        restart_s=_given(economics.spot_restart_s, SPOT_RESTART_S),
        checkpoint_interval_s=_given(economics.checkpoint_interval_s, CHECKPOINT_INTERVAL_S),
    )


def assumed(economics: Economics, *, owning: bool = True) -> tuple[str, ...]:
    """Sentences for what was assumed because the person did not give it.

    Args:
        economics: what the person gave.
        owning: whether something is bought; otherwise only what spot prices need.
    """
    wanted = [each for each in ASSUMPTIONS if (economics.use_spot if each.field in _FOR_SPOT else owning)]
    return tuple(
        f"{each.words[:1].upper()}{each.words[1:]} ({each.why})."
        for each in wanted
        if getattr(economics, each.field) is None
    )


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
