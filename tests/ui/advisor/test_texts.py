"""What is typed into the Advisor's form, and the constraints it means."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form.parsing import parse_counts, parse_deadline
from gpuscope.ui.advisor.form.texts import ConstraintTexts
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


def test_epochs_need_their_size() -> None:
    constraints, found = understood(ConstraintTexts(total="3", total_unit="epochs"), NOW)
    assert constraints is None
    assert "How many samples" in found["samples_per_epoch"]
