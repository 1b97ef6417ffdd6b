"""What autocast makes of a step's operators, against tables traced under autocast."""

from __future__ import annotations

import statistics

import pytest

from gpuscope.advisor.job.autocast import in_precision
from gpuscope.domain.footprint import Op
from tests.unit.advisor.timing.timing_jobs import op_tables

CONVOLUTION = Op(kind="conv_kxk", class_="convolution", flops=1e9, bytes_read=4e6, bytes_written=2e6, kernels=3.0)
LAYER_NORM = Op(kind="layer_norm", class_="normalization", bytes_read=8e6, bytes_written=8e6, kernels=1.0)


def moved(ops: tuple[Op, ...]) -> float:
    return sum((op.bytes_read or 0.0) + (op.bytes_written or 0.0) for op in ops)


def test_matrix_work_takes_half_the_bytes_and_norms_all_of_them() -> None:
    convolution, norm, casts = in_precision((CONVOLUTION, LAYER_NORM), "float32", "float16", 1000)
    assert (convolution.bytes_read, convolution.bytes_written, convolution.flops) == (2e6, 1e6, 1e9)
    assert norm == LAYER_NORM
    assert casts.bytes_read == 4 * 1000 + 8e6
    assert casts.kernels == 3


def test_nothing_changes_between_precisions_of_one_width() -> None:
    assert in_precision((CONVOLUTION,), "float16", "bfloat16", 1000) == (CONVOLUTION,)
    assert in_precision((CONVOLUTION,), "float32", "tf32", 1000) == (CONVOLUTION,)
    assert in_precision((), "float32", "float16", 1000) == ()


def test_back_to_float32_takes_the_bytes_that_it_took() -> None:
    there = in_precision((CONVOLUTION,), "float32", "float16", 0)
    assert in_precision(there[:1], "float16", "float32", 0) == (CONVOLUTION,)


@pytest.mark.parametrize("batch", [64, 256])
def test_bytes_under_autocast_are_near_those_traced_under_it(batch: int) -> None:
    ratios = []
    for table in list(op_tables().values())[::10]:
        predicted = in_precision(table.ops("float32", batch), "float32", "float16", table.parameters)
        ratios.append(moved(predicted) / moved(table.ops("amp", batch)))
    assert 0.9 < statistics.median(ratios) < 1.15
    assert statistics.quantiles(ratios, n=10)[0] > 0.75
    assert statistics.quantiles(ratios, n=10)[-1] < 1.35
