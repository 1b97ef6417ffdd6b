"""What is typed into the Advisor's form, and the constraints it means."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form.parsing import (
    parse_amount,
    parse_counts,
    parse_deadline,
    parse_latency,
    parse_load,
    parse_percent,
    parse_positive_count,
    parse_price,
)
from gpuscope.ui.advisor.form.texts import ConstraintTexts, QuoteTexts
from gpuscope.ui.advisor.form.understanding import understood

NOW = datetime(2026, 12, 2, 12, 0, tzinfo=timezone(timedelta(hours=9)))
"""A Wednesday."""
HOUR = 3600.0


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("36h", 36), ("36", 36), ("1.5", 1.5), ("90 min", 1.5), ("2d", 48), ("18:00", 6), ("9:00", 21),
        ("today 18:00", 6), ("tomorrow 9:00", 21), ("Fri 18:00", 54), ("friday 18:00", 54), ("wed 13:00", 1),
        ("wed 11:00", 167), ("2026-12-04", 36), ("2026-12-04 18:00", 54), ("2026-12-02T05:00+00:00", 2),
    ],
)  # fmt: skip
def test_deadlines_as_people_write_them(text: str, hours: float) -> None:
    assert parse_deadline(text, NOW) == hours * HOUR


@pytest.mark.parametrize("text", ["soon", "25:00", "fri", "2026-13-01", "-3h"])
def test_what_is_no_deadline_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError, match="Fri 18:00"):
        parse_deadline(text, NOW)


@pytest.mark.parametrize("text", ["2026-12-01", "0h", "today 11:00"])
def test_a_deadline_in_the_past_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="passed"):
        parse_deadline(text, NOW)


def test_numbers_of_gpus() -> None:
    assert parse_counts("1, 2,4-6") == (1, 2, 4, 5, 6)
    assert parse_counts("8") == (8,)
    for text in ("0", "4-2", "20000", "two", "1,,2"):
        with pytest.raises(UsageError):
            parse_counts(text)
    with pytest.raises(UsageError, match="16,384 numbers of GPUs: write up to 64"):
        parse_counts("1-16384")


@pytest.mark.parametrize("text", ["1,5", "0,25", "1,2345", "9" * 400, "1e999", "nan", "-1", "", "12 GB"])
def test_what_is_no_number_is_never_taken_for_another(text: str) -> None:
    for parse in (parse_amount, parse_percent, parse_latency, parse_positive_count, parse_price):
        with pytest.raises(UsageError):
            parse(text)


def test_numbers_as_people_write_them() -> None:
    assert parse_amount(" 1,200.5 ") == 1200.5
    assert parse_percent("2.5 %") == 0.025
    assert parse_latency("1,500") == parse_latency("1500ms") == parse_latency("1.5 s") == 1.5
    assert parse_load("1 " * 23 + "0")[-1] == 0
    with pytest.raises(UsageError, match="24 figures"):
        parse_load("1 " * 23 + "x")


def test_nothing_typed_is_no_limit() -> None:
    assert understood(ConstraintTexts(), NOW) == (Constraints(), {})


def test_everything_typed_arrives() -> None:
    texts = ConstraintTexts(
        stage="training", deadline="36h", total="12", total_unit="epochs", samples_per_epoch="50k", budget="$1,200",
        budget_per_hour="2.49", acquisition="rent", regions=("us-east-1",), providers=("aws",), vendors=("NVIDIA",),
        gpus=("l40s",), counts="1,2", power_limit="1.4kW", precision="bfloat16",
    )  # fmt: skip
    constraints, found = understood(texts, NOW)
    assert found == {}
    assert constraints == Constraints(
        stage="training", deadline_s=36 * HOUR, total_epochs=12, samples_per_epoch=50_000, budget_usd=1200,
        budget_usd_per_hour=2.49, acquisition="rent", regions=("us-east-1",), providers=("aws",), vendors=("NVIDIA",),
        gpus=("l40s",), counts=(1, 2), power_limit_w=1400, precision="bfloat16",
    )  # fmt: skip


def test_each_mistake_is_at_its_field() -> None:
    texts = ConstraintTexts(deadline="soon", total="x", budget="lots", power_limit="big", counts="two")
    constraints, found = understood(texts, NOW)
    assert constraints is None
    assert set(found) == {"deadline", "total", "budget", "power_limit", "counts"}
    assert all(sentence.endswith(".") for sentence in found.values())


def test_a_quote_is_valid_from_its_own_date_on() -> None:
    quote = QuoteTexts(gpu="l40s", price="9k", date="2026-11-30", valid_until="2026-11-29")
    constraints, found = understood(ConstraintTexts(quotes=(quote,)), NOW)
    assert constraints is None
    assert found["quotes"] == "Quote 1: It is valid until a day before its own date."


def test_epochs_need_their_size() -> None:
    constraints, found = understood(ConstraintTexts(total="3", total_unit="epochs"), NOW)
    assert constraints is None
    assert "How many samples" in found["samples_per_epoch"]
