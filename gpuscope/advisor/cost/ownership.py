"""What owning costs over some years, part by part."""

from __future__ import annotations

from gpuscope.advisor.cost.configuration import Use
from gpuscope.advisor.cost.machine import MachinePower
from gpuscope.advisor.cost.terms import HOURS_PER_YEAR, MONTHS_PER_YEAR, Terms
from gpuscope.domain.base import Range
from gpuscope.domain.economics import OwnershipCost

_NO_INTEREST = 1e-9
"""Rates below it cannot be told from none, and the formula would divide nearly nothing by nearly nothing."""


def energy_usd(power: MachinePower, hours: float, years: int, terms: Terms) -> Range:
    """Price of the electricity: (load × hours of work + idle × the other hours) × PUE × tariff."""
    waiting = max(0.0, HOURS_PER_YEAR * years - hours)
    usd_per_w_hour = terms.power_usage_effectiveness * terms.electricity_usd_per_kwh / 1000
    return power.load_w.scaled(hours).plus(power.idle_w.scaled(waiting)).scaled(usd_per_w_hour)


def hosting_usd(power: MachinePower, years: int, terms: Terms) -> float:
    """Rent of the place: kW that it has to deliver × price a month × months."""
    return power.provisioned_w / 1000 * terms.hosting_usd_per_kw_month * MONTHS_PER_YEAR * years


def interest_share(years: int, rate_per_year: float) -> float:
    """Interest on a loan as a share of it, paid back in equal monthly parts over the years (an annuity).

    With i = rate / 12 and n = 12 × years, each part is loan × i / (1 − (1 + i)^−n), and the interest is the sum of
    the parts less the loan.
    """
    monthly = rate_per_year / MONTHS_PER_YEAR
    months = MONTHS_PER_YEAR * years
    if monthly < _NO_INTEREST:
        return 0.0
    return months * monthly / (1 - (1 + monthly) ** -months) - 1


def kept_share(years: int, terms: Terms) -> float:
    """Share of the purchase price for which it sells at the end."""
    return terms.value_kept_per_year**years


def price_factor(years: int, terms: Terms) -> float:
    """Cost of owning for each dollar of the purchase price: it and support with tax, interest, less what it sells for.

    Interest is paid on the price with tax and bears none itself; a sale at the end is reckoned before tax.
    """
    taxed = 1 + terms.tax_share
    support = terms.support_share_per_year * years
    interest = interest_share(years, terms.finance_rate_per_year)
    return taxed * (1 + support + interest) - kept_share(years, terms)


def own(purchase_usd: float | None, power: MachinePower | None, use: Use, years: int, terms: Terms) -> OwnershipCost:
    """What owning costs over `years`; the total is None where the price or the power is not known."""
    energy = None if power is None else energy_usd(power, use.hours(years), years, terms)
    hosting = None if power is None else hosting_usd(power, years, terms)
    staff = None if terms.staff_usd_per_year is None else terms.staff_usd_per_year * years
    known = OwnershipCost(
        years=years, purchase_usd=purchase_usd, energy_usd=energy, hosting_usd=hosting, staff_usd=staff
    )
    if purchase_usd is None:
        return known
    support = purchase_usd * terms.support_share_per_year * years
    interest = purchase_usd * (1 + terms.tax_share) * interest_share(years, terms.finance_rate_per_year)
    running = running_usd(power, use, years, terms)
    prices = purchase_usd + support + (hosting or 0.0) + (energy.mid if energy is not None else 0.0)
    base = purchase_usd * price_factor(years, terms)
    return OwnershipCost(
        years=years,
        purchase_usd=purchase_usd,
        energy_usd=energy,
        hosting_usd=hosting,
        support_usd=support,
        staff_usd=staff,
        finance_usd=interest,
        tax_usd=prices * terms.tax_share,
        residual_usd=purchase_usd * kept_share(years, terms),
        total_usd=None if running is None else running.plus(Range.exact(base)),
    )


def running_usd(power: MachinePower | None, use: Use, years: int, terms: Terms) -> Range | None:
    """What does not depend on the purchase price: electricity and hosting with tax, staff; None: power not known."""
    if power is None:
        return None
    fixed = hosting_usd(power, years, terms) * (1 + terms.tax_share) + (terms.staff_usd_per_year or 0.0) * years
    energy = energy_usd(power, use.hours(years), years, terms).scaled(1 + terms.tax_share)
    return energy.plus(Range.exact(fixed))
