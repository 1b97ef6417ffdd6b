"""Own or rent in words: a sentence, and a tree in which each sum unfolds into its parts."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.cost.purchase import LAUNCH_PRICE
from gpuscope.advisor.cost.rent import RentPrice, spot_factor
from gpuscope.advisor.cost.terms import HOURS_PER_YEAR, MONTHS_PER_YEAR
from gpuscope.advisor.cost.years import OwnOrRent
from gpuscope.domain.economics import OwnershipCost, RentalCost
from gpuscope.domain.money import format_amount, format_amount_range
from gpuscope.domain.recommendation import Explanation

_STEADY = "Prices are taken to stay as they are."
_ASSUMED, _GIVEN, _DERIVED, _CATALOGUE = "assumed", "given", "derived", "catalogue"


def sentence(found: OwnOrRent) -> str:
    """Whether to own or to rent over the longest horizon, and from which use on the other is cheaper."""
    costs, years = found.costs, found.terms.years[-1]
    longest = costs.own[-1]
    horizon = _years(years)
    hours = found.use.hours(years)
    if longest.total_usd is None:
        return _without_total(found, horizon)
    owned = format_amount_range(longest.total_usd, found.economics)
    if found.compared is None:
        return f"Owning costs {owned} over {horizon}; nobody is known to rent it out."
    rented = found.compared.usd(hours)
    cheaper = "owning is cheaper" if longest.total_usd.mid < rented else "renting is cheaper"
    text = f"Over {horizon} owning costs {owned}, renting {format_amount(rented, found.economics)}: {cheaper}"
    share = costs.break_even_utilization
    if share is None:
        return f"{text}, whatever the use."
    return f"{text}; owning pays from {share:.0%} of all hours, here it works {hours / (HOURS_PER_YEAR * years):.0%}."


def _without_total(found: OwnOrRent, horizon: str) -> str:
    worth = found.costs.worth_below_usd
    what = "It needs a quote" if found.purchase.usd is None else "What owning costs is not known"
    if worth is None:
        return f"{what}, and nothing to compare it with is known."
    if worth == 0:
        return f"{what}; at no price is it cheaper than renting over {horizon}."
    return f"{what}; a purchase is worth it below {format_amount(worth, found.economics)} over {horizon}."


def ownership_tree(found: OwnOrRent) -> Explanation:
    """Owning and renting over each horizon with every part, its formula and where its inputs come from."""
    inputs = [_owned(found, cost) for cost in found.costs.own]
    inputs += [part for rent in found.costs.rent for part in _rented(found, rent)]
    inputs += _comparison(found)
    return Explanation(
        name=f"Own or rent {found.what.words}",
        value=sentence(found),
        provenance=f"{found.use.words} {_STEADY}",
        inputs=tuple(inputs),
    )


def _owned(found: OwnOrRent, cost: OwnershipCost) -> Explanation:
    economics = found.economics
    return Explanation(
        name=f"Owning for {_years(cost.years)}",
        value="needs a quote" if cost.total_usd is None else format_amount_range(cost.total_usd, economics),
        formula="purchase + electricity + hosting + support + staff + interest + tax − sale at the end",
        provenance=_DERIVED,
        inputs=(_purchase(found), *_running(found, cost), *_financial(found, cost)),
    )


def _purchase(found: OwnOrRent) -> Explanation:
    purchase = found.purchase
    name = "Purchase with the machine"
    if purchase.usd is None:
        return Explanation(name=name, value="unknown", provenance=purchase.source)
    age = ", an old price" if purchase.stale and purchase.kind != LAUNCH_PRICE else ""
    return Explanation(
        name=name,
        value=format_amount(purchase.usd, found.economics),
        formula=purchase.formula,
        provenance=f"{purchase.kind}: {purchase.source}{age}",
    )


def _running(found: OwnOrRent, cost: OwnershipCost) -> Iterator[Explanation]:
    terms, power, economics = found.terms, found.power, found.economics
    if power is None or cost.energy_usd is None or cost.hosting_usd is None:
        yield Explanation(name="Electricity and hosting", value="unknown", provenance="its power is not known")
    else:
        hours = found.use.hours(cost.years)
        load, idle = power.load_w, power.idle_w
        yield Explanation(
            name="Electricity",
            value=format_amount_range(cost.energy_usd, economics),
            formula=f"({load.low:,.0f}–{load.high:,.0f} W × {hours:,.0f} h + {idle.low:,.0f}–{idle.high:,.0f} W × "
            f"{HOURS_PER_YEAR * cost.years - hours:,.0f} h waiting) × PUE {terms.power_usage_effectiveness:g} × "
            f"{format_amount(terms.electricity_usd_per_kwh, economics)} per kWh",
            provenance=f"{power.how}; PUE {_source(found, 'power_usage_effectiveness')}; "
            f"tariff {_source(found, 'electricity_usd_per_kwh')}",
        )
        yield Explanation(
            name="Hosting",
            value=format_amount(cost.hosting_usd, economics),
            formula=f"{power.provisioned_w / 1000:.3g} kW × {format_amount(terms.hosting_usd_per_kw_month, economics)} "
            f"× {MONTHS_PER_YEAR * cost.years} months",
            provenance=_source(found, "hosting_usd_per_kw_month"),
        )
    yield Explanation(
        name="Staff",
        value="not counted" if cost.staff_usd is None else format_amount(cost.staff_usd, economics),
        formula="" if terms.staff_usd_per_year is None else f"a year × {cost.years}",
        provenance=_source(found, "staff_usd_per_year"),
    )


def _financial(found: OwnOrRent, cost: OwnershipCost) -> Iterator[Explanation]:
    terms = found.terms
    if cost.purchase_usd is None:
        return
    parts = (
        ("Support", cost.support_usd, f"{terms.support_share_per_year:.1%} of the price a year × {cost.years}",
         _source(found, "support_share_per_year")),
        ("Interest", cost.finance_usd,
         ("price with tax × (n × i / (1 − (1 + i)^−n) − 1), i = "
          f"{terms.finance_rate_per_year:.1%} / 12, n = {MONTHS_PER_YEAR * cost.years} equal monthly payments"),
         _source(found, "finance_rate_per_year")),
        ("Tax", cost.tax_usd, f"{terms.tax_share:.1%} of purchase, electricity, hosting and support",
         _source(found, "tax_share")),
        ("Sale at the end", cost.residual_usd, f"price × {terms.value_kept_per_year:.3g}^{cost.years}",
         _source(found, "residual_share")),
    )  # fmt: skip
    for name, usd, formula, provenance in parts:
        value = "unknown" if usd is None else format_amount(usd, found.economics)
        yield Explanation(name=name, value=value, formula=formula, provenance=provenance)


def _rented(found: OwnOrRent, cost: RentalCost) -> Iterator[Explanation]:
    economics, taxed = found.economics, f" × {1 + found.terms.tax_share:g} tax" if found.terms.tax_share else ""
    hours = f"{cost.hours:,.0f} h"
    if found.rents.on_demand is not None and cost.on_demand_usd is not None:
        price = found.rents.on_demand
        yield _rent(found, "on demand", cost.years, format_amount(cost.on_demand_usd, economics), hours + taxed, price)
    if found.rents.spot is not None and cost.spot_usd is not None:
        factor = spot_factor(found.terms)
        longer = f"{hours} × {factor.low:.3g}–{factor.high:.3g} for interruptions{taxed}"
        value = format_amount_range(cost.spot_usd, economics)
        yield _rent(found, "on spot", cost.years, value, longer, found.rents.spot, (_interruptions(found),))
    if found.rents.reserved is not None and cost.reserved_usd is not None:
        whole = f"{HOURS_PER_YEAR * cost.years:,.0f} h, used or not{taxed}"
        value = format_amount(cost.reserved_usd, economics)
        yield _rent(found, "reserved", cost.years, value, whole, found.rents.reserved)


def _rent(
    found: OwnOrRent,
    kind: str,
    years: int,
    value: str,
    factors: str,
    price: RentPrice,
    inputs: tuple[Explanation, ...] = (),
) -> Explanation:
    return Explanation(
        name=f"Renting {kind} for {_years(years)}",
        value=value,
        formula=f"{format_amount(price.usd_per_hour, found.economics)} an hour × {factors}",
        provenance=price.words + (", an old price" if price.stale else ""),
        inputs=inputs,
    )


def _interruptions(found: OwnOrRent) -> Explanation:
    terms = found.terms
    factor, rate = spot_factor(terms), terms.interruptions_per_day
    return Explanation(
        name="Work takes longer on spot machines",
        value=f"× {factor.low:.3g}–{factor.high:.3g}",
        formula="1 / (1 − rate × (checkpoint interval / 2 + restart)), at most 20: "
        f"{rate.low:g}–{rate.high:g} a day, {terms.checkpoint_interval_s:,.0f} s, {terms.restart_s:,.0f} s",
        provenance=f"rate {_source(found, 'spot_interruptions_per_day')}, "
        f"interval {_source(found, 'checkpoint_interval_s')}, restart {_source(found, 'spot_restart_s')}",
    )


def _comparison(found: OwnOrRent) -> Iterator[Explanation]:
    costs = found.costs
    if found.compared is None:
        return
    share = costs.break_even_utilization
    if costs.own[-1].total_usd is not None:
        yield Explanation(
            name="Owning pays from",
            value="never" if share is None else f"{share:.0%} of all hours",
            formula="what owning costs without any use / (rent an hour − electricity of an hour) / all hours",
            provenance=f"{_DERIVED}; compared with {found.compared.words or found.compared.flat_words}",
        )
    if costs.worth_below_usd is not None:
        yield Explanation(
            name="A purchase with its machine, before tax, is worth it below",
            value=format_amount(costs.worth_below_usd, found.economics),
            formula="(rent for the same hours − electricity, hosting and staff) / cost of owning for each unit of the "
            f"price over {_years(found.terms.years[-1])}",
            provenance=f"{_DERIVED}; compared with {costs.compared_rent}",
        )


def _years(years: int) -> str:
    return "1 year" if years == 1 else f"{years} years"


def _source(found: OwnOrRent, field: str) -> str:
    """Whether the person gave a figure."""
    value = getattr(found.economics, field)
    return _ASSUMED if value is None else _GIVEN
