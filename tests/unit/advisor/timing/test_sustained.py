"""What GPUs sustain, as far as anybody measured it, and by specification."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope import paths
from gpuscope.advisor.calibration.loading import load_calibration
from gpuscope.advisor.calibration.model import EMPTY, MEASURED, Calibration, Figure, SustainedRates
from gpuscope.advisor.calibration.power_limits import FLOAT32_WATTS, with_generations
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import PRECISIONS
from gpuscope.advisor.timing.sustained import matmul_rate, memory_unseen, power_capped, sustained
from tests.unit.advisor.advisor_jobs import shipped


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return load_calibration(paths.resources_dir() / "calibration")


def gpu(gpu_id: str) -> GpuSpec:
    found = shipped().gpu(gpu_id)
    assert found is not None
    return found


def tflops(gpu_id: str, precision: str, calibration: Calibration) -> float:
    rate = matmul_rate(gpu(gpu_id), precision, calibration)
    assert rate is not None
    return rate.value / 1e12


def test_published_rates_are_taken_as_they_are(calibration: Calibration) -> None:
    assert tflops("h100-sxm5-80gb", "bfloat16", calibration) == pytest.approx(794.5)
    assert tflops("h100-sxm5-80gb", "float16", calibration) == pytest.approx(794.5)  # at the same specified rate


@pytest.mark.parametrize("gpu_id", ["rtx-3060-12gb", "rtx-4060-ti-16gb", "rtx-5070"])
def test_fp32_products_on_newer_geforce_cards_stay_far_below_the_peak(gpu_id: str, calibration: Calibration) -> None:
    # Published on the 3090, 4090 and 5090: 0.66 to 0.70 of it. Half of the units also do what addresses need.
    peak = gpu(gpu_id).fp32_tflops
    assert peak is not None
    assert 0.6 < tflops(gpu_id, "float32", calibration) / peak < 0.8


def test_a_measurement_of_the_persons_own_goes_before_all(calibration: Calibration) -> None:
    own = Figure(value=1e12, kind=MEASURED, source="here")
    rates = {**calibration.rates, "h100-sxm5-80gb": SustainedRates(matmul_flops_per_s={"bfloat16": own})}
    changed = msgspec.structs.replace(calibration, rates=rates)
    assert matmul_rate(gpu("h100-sxm5-80gb"), "bfloat16", changed) == own


def test_a_small_power_limit_keeps_a_card_below_its_silicon(calibration: Calibration) -> None:
    unknown = msgspec.structs.replace(calibration, rates={})
    l4, rtx_4090 = gpu("l4"), gpu("rtx-4090")
    assert l4.fp32_tflops is not None
    assert 0.25 < tflops("l4", "float32", unknown) / l4.fp32_tflops < 0.4
    assert power_capped(l4, "float32", unknown)
    assert not power_capped(rtx_4090, "float16", unknown)
    assert 0.45 < tflops("rtx-6000-ada", "float32", unknown) / 91.06 < 0.65


def test_a_small_power_limit_holds_tensor_cores_down_too(calibration: Calibration) -> None:
    unknown = msgspec.structs.replace(calibration, rates={})
    # Published: 24 TFLOPS of 65 at 70 W; a board of 260 W with the same cores is held down little.
    assert tflops("t4", "float16", unknown) == pytest.approx(24, rel=0.1)
    assert tflops("t4", "int8", unknown) == pytest.approx(2 * tflops("t4", "float16", unknown), rel=0.01)
    assert tflops("quadro-rtx-8000", "float16", unknown) > 85
    assert power_capped(gpu("t4"), "int8", unknown)


def test_a_chip_that_nobody_measured_at_its_limit_takes_what_its_geforce_cards_do(calibration: Calibration) -> None:
    unknown = msgspec.structs.replace(
        calibration,
        rates={},
        shares={key: value for key, value in calibration.shares.items() if not key.startswith(FLOAT32_WATTS)},
    )
    measured = {key: calibration.shares[key] for key in (f"{FLOAT32_WATTS}/6.1", f"{FLOAT32_WATTS}/7.5")}
    shares = with_generations({**unknown.shares, **measured}, shipped())
    l4 = gpu("l4")
    found = tflops("l4", "float32", msgspec.structs.replace(unknown, shares=shares))
    assert l4.fp32_tflops is not None
    assert 9.8 * 0.9 < found < l4.fp32_tflops * 0.6  # measured: 9.8 of 30.3
    assert shares[f"{FLOAT32_WATTS}/7.5"] == measured[f"{FLOAT32_WATTS}/7.5"]


def test_without_a_card_at_its_limit_nothing_is_said_of_watts() -> None:
    assert with_generations({}, shipped()) == {}


def test_a_card_on_the_slot_is_doubted_where_nothing_is_known_of_its_chip() -> None:
    assert power_capped(gpu("t4"), "float16", EMPTY)
    assert not power_capped(gpu("v100-sxm2-16gb"), "float16", EMPTY)


def test_convolutions_take_tf32_by_themselves_and_stay_in_16_bits(calibration: Calibration) -> None:
    a100 = gpu("a100-sxm4-80gb")
    single, half, eight = (sustained(a100, name, calibration) for name in ("float32", "bfloat16", "float8"))
    assert single is not None
    assert half is not None
    assert single.convolution_flops_per_s.value > 3 * single.matmul_flops_per_s.value
    assert eight is None  # no FP8 on Ampere
    h100 = gpu("h100-sxm5-80gb")
    eight, half = sustained(h100, "float8", calibration), sustained(h100, "bfloat16", calibration)
    assert eight is not None
    assert half is not None
    assert eight.matmul_flops_per_s.value > 1.5 * half.matmul_flops_per_s.value
    assert eight.convolution_flops_per_s == half.convolution_flops_per_s


@given(st.sampled_from(PRECISIONS), st.sampled_from(range(129)))
def test_every_gpu_of_the_catalogue_has_rates_or_none(precision: str, index: int) -> None:
    one = shipped().gpus[index % len(shipped().gpus)]
    rates = sustained(one, precision, EMPTY)
    if rates is not None:
        assert rates.matmul_flops_per_s.value > 0
        assert rates.vector_bytes_per_s.value < 1.01 * (one.memory_bandwidth_gbs or 0.0) * 1e9
        assert not rates.rated


def test_products_in_tf32_reach_less_of_their_peak_than_in_16_bits(calibration: Calibration) -> None:
    a30 = gpu("a30")  # nobody measured it
    assert a30.tf32_tensor_tflops is not None
    assert a30.bf16_tensor_tflops is not None
    tf32 = tflops("a30", "tf32", calibration) / a30.tf32_tensor_tflops
    assert 0.75 < tf32 / (tflops("a30", "bfloat16", calibration) / a30.bf16_tensor_tflops) < 1.0


def test_memory_of_a_kind_that_nobody_measured_is_doubted(calibration: Calibration) -> None:
    unseen = {
        name for name in ("rtx-4090", "l4", "h100-sxm5-80gb", "rtx-5090") if memory_unseen(gpu(name), calibration)
    }
    assert unseen == {"rtx-5090"}
