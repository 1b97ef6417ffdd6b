"""Where a predicted step comes from: its parts, the rates behind it, the operators' own figures."""

from __future__ import annotations

import math

import msgspec
import pytest

from gpuscope.advisor.timing.class_constants import STARTING_RATES, class_rate, is_light, known_kind
from gpuscope.advisor.timing.device_rates import cpu_rates, gpu_rates
from gpuscope.advisor.timing.roofline import memory_bytes, op_seconds, ops_seconds
from gpuscope.advisor.timing.time_model import step_on_cpu, step_on_gpu
from gpuscope.domain.footprint import FootprintDevice, InputOutput, Op, Steps, StepTime
from gpuscope.domain.recommendation import Explanation
from tests.unit.advisor.timing.timing_jobs import (
    dry_run,
    gpu,
    job_of,
    op_tables,
    shipped_calibration,
    shipped_catalogue,
)

CONVOLUTION = Op(
    kind="conv_kxk", class_="convolution", flops=1e12, bytes_read=1e9, bytes_written=1e9, kernels=10, n=256, k=2304
)  # fmt: skip
ELEMENTWISE = Op(kind="elementwise", class_="elementwise", bytes_read=1e9, bytes_written=1e9, kernels=10)


def names(parts: tuple[Explanation, ...]) -> list[str]:
    return [part.name for part in parts]


def test_a_step_from_work_unfolds_into_classes_longest_first() -> None:
    step = step_on_gpu(job_of(dry_run((ELEMENTWISE, CONVOLUTION), 1000)), gpu("rtx-3090"))
    model, host = step.unfolded()
    assert names(model.inputs) == ["Convolutions", "Elementwise operators"]
    assert names(model.inputs[0].inputs) == ["Work", "Memory traffic", "Kernels"]
    assert names(model.inputs[1].inputs) == ["Memory traffic", "Kernels"]
    assert "RTX 3090" in model.provenance
    assert host.name == "Host"


def test_a_transferred_step_unfolds_into_the_run_and_two_models() -> None:
    footprint = msgspec.structs.replace(
        dry_run((CONVOLUTION,), 1000),
        devices=(FootprintDevice(gpu="rtx-3090"),),
        steps=Steps(time_s=StepTime(p50=0.1)),
    )
    step = step_on_gpu(job_of(footprint), gpu("rtx-4090"))
    said = ["Measured step", "Model of the target", "Model of the run's GPU", "The run's own error"]
    assert names(step.unfolded()) == said
    assert step_on_gpu(job_of(footprint), gpu("rtx-3090")).unfolded() == ()


def test_a_kind_that_nobody_knows_counts_like_other_work() -> None:
    calibration = shipped_calibration()
    assert class_rate(calibration, "new_kind") == class_rate(calibration, "other")
    assert class_rate(calibration, "new_kind", "cpu") == class_rate(calibration, "other", "cpu")
    assert class_rate(calibration, "batch_norm_backward", "nhwc") == class_rate(calibration, "batch_norm", "nhwc")
    emptied = msgspec.structs.replace(calibration, class_rates={"gemm": STARTING_RATES["gemm"]})
    assert class_rate(emptied, "copy") == STARTING_RATES["other"]


def test_a_kind_that_nobody_knows_counts_like_the_usual_one_of_its_class() -> None:
    device = gpu_rates(gpu("rtx-3090"), "float16", shipped_calibration())
    assert device is not None
    for kind, class_ in (("conv_3x3", "convolution"), ("linear", "gemm"), ("rms", "normalization")):
        op = Op(kind=kind, class_=class_, flops=1e12, bytes_read=1e9, bytes_written=1e9, kernels=3, n=64, k=64)
        usual = msgspec.structs.replace(op, kind=known_kind(op))
        assert usual.kind != kind
        assert op_seconds(op, device) == op_seconds(usual, device)


def test_a_larger_cache_spares_small_tensors_more_traffic_and_never_much() -> None:
    device = gpu_rates(gpu("rtx-4090"), "float16", shipped_calibration())
    assert device is not None
    small = Op(kind="elementwise", class_="elementwise", bytes_read=1e6, bytes_written=1e6, kernels=100)
    assert memory_bytes(small, device) / 2e6 == pytest.approx(0.8, abs=0.01)
    assert memory_bytes(ELEMENTWISE, device) / 2e9 > 0.9
    assert memory_bytes(small, device._replace(cache_bytes=0.0)) == 2e6


def test_plain_float32_kernels_are_taken_where_they_are_faster() -> None:
    calibration = shipped_calibration()
    device = gpu_rates(gpu("v100-sxm2-16gb"), "float32", calibration)
    assert device is not None
    tensor_cores_alone = device._replace(plain_float32=False)
    assert op_seconds(CONVOLUTION, device, calibration) < op_seconds(CONVOLUTION, tensor_cores_alone, calibration)
    many = device._replace(convolution_flops_per_s=1e15)
    assert op_seconds(CONVOLUTION, many, calibration) == op_seconds(
        CONVOLUTION, many._replace(plain_float32=False), calibration
    )


def test_depthwise_convolutions_gain_nothing_from_tensor_cores() -> None:
    calibration = shipped_calibration()
    op = Op(kind="depthwise", class_="depthwise_convolution", flops=1e12, kernels=1)
    device = gpu_rates(gpu("a100-sxm4-80gb"), "float16", calibration)
    assert device is not None
    faster = device._replace(matrix_flops_per_s=1e16, convolution_flops_per_s=1e16)
    assert op_seconds(op, faster, calibration) == op_seconds(op, device, calibration)


def test_narrow_cpu_cores_run_above_their_base_clock() -> None:
    spec = shipped_catalogue().cpu("core-i5-9400")
    assert spec is not None
    at_base = msgspec.structs.replace(spec, peak_clock_kind="all-core")
    raised, plain = cpu_rates(spec), cpu_rates(at_base)
    assert raised is not None
    assert plain is not None
    assert raised.matrix_flops_per_s == pytest.approx(1.5 * plain.matrix_flops_per_s)
    assert cpu_rates(msgspec.structs.replace(spec, fp32_tflops=None)) is None


def test_only_matrix_work_worth_sharing_waits_for_all_cores() -> None:
    assert is_light(ELEMENTWISE)
    assert not is_light(CONVOLUTION)
    assert is_light(Op(kind="gemm", class_="gemm", flops=1e6, bytes_read=1e4, bytes_written=1e4, kernels=2))


def test_a_batch_that_takes_long_to_reach_the_gpu_sets_the_pace() -> None:
    footprint = dry_run((CONVOLUTION,), 1000)
    heavy = msgspec.structs.replace(footprint, io=InputOutput(host_to_device_bytes_per_step=12e9))
    plain, slow = (step_on_gpu(job_of(each), gpu("rtx-4090")) for each in (footprint, heavy))
    assert plain.seconds is not None
    assert slow.seconds is not None
    assert slow.seconds.mid > 0.5 > plain.seconds.mid
    assert "host sets the pace" in slow.how


def test_a_cpu_is_predicted_from_work_alone_and_surer_from_a_run() -> None:
    table = op_tables()["tf_efficientnet_b2", 260]
    footprint = dry_run(table.ops("float32", 1), table.parameters)
    step = step_on_cpu(job_of(footprint), shipped_catalogue().cpu("core-i9-10940x"), None)
    assert step.seconds is not None
    # Published for one picture, compiled, torch 2.4: 16.6 ms.
    assert 0.01 < step.seconds.mid < 0.05
    assert step_on_cpu(job_of(footprint), None, None).seconds is None


def test_all_classes_together_are_the_step() -> None:
    device = gpu_rates(gpu("rtx-3090"), "float16", shipped_calibration())
    assert device is not None
    parts = [op_seconds(op, device) for op in (CONVOLUTION, ELEMENTWISE)]
    assert ops_seconds((CONVOLUTION, ELEMENTWISE), device) == pytest.approx(sum(parts))


def test_a_layer_norm_takes_longer_for_its_bytes_in_float32() -> None:
    calibration = shipped_calibration()
    single, half = (gpu_rates(gpu("v100-sxm2-16gb"), precision, calibration) for precision in ("float32", "float16"))
    assert single is not None
    assert half is not None
    ratios = {
        (kind, class_): op_seconds(op, single, calibration) / op_seconds(op, half, calibration)
        for kind, class_ in (("layer_norm", "normalization"), ("softmax", "reduction"))
        for op in (Op(kind=kind, class_=class_, bytes_read=1e9, bytes_written=1e9, kernels=1),)
    }
    assert 1.3 < ratios["layer_norm", "normalization"] < 1.7
    assert ratios["softmax", "reduction"] == pytest.approx(1.0)


@pytest.mark.parametrize("off", [0.5, 0.9, 1.0, 1.2, 4.0])
def test_part_of_what_a_run_is_off_its_model_does_not_come_back(off: float) -> None:
    calibration = shipped_calibration()
    source = gpu_rates(gpu("rtx-3090"), "float32", calibration)
    assert source is not None
    model_s = ops_seconds((CONVOLUTION, ELEMENTWISE), source, calibration)
    footprint = msgspec.structs.replace(
        dry_run((CONVOLUTION, ELEMENTWISE), 1000),
        devices=(FootprintDevice(gpu="rtx-3090"),),
        steps=Steps(time_s=StepTime(p50=model_s * off)),
    )
    parts = step_on_gpu(job_of(footprint), gpu("rtx-4090")).unfolded()
    own = next((float(part.value.removeprefix("× ")) for part in parts if part.name == "The run's own error"), 1.0)
    shared = calibration.factors["transfer/shared"]
    limited = max(-0.1, min(0.1, (shared - 1) * math.log(off)))
    assert own == pytest.approx(math.exp(limited), abs=0.001)
    assert (own > 1) is (off < 1), "a run that was fast is taken to be partly luck"
