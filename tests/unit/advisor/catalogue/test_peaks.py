"""Peaks of the catalogue that nobody published by themselves: they follow from what was published of the chip."""

from __future__ import annotations

import pytest

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import BFLOAT16, FLOAT16, INT8, PRECISIONS, matrix_peak_tflops, supports
from gpuscope.advisor.timing.sustained import matmul_rate
from tests.unit.advisor.timing.timing_jobs import gpu, shipped_catalogue

WITHOUT_HALF = {"gtx-1060-3gb", "gtx-1060-6gb", "gtx-1080-ti", "p4"}
"""Pascal cards, which have no useful rate in 16 bits."""


def test_every_card_but_pascal_ones_has_a_rate_in_16_bits() -> None:
    for each in shipped_catalogue().gpus:
        able = {supports(each, FLOAT16), supports(each, BFLOAT16)}
        assert (True in able) is (each.id not in WITHOUT_HALF), each.id
        if True not in able:
            assert able == {False}, f"{each.id}: absent, and known to be"


@pytest.mark.parametrize(
    ("name", "units", "half", "eight"),
    [
        ("radeon-ai-pro-r9700", 64, 1024, 2048),
        ("rx-9070-xt", 64, 1024, 2048),
        ("radeon-pro-w7900", 96, 512, 512),
        ("rx-7900-xtx", 96, 512, 512),
        ("gb10", 48, 1024, 2048),
    ],
)
def test_peaks_are_units_times_rate_times_clock(name: str, units: int, half: int, eight: int) -> None:
    found = gpu(name)
    assert found.boost_clock_mhz is not None
    for precision, rate in ((FLOAT16, half), (BFLOAT16, half), (INT8, eight)):
        derived = units * rate * found.boost_clock_mhz * 1e6 / 1e12
        assert matrix_peak_tflops(found, precision) == pytest.approx(derived, rel=0.002)


@pytest.mark.parametrize(
    ("name", "times"), [("arc-a770-16gb", 8), ("arc-b580", 8), ("arc-pro-b60", 8), ("max-1550", 16)]
)
def test_intel_matrix_engines_are_so_many_times_the_vector_engines(name: str, times: int) -> None:
    found = gpu(name)
    assert found.fp32_tflops is not None
    assert matrix_peak_tflops(found, BFLOAT16) == pytest.approx(times * found.fp32_tflops, rel=0.005)


def test_what_is_capped_for_export_is_below_the_card_that_is_not() -> None:
    capped, free = gpu("rtx-5090-d"), gpu("rtx-5090")
    for precision in PRECISIONS[1:]:
        share = (matrix_peak_tflops(capped, precision) or 0.0) / (matrix_peak_tflops(free, precision) or 1.0)
        assert share == pytest.approx(2375 / 3352, rel=0.002), precision
    assert capped.fp32_tflops == free.fp32_tflops


def test_a_rate_says_that_its_peak_was_derived() -> None:
    calibration = Calibration()
    rate = matmul_rate(gpu("gb10"), BFLOAT16, calibration)
    assert rate is not None
    assert rate.source.startswith("118.8 TFLOPS (derived) × ")
    unstated = GpuSpec(
        id="x", name="X", vendor="V", segment="", status="", architecture="", memory_gb=1, bf16_tensor_tflops=10
    )
    plain = matmul_rate(unstated, BFLOAT16, calibration)
    assert plain is not None
    assert plain.source.startswith("10 TFLOPS × ")
