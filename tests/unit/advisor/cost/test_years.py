"""Own against rent: known sums by hand, directions, and what is said where something is not known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.advisor.catalogue.specs import CatalogueOffer, SystemSpec
from gpuscope.advisor.cost.configuration import Configuration, Use, use_of
from gpuscope.advisor.cost.machine import MachinePower, machine_power
from gpuscope.advisor.cost.ownership import interest_share
from gpuscope.advisor.cost.rent import RentPrice
from gpuscope.advisor.cost.years import OwnOrRent, own_or_rent
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics, OwnershipCost, Quote
from tests.unit.advisor.advisor_jobs import TODAY, gpu, offer, shipped

TEN_KW = MachinePower(Range.exact(10_000.0), Range.exact(1_000.0), 10_000.0, "given")
PLAIN = {
    "electricity_usd_per_kwh": 0.10,
    "power_usage_effectiveness": 1.5,
    "hosting_usd_per_kw_month": 100.0,
    "support_share_per_year": 0.04,
    "finance_rate_per_year": 0.0,
    "residual_share": 0.125,
    "machine_share": 0.5,
    "years": (3,),
}


def economics(**changes: Any) -> Economics:
    """Round figures for sums by hand."""
    return Economics(**{**PLAIN, **changes})


def eight(price: float | None = 10_000.0) -> Configuration:
    return Configuration(gpu=gpu(launch_price_usd=price), count=8)


def outcome(
    what: Configuration | None = None,
    offers: tuple[CatalogueOffer, ...] = (offer(count=8, price=10.0),),
    power: MachinePower | None = TEN_KW,
    use: Use | None = None,
    **changes: Any,
) -> OwnOrRent:
    return own_or_rent(what or eight(), offers, power, use or Use(), economics(**changes), TODAY)


def total(cost: OwnershipCost) -> float:
    assert cost.total_usd is not None
    return cost.total_usd.mid


def test_owning_by_hand() -> None:
    """Eight GPUs at $10,000, half as much again for the machine, three years of all hours."""
    (cost,) = outcome().costs.own
    assert cost.purchase_usd == pytest.approx(120_000)
    assert cost.energy_usd is not None
    assert cost.energy_usd.mid == pytest.approx(10 * 26_280 * 1.5 * 0.10)
    assert cost.hosting_usd == pytest.approx(10 * 100 * 36)
    assert cost.support_usd == pytest.approx(120_000 * 0.04 * 3)
    assert cost.finance_usd == 0
    assert cost.tax_usd == 0
    assert cost.staff_usd is None
    assert cost.residual_usd == pytest.approx(15_000)
    assert total(cost) == pytest.approx(120_000 + 39_420 + 36_000 + 14_400 - 15_000)


def test_half_of_the_hours_idle() -> None:
    (cost,) = outcome(use=Use(hours_per_month=365.0)).costs.own
    assert cost.energy_usd is not None
    assert cost.energy_usd.mid == pytest.approx((10 * 13_140 + 1 * 13_140) * 1.5 * 0.10)


def test_tax_is_on_prices_but_not_on_wages_and_interest() -> None:
    (cost,) = outcome(tax_share=0.1, staff_usd_per_year=20_000.0, finance_rate_per_year=0.06).costs.own
    assert cost.tax_usd == pytest.approx(0.1 * (120_000 + 39_420 + 36_000 + 14_400))
    assert cost.staff_usd == 60_000
    assert cost.finance_usd == pytest.approx(132_000 * interest_share(3, 0.06))
    parts = 120_000 + 39_420 + 36_000 + 14_400 + 60_000 + cost.finance_usd + cost.tax_usd - 15_000
    assert total(cost) == pytest.approx(parts)


def test_interest_of_a_known_loan() -> None:
    """$100,000 at 6% over three years: 36 parts of $3,042.19."""
    assert 100_000 * interest_share(3, 0.06) == pytest.approx(36 * 3042.19 - 100_000, abs=0.5)
    assert interest_share(5, 0.0) == 0


def test_the_rest_value_falls_by_the_same_share_each_year() -> None:
    one, three = outcome(years=(1, 3)).costs.own
    assert one.residual_usd == pytest.approx(60_000)
    assert three.residual_usd == pytest.approx(15_000)


def test_renting_by_hand() -> None:
    found = outcome(use=Use(hours_per_month=100.0), tax_share=0.1, reserved_discount_share=0.4).costs
    (rent,) = found.rent
    assert rent.hours == 3600
    assert rent.on_demand_usd == pytest.approx(10 * 3600 * 1.1)
    assert rent.reserved_usd == pytest.approx(6 * 26_280 * 1.1)
    assert rent.spot_usd is None


def test_break_even_is_where_both_cost_the_same() -> None:
    found = outcome()
    share = found.costs.break_even_utilization
    assert share is not None
    hours = share * 26_280
    (own,) = outcome(use=Use(hours_once=hours)).costs.own
    assert total(own) == pytest.approx(10 * hours)


def test_no_break_even_with_a_cheap_rent() -> None:
    found = outcome(offers=(offer(count=8, price=0.5),)).costs
    assert found.break_even_utilization is None
    assert found.worth_below_usd == 0


def test_a_purchase_at_the_worth_costs_as_much_as_the_rent() -> None:
    worth = outcome(eight(None)).costs.worth_below_usd
    assert worth is not None
    quote = Quote(gpu="test-24", count=8, price=worth, date="2026-11-29")
    found = outcome(eight(None), quotes=(quote,))
    assert total(found.costs.own[0]) == pytest.approx(10 * 26_280)
    assert found.costs.break_even_utilization == pytest.approx(1.0)


def test_without_a_price_it_needs_a_quote() -> None:
    found = outcome(eight(None))
    (cost,) = found.costs.own
    assert (cost.purchase_usd, cost.total_usd) == (None, None)
    assert cost.energy_usd is not None
    assert found.costs.break_even_utilization is None
    assert found.costs.compared_rent == "on demand from alpha, test-24-8 in us-east-1, 2026-11-20"


def test_without_a_rent_a_rival_says_what_it_is_worth() -> None:
    assert outcome(offers=()).costs.worth_below_usd is None
    rival = RentPrice(10.0, "renting 2× L4 from alpha for the same work")
    found = own_or_rent(eight(None), (), TEN_KW, Use(), economics(), TODAY, rival).costs
    assert found.worth_below_usd == pytest.approx(outcome(eight(None)).costs.worth_below_usd)
    assert found.compared_rent.startswith("renting 2× L4")
    assert found.rent == ()


def test_without_power_there_is_no_total() -> None:
    found = outcome(power=None).costs
    assert found.own[0].purchase_usd == pytest.approx(120_000)
    assert (found.own[0].total_usd, found.own[0].energy_usd, found.worth_below_usd) == (None, None, None)


def test_a_reservation_below_owning_leaves_no_break_even() -> None:
    assert outcome(reserved_discount_share=0.1).costs.break_even_utilization is not None
    assert outcome(reserved_discount_share=0.9).costs.break_even_utilization is None


def test_the_catalogues_machine_goes_before_launch_prices_and_a_quote_before_both() -> None:
    system = SystemSpec(id="s", name="S", kind="node", gpu_id="test-24", gpu_count=8, price_usd=150_000.0)
    what = Configuration(gpu=gpu(launch_price_usd=10_000.0), count=16, nodes=2, system=system)
    assert outcome(what).purchase.usd == 300_000
    assert outcome(what).purchase.source.endswith("undated; the network between the machines is not in it")
    bare = Quote(gpu="test-24", count=1, price=5_000.0, includes_machine=False, date="2026-11-29")
    quoted = outcome(what, quotes=(bare,)).purchase
    assert quoted.usd == pytest.approx(16 * 5_000 * 1.5)
    assert (quoted.kind, quoted.stale) == ("quote", False)


def test_a_quote_for_a_machine_of_another_size_does_not_count() -> None:
    quote = Quote(gpu="test-24", count=4, price=9_000.0, date="2026-11-29")
    assert outcome(quotes=(quote,)).purchase.kind == "launch price"


def test_quotes_for_rent_go_before_the_catalogue() -> None:
    quotes = tuple(Quote(gpu="test-24", count=8, kind=kind, price=12.0, vendor="Beta") for kind in ("rent", "spot"))
    found = outcome(quotes=quotes, use_spot=True, spot_interruptions_per_day=0.0)
    assert found.rents.on_demand == RentPrice(12.0, "on demand: quote of Beta, undated", stale=True)
    assert found.costs.rent[0].spot_usd == Range.exact(12.0 * 26_280)


def test_hours_are_given_or_those_of_the_work_or_all() -> None:
    assert use_of(Economics(hours_per_month=10), 5.0).hours(1) == 120
    assert use_of(Economics(), 5.0).hours(3) == 5
    assert use_of(Economics(), None).hours(1) == 8760
    assert Use(hours_once=1e9).hours(1) == 8760


def test_a_machines_power_is_between_its_gpus_and_its_rating() -> None:
    dgx = next(system for system in shipped().systems if system.id == "dgx-h100")
    h100 = shipped().gpu("h100-sxm5-80gb")
    assert h100 is not None
    found = machine_power(Configuration(gpu=h100, count=8, system=dgx), Range.exact(8 * 650.0), "given")
    assert found is not None
    assert 7_000 < found.load_w.mid < 8_500
    assert found.load_w.high <= 10_200 == found.provisioned_w
    assert 1_000 < found.idle_w.mid < 3_000


money = st.floats(0.001, 1e6, allow_nan=False)


@given(low=st.floats(0, 5), more=st.floats(0, 5), hours=st.floats(0, 730))
def test_dearer_electricity_never_lowers_a_total(low: float, more: float, hours: float) -> None:
    use = Use(hours_per_month=hours)
    (cheap,) = outcome(use=use, electricity_usd_per_kwh=low).costs.own
    (dear,) = outcome(use=use, electricity_usd_per_kwh=low + more).costs.own
    assert total(dear) >= total(cheap) - 1e-6


@given(price=money, more=money, interest=st.floats(0, 1), residual=st.floats(0, 1), tax=st.floats(0, 1))
def test_a_lower_price_never_raises_a_total(
    price: float, more: float, interest: float, residual: float, tax: float
) -> None:
    terms = {"finance_rate_per_year": interest, "residual_share": residual, "tax_share": tax}
    (cheap,) = outcome(eight(price), **terms).costs.own
    (dear,) = outcome(eight(price + more), **terms).costs.own
    assert total(dear) >= total(cheap) - 1e-6 * abs(total(cheap))


@given(price=money, more=money)
def test_a_dearer_rent_never_makes_a_purchase_worth_less(price: float, more: float) -> None:
    low = outcome(offers=(offer(count=8, price=price),)).costs
    high = outcome(offers=(offer(count=8, price=price + more),)).costs
    assert low.worth_below_usd is not None
    assert high.worth_below_usd is not None
    assert high.worth_below_usd >= low.worth_below_usd
    if low.break_even_utilization is not None:
        assert high.break_even_utilization is not None
        assert high.break_even_utilization <= low.break_even_utilization


@given(price=st.floats(100, 50_000), rent=st.floats(0.1, 100), hours=st.floats(1, 730), tariff=st.floats(0, 1))
def test_owning_pays_above_the_break_even_and_below_the_worth(
    price: float, rent: float, hours: float, tariff: float
) -> None:
    """What is said in a figure agrees with what the sums say."""
    use = Use(hours_per_month=hours)
    found = outcome(
        eight(price), offers=(offer(count=8, price=rent),), use=use, electricity_usd_per_kwh=tariff, tax_share=0.1
    )
    (owned,), (rented,) = found.costs.own, found.costs.rent
    assert rented.on_demand_usd is not None
    assert owned.purchase_usd is not None
    saved = rented.on_demand_usd - total(owned)
    close = 1e-6 * rented.on_demand_usd + 1e-6 * total(owned)
    share = found.costs.break_even_utilization
    if abs(saved) > close:
        assert (saved > 0) == (share is not None and use.hours(3) / 26_280 > share)
        assert found.costs.worth_below_usd is not None
        assert (saved > 0) == (owned.purchase_usd < found.costs.worth_below_usd)


@given(st.permutations(range(6)))
def test_the_order_of_offers_does_not_matter(order: list[int]) -> None:
    offers = [
        offer(count=8, price=10.0 + index % 3, provider=f"p{index % 2}", region=f"r{index}") for index in range(6)
    ]
    first = outcome(offers=tuple(offers)).costs
    assert outcome(offers=tuple(offers[index] for index in order)).costs == first
