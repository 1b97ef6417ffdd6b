"""Money and power as people type them, ranges as they are written."""

from __future__ import annotations

import pytest

from gpuscope.domain.base import Range
from gpuscope.domain.units import (
    format_duration_range,
    format_money_range,
    parse_count,
    parse_money,
    parse_number,
    parse_power,
)
from gpuscope.errors import UsageError


def test_ranges_are_added_and_multiplied_end_by_end() -> None:
    few, more = Range(low=1, mid=2, high=4), Range(low=10, mid=20, high=30)
    assert few.plus(more) == Range(low=11, mid=22, high=34)
    assert few.times(more) == Range(low=10, mid=40, high=120)
    assert Range.total([few, more, few]) == Range(low=12, mid=24, high=38)
    assert Range.total([]) == Range.exact(0)


@pytest.mark.parametrize(
    ("text", "dollars"), [("$1,200", 1200), ("2.49", 2.49), (" $ 1.5k", 1500), ("20 USD", 20), ("1m", 1e6)]
)
def test_money(text: str, dollars: float) -> None:
    assert parse_money(text) == pytest.approx(dollars)


@pytest.mark.parametrize(("text", "watts"), [("700 W", 700), ("1.5kW", 1500), ("300", 300)])
def test_power(text: str, watts: float) -> None:
    assert parse_power(text) == watts


@pytest.mark.parametrize("text", ["", "lots", "€5", "-3", "5 apples"])
def test_anything_else_says_how_to_write_it(text: str) -> None:
    with pytest.raises(UsageError, match="write it like"):
        parse_money(text)
    with pytest.raises(UsageError, match="write it like"):
        parse_power(text)


@pytest.mark.parametrize("text", ["1,5", "0,25", "12,34,56", "1,0000"])
def test_a_comma_is_no_decimal_point(text: str) -> None:
    with pytest.raises(UsageError, match="decimals with a point"):
        parse_money(text)
    assert parse_number(text) is None


def test_what_is_too_large_or_too_long_to_read_is_said_in_one_sentence() -> None:
    with pytest.raises(UsageError, match="too large"):
        parse_count("1e999")
    with pytest.raises(UsageError) as raised:
        parse_power("x" * 10_000)
    assert len(str(raised.value)) < 120
    assert parse_number("9" * 400) is None


@pytest.mark.parametrize(
    ("low", "mid", "high", "text"),
    [
        (74.2, 82, 90.7, "$74–91"), (4.94, 5.6, 9.91, "$4.9–9.9"), (2.24, 2.24, 2.24, "$2.24"),
        (9_000, 10_000, 12_345, "$9,000–12,345"), (2.241, 2.243, 2.249, "$2.24–2.25"),
    ],
)  # fmt: skip
def test_both_ends_of_an_amount_have_as_many_decimals(low: float, mid: float, high: float, text: str) -> None:
    assert format_money_range(Range(low=low, mid=mid, high=high)) == text


@pytest.mark.parametrize(
    ("low_s", "mid_s", "high_s", "text"),
    [
        (31 * 3600, 34 * 3600, 38 * 3600, "31–38 h"), (0.0792, 0.099, 0.119, "79–119 ms"), (60, 60, 60, "60 s"),
        (0, 0, 0, "0 ms"),
    ],
)  # fmt: skip
def test_both_ends_of_a_time_are_in_one_unit(low_s: float, mid_s: float, high_s: float, text: str) -> None:
    assert format_duration_range(Range(low=low_s, mid=mid_s, high=high_s)) == text
