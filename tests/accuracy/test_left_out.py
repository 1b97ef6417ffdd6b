"""Widths that did not see a row: what a range holds when its width comes from the others."""

from __future__ import annotations

import math

import pytest

from gpuscope.advisor.timing.uncertainty import doubt
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studying import study_result
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.base import Range
from gpuscope.engine.validate import shipped_tables
from tests.accuracy.left_out import WIDTHS, coverages


@pytest.fixture(scope="module")
def tables() -> Tables:
    return shipped_tables()


def outcomes(tables: Tables, ratios: dict[str, list[float]]) -> list[Outcome]:
    """Rows of a study of compiled models by family, each with a range of that doubt alone."""
    factor = doubt("compile_change", tables.calibration).factor
    return [
        Outcome(
            study="timm-compiled",
            family=family,
            gpu="rtx-3090",
            precision="float16",
            label="",
            measured=1.0,
            predicted=Range(low=ratio / factor, mid=ratio, high=ratio * factor),
            held_out="",
            source="",
        )
        for family, each in ratios.items()
        for ratio in each
    ]


def test_a_family_unlike_the_others_is_held_by_its_own_width_alone(tables: Tables) -> None:
    ratios = {f"family {number}": [1.01] * 5 for number in range(4)} | {"odd": [1.3] * 5}
    (found,) = coverages({"timm-compiled": outcomes(tables, ratios)}, tables.calibration)
    assert (found.width.code, found.rows) == ("compile_change", 25)
    assert found.own == 1.0
    assert found.without_family == pytest.approx(20 / 25), "the others' width of 1% is too narrow for it"
    assert found.without_gpu is None
    assert found.without_study is None


def test_families_that_are_alike_hold_each_other(tables: Tables) -> None:
    ratios = {f"family {number}": [1.01, 1.02, 0.98] * 5 for number in range(4)}
    (found,) = coverages({"timm-compiled": outcomes(tables, ratios)}, tables.calibration)
    assert found.without_family == 1.0


def test_a_width_whose_studies_are_not_all_there_is_left_out(tables: Tables) -> None:
    assert list(coverages({"timm-no-run": outcomes(tables, {"a": [1.0]})}, tables.calibration)) == []


def test_published_rows_are_held_nearly_as_well_by_widths_of_others(tables: Tables) -> None:
    seen: list[Outcome] = []
    study_result("scaling-1-to-8", tables, seen=seen.extend)
    (found,) = coverages({"scaling-1-to-8": seen}, tables.calibration)
    assert found.own >= 0.9
    assert found.without_family is not None
    assert found.without_gpu is not None
    assert 0.88 < min(found.without_family, found.without_gpu) <= found.own


def test_every_width_belongs_to_a_doubt_and_names_its_studies_once(tables: Tables) -> None:
    assert len({width.code for width in WIDTHS}) == len(WIDTHS)
    for width in WIDTHS:
        assert math.log(doubt(width.code, tables.calibration).factor) > 0
