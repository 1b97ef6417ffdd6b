"""What a language model's FP32 products sustain, fitted to the rows that may be seen."""

from __future__ import annotations

import statistics

import msgspec
import pytest

from gpuscope.advisor.validation.float32_fit import FACTOR, float32_factors, with_float32_kernels
from gpuscope.advisor.validation.kernel_rows import moving_op, moving_rows, moving_seconds
from gpuscope.advisor.validation.language_rows import language_footprint, language_rows, language_seconds
from gpuscope.advisor.validation.tables import Tables


def test_the_shipped_constants_are_those_of_all_rows(tables: Tables) -> None:
    shipped = tables.calibration
    found = float32_factors(with_float32_kernels(tables, shipped))
    assert found == pytest.approx(float32_factors(shipped), rel=0.02)
    assert 0.7 < found[FACTOR] < 1.0  # a model's products never beat the best one


def test_an_elementwise_operator_and_a_batch_norm_reach_the_vector_rate(tables: Tables) -> None:
    classes, factors = tables.calibration.class_rates, float32_factors(tables.calibration)
    for kind in ("elementwise", "batch_norm", "batch_norm/nhwc"):
        assert classes[kind].bandwidth * factors[f"float32/{kind}"] == pytest.approx(1.0, abs=0.03)


def test_a_layer_norm_reads_its_rows_twice(tables: Tables) -> None:
    """On cards with a small cache: three passes over the tensor in the time of which two are counted."""
    shares = []
    for row in moving_rows(tables):
        op = moving_op(row)
        if row["op"] == "ln" and row["gpu_id"] == "v100-pcie-32gb" and op.bytes_written and op.bytes_written > 1e9:
            rate = tables.calibration.rates[row["gpu_id"]].vector_bytes_per_s
            assert rate is not None
            shares.append(moving_seconds(row) * rate.value / op.bytes_written)
    assert 2.6 < statistics.median(shares) < 3.2


def test_gpus_that_are_held_out_have_no_say(tables: Tables) -> None:
    faster = msgspec.structs.replace(
        tables.calibration,
        rates={
            key: value if key != "l4" else msgspec.structs.replace(value, matmul_flops_per_s={})
            for key, value in tables.calibration.rates.items()
        },
    )
    seen = [float32_factors(with_float32_kernels(tables, each, {"l4"})) for each in (tables.calibration, faster)]
    assert seen[0] == seen[1]


def test_a_row_is_a_step_of_known_dimensions(tables: Tables) -> None:
    row = next(row for row in language_rows(tables) if row["model"] == "bert_large" and row["mode"] == "train")
    footprint = language_footprint(row)
    assert footprint.workload.stage == "training"
    assert any(op.kind.endswith("_backward") for op in footprint.ops)
    assert language_seconds(row) == float(row["e2e_ms"]) / 1e3
