"""What a language model's FP32 products sustain, fitted to the rows that may be seen."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.advisor.validation.float32_fit import FACTOR, with_float32_products
from gpuscope.advisor.validation.language_rows import language_footprint, language_rows, language_seconds
from gpuscope.advisor.validation.tables import Tables


def test_the_shipped_share_is_the_one_of_all_rows(tables: Tables) -> None:
    shipped = tables.calibration
    found = with_float32_products(tables, shipped).factors[FACTOR]
    assert found == pytest.approx(shipped.factors[FACTOR], rel=0.02)
    assert 0.7 < found < 1.0  # a model's products never beat the best one


def test_gpus_that_are_held_out_have_no_say(tables: Tables) -> None:
    faster = msgspec.structs.replace(
        tables.calibration,
        rates={
            key: value if key != "l4" else msgspec.structs.replace(value, matmul_flops_per_s={})
            for key, value in tables.calibration.rates.items()
        },
    )
    seen = [with_float32_products(tables, each, {"l4"}).factors[FACTOR] for each in (tables.calibration, faster)]
    assert seen[0] == seen[1]


def test_a_row_is_a_step_of_known_dimensions(tables: Tables) -> None:
    row = next(row for row in language_rows(tables) if row["model"] == "bert_large" and row["mode"] == "train")
    footprint = language_footprint(row)
    assert footprint.workload.stage == "training"
    assert any(op.kind.endswith("_backward") for op in footprint.ops)
    assert language_seconds(row) == float(row["e2e_ms"]) / 1e3
