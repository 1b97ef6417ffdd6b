"""Currencies: exact both ways, shown with their signs; limits of what a person can say about money."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.advisor.cost.terms import ASSUMPTIONS, assumed, check_economics, settle
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount, format_amount_range, from_usd, to_usd
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import gpu

rates = st.floats(1e-4, 1e5, allow_nan=False)
cents = st.integers(0, 10**12)


def euro(rate: float = 0.9) -> Economics:
    return Economics(currency="EUR", currency_per_usd=rate)


@given(amount=cents, rate=rates)
def test_dollars_come_back_to_the_cent(amount: int, rate: float) -> None:
    there = from_usd(amount / 100, euro(rate))
    assert round(to_usd(there, "EUR", euro(rate)) * 100) == amount


@given(amount=cents, rate=rates)
def test_other_currencies_come_back_to_the_cent(amount: int, rate: float) -> None:
    usd = to_usd(amount / 100, "EUR", euro(rate))
    assert round(from_usd(usd, euro(rate)) * 100) == amount


@given(low=cents, more=cents, rate=rates)
def test_conversion_keeps_the_order(low: int, more: int, rate: float) -> None:
    assert from_usd(float(low), euro(rate)) <= from_usd(float(low + more), euro(rate))


def test_a_dollar_is_a_dollar_in_any_currency() -> None:
    assert to_usd(5.0, "USD", euro()) == 5.0
    assert from_usd(5.0, Economics()) == 5.0


@pytest.mark.parametrize(
    ("usd", "currency", "rate", "shown"),
    [
        (1234.5, "USD", None, "$1,234"),
        (12.5, "EUR", 0.9, "€11.25"),
        (1234.0, "JPY", 150.0, "¥185,100"),
        (0.05, "JPY", 150.0, "¥8"),
        (50.0, "CHF", 0.8, "CHF 40.00"),
        (-12.5, "GBP", 0.8, "£-10.00"),
    ],
)
def test_amounts_are_shown_in_the_persons_currency(usd: float, currency: str, rate: float | None, shown: str) -> None:
    assert format_amount(usd, Economics(currency=currency, currency_per_usd=rate)) == shown


def test_ranges_are_shown_in_the_persons_currency() -> None:
    value = Range(low=100.0, mid=110.0, high=130.0)
    assert format_amount_range(value, Economics()) == "$100–130"
    assert format_amount_range(value, euro(2.0)) == "€200–260"
    assert format_amount_range(Range.exact(100.0), euro(2.0)) == "€200"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"currency": "EUR"}, "how many EUR one US dollar costs"),
        ({"currency": "EUR", "currency_per_usd": 0.0}, "The exchange rate must be from"),
        ({"tax_share": -0.1}, "The tax must be from 0 to 1, not -0.1"),
        ({"electricity_usd_per_kwh": 120.0}, "The price of electricity per kWh must be from 0 to 10, not 120"),
        ({"electricity_usd_per_kwh": float("nan")}, "not nan"),
        ({"power_usage_effectiveness": 0.5}, "PUE"),
        ({"hours_per_month": 1000.0}, "from 0 to 744"),
        ({"finance_rate_per_year": 6.0}, "The interest a year must be from 0 to 1, not 6"),
        ({"years": ()}, "whole numbers from 1 to 20"),
        ({"years": (0,)}, "whole numbers from 1 to 20"),
        ({"reserved_discount_share": 1.0}, "The discount for a reservation"),
        ({"checkpoint_interval_s": 0.0}, "The time between checkpoints"),
    ],
)
def test_absurd_values_are_refused_with_a_sentence(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        check_economics(Economics(**changes))
    assert words in str(raised.value)


def test_every_assumption_is_an_input_that_can_be_given() -> None:
    fields = {each.field for each in ASSUMPTIONS}
    assert fields <= set(Economics.__struct_fields__)
    assert all(each.why for each in ASSUMPTIONS)
    assert not assumed(Economics(use_spot=True, **dict.fromkeys(fields, 0.5)))


def test_only_what_is_assumed_is_said() -> None:
    sentences = assumed(Economics(electricity_usd_per_kwh=0.3))
    assert any("PUE" in each or "times the power" in each for each in sentences)
    assert not any("per kWh" in each for each in sentences)
    assert not any("spot machine" in each for each in sentences)
    assert any("spot machine" in each for each in assumed(Economics(use_spot=True), owning=False))


def test_a_place_at_a_desk_costs_nothing() -> None:
    assert settle(Economics(), gpu(segment="consumer")).hosting_usd_per_kw_month == 0
    assert settle(Economics(), gpu()).hosting_usd_per_kw_month > 0
