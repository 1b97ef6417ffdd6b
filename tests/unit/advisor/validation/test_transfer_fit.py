"""How much of the model's error on a run comes back: pairs of runs, and the slope through them."""

from __future__ import annotations

import random

import pytest

from gpuscope.advisor.validation.op_tables import ModelTable
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_rows import TimmRow, models_of
from gpuscope.advisor.validation.transfer_fit import COMPILED, SHARED, Pair, Residual, pairs, shared_errors

MODEL = ("resnet50", 224)


@pytest.fixture
def table(tables: Tables) -> ModelTable:
    return models_of(tables)[MODEL]


def run(
    table: ModelTable, device: str, log: float, *, torch: str = "2.4.0", compiled: bool = False, training: bool = False
) -> Residual:
    row = TimmRow(
        device=device, layout="nchw", torch=torch, compiled=compiled, model=MODEL[0], img_size=MODEL[1], batch=256.0,
        step_s=0.1, table=table,
    )  # fmt: skip
    return Residual(row, training, log)


def test_a_run_is_beside_the_one_that_it_would_be_predicted_from(table: ModelTable) -> None:
    runs = [
        run(table, "rtx-3090", 0.1),
        run(table, "rtx-3090", 0.2, torch="2.9.1"),
        run(table, "rtx-4090", 0.3, torch="2.9.1"),
        run(table, "rtx-3090", 0.4, training=True),
        run(table, "rtx-3090", 0.5, compiled=True),
    ]
    found = {(pair.name, pair.source, pair.other) for pair in pairs(runs)}
    assert found == {
        (SHARED, 0.2, 0.3),  # the same release on another card
        (SHARED, 0.3, 0.1),
        (SHARED, 0.3, 0.2),
        (SHARED, 0.1, 0.4),  # training, from inference on the same card
        (COMPILED, 0.1, 0.5),
    }


def test_a_run_alone_is_no_pair(table: ModelTable) -> None:
    assert list(pairs([run(table, "rtx-3090", 0.1), run(table, "rtx-3090", 0.2)])) == []


@pytest.mark.parametrize("slope", [0.0, 0.3, 0.7, 1.0])
def test_the_slope_is_found_whatever_a_kind_is_off_by(slope: float) -> None:
    chance = random.Random(1)
    made = []
    for kind, offset in (("a", -0.2), ("b", 0.4)):
        for _ in range(60):
            source = chance.gauss(0, 0.1)
            made.append(Pair(kind, SHARED, source, offset + slope * source + chance.gauss(0, 0.002)))
    made[0] = Pair("a", SHARED, 0.1, 5.0)  # a run that was throttled
    assert shared_errors(made) == {SHARED: pytest.approx(slope, abs=0.03)}


def test_few_pairs_tell_nothing() -> None:
    assert shared_errors([Pair("a", SHARED, 0.1, 0.1)] * 19) == {}


def test_the_shipped_constants_say_that_most_of_it_comes_back_but_not_to_a_compiled_run(tables: Tables) -> None:
    factors = tables.calibration.factors
    assert 0.55 < factors[SHARED] < 0.85
    assert factors[COMPILED] < 0.5
