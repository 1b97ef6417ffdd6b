"""Errors, coverage, flags and worst rows from made-up comparisons."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.summary import figures_of, quantile, summary_of
from gpuscope.domain.base import Range


def outcome(mid: float | None, measured: float = 1.0, **changes: Any) -> Outcome:
    """A comparison whose range is ±10%."""
    values: dict[str, Any] = {
        "study": "made-up",
        "family": "resnet",
        "gpu": "rtx-4090",
        "precision": "float16",
        "label": "a row",
        "predicted": None if mid is None else Range(low=mid * 0.9, mid=mid, high=mid * 1.1),
        "measured": measured,
        "held_out": "rtx-4090",
        "source": "somebody",
    }
    return Outcome(**(values | changes))


def test_figures_of_known_rows() -> None:
    figures = figures_of([outcome(1.0), outcome(1.05), outcome(0.8), outcome(None, refusal="no rates")])
    assert (figures.rows, figures.refused) == (3, 1)
    assert figures.median_error == pytest.approx(0.05)
    assert figures.p90_error == pytest.approx(0.05 + 0.8 * 0.15)
    assert figures.bias == pytest.approx(0.0)
    assert figures.coverage == pytest.approx(2 / 3)


def test_bias_is_symmetric_in_the_logarithm() -> None:
    assert figures_of([outcome(2.0), outcome(0.5)]).bias == pytest.approx(0.0)
    assert figures_of([outcome(2.0)]).bias == pytest.approx(math.log(2))


def test_nothing_predicted_has_no_figures() -> None:
    figures = figures_of([outcome(None, refusal="no rates")])
    assert (figures.rows, figures.refused, figures.median_error, figures.coverage) == (0, 1, None, None)
    assert not figures.meets((1.0, 1.0))


def test_both_parts_of_a_goal_count() -> None:
    figures = figures_of([outcome(1.02)] * 8 + [outcome(1.5)] * 2)
    assert figures.meets((0.03, 0.6))
    assert not figures.meets((0.03, 0.4))
    assert not figures.meets((0.01, 0.6))


@pytest.mark.parametrize(("rows", "flagged"), [(29, False), (30, True)])
def test_a_part_that_the_ranges_miss_is_flagged_from_30_rows_on(rows: int, flagged: bool) -> None:
    missed = [outcome(2.0, gpu="a100-sxm4-80gb")] * rows
    summary = summary_of([*missed, *[outcome(1.0)] * 100])
    flags = {(stratum.by, stratum.name): stratum.flagged for stratum in summary.strata}
    assert flags["gpu", "a100-sxm4-80gb"] is flagged
    assert flags["gpu", "rtx-4090"] is False


def test_parts_add_up_to_the_whole() -> None:
    rows = [outcome(1.0)] * 12 + [outcome(1.2, family="vit"), outcome(1.3, family="swin", precision="float32")]
    summary = summary_of(rows)
    for part in ("family", "gpu", "precision"):
        assert sum(s.figures.rows for s in summary.strata if s.by == part) == summary.overall.rows


def test_worst_rows_come_first_whichever_way_they_are_wrong() -> None:
    rows = [outcome(1.0, label="right"), outcome(0.4, label="too fast"), outcome(2.2, label="too slow")]
    assert [row.label for row in summary_of(rows).worst] == ["too fast", "too slow", "right"]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=50), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(mids: list[float], random: Any) -> None:
    rows = [outcome(mid, label=str(number)) for number, mid in enumerate(mids)]
    shuffled = random.sample(rows, len(rows))
    assert summary_of(shuffled) == summary_of(rows)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_quantile_lies_among_the_values(values: list[float], share: float) -> None:
    ordered = sorted(values)
    assert ordered[0] <= quantile(ordered, share) <= ordered[-1]


def test_quantiles_of_known_values() -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0, 5.0], 0.5) == 3.0
    assert quantile([0.0, 10.0], 0.9) == pytest.approx(9.0)


def test_small_parts_are_put_together() -> None:
    rows = [outcome(1.0)] * 10 + [outcome(1.2, family="vit"), outcome(1.3, family="swin")]
    strata = {stratum.name: stratum.figures.rows for stratum in summary_of(rows).strata if stratum.by == "family"}
    assert strata == {"resnet": 10, "2 others": 2}


def test_a_single_small_part_keeps_its_name() -> None:
    rows = [outcome(1.0)] * 10 + [outcome(1.2, family="vit")]
    assert {stratum.name for stratum in summary_of(rows).strata if stratum.by == "family"} == {"resnet", "vit"}
