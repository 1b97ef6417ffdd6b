"""Training from inference, inference from training, and what a compiler saves."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.advisor.job.stage import to_stage
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Footprint, FootprintDevice, Op, Steps, StepTime
from tests.unit.advisor.timing.timing_jobs import dry_run, gpu, job_of, op_tables, shipped_calibration

RESNET = ("resnet50", 224)


def resnet_run(step_s: float | None = None, batch: int = 128, mode: str = "amp") -> Footprint:
    key = RESNET if RESNET in op_tables() else next(key for key in op_tables() if key[0].startswith("resnet"))
    table = op_tables()[key]
    footprint = dry_run(table.ops(mode, batch), table.parameters, precision="float16" if mode == "amp" else "float32")
    if step_s is None:
        return footprint
    return msgspec.structs.replace(
        footprint, devices=(FootprintDevice(gpu="rtx-3090"),), steps=Steps(time_s=StepTime(p50=step_s))
    )


def seconds(footprint: Footprint, gpu_id: str = "rtx-3090", **limits: object) -> Range:
    found = step_on_gpu(job_of(footprint, **limits), gpu(gpu_id)).seconds
    assert found is not None
    return found


def test_training_takes_two_and_a_half_to_five_times_inference() -> None:
    ratio = seconds(resnet_run(0.1), stage="training").mid / 0.1
    assert 2.5 < ratio < 5


def test_training_predicted_from_a_run_is_wider_than_the_run() -> None:
    plain, trained = seconds(resnet_run(0.1)), seconds(resnet_run(0.1), stage="training")
    assert trained.high / trained.mid > plain.high / plain.mid


def test_inference_leaves_backward_and_update_out() -> None:
    ops = (
        Op(kind="gemm", class_="gemm", flops=1.0),
        Op(kind="gemm_backward", class_="gemm", flops=2.0),
        Op(kind="optimizer", class_="optimizer", bytes_read=1.0),
    )
    assert to_stage(ops, "training", "inference")[0] == ops[:1]
    assert to_stage(ops, "training", "training") == (ops, "")


def test_factors_of_training_come_from_the_calibration() -> None:
    op = Op(kind="conv_kxk", class_="convolution", flops=1.0, kernels=1.0)
    calibration = msgspec.structs.replace(shipped_calibration(), factors={"training/conv_kxk": 7.0})
    trained = to_stage((op,), "inference", "training", calibration)[0][0]
    assert (trained.flops, trained.kernels) == (7.0, 3.0)


def test_channels_last_training_has_factors_of_its_own_where_they_differ() -> None:
    op = Op(kind="grouped", class_="convolution", flops=1.0)
    last = msgspec.structs.replace(op, layout="channels_last")
    usual, other = (to_stage((each,), "inference", "training")[0][0].flops or 0.0 for each in (op, last))
    assert other > usual


def test_a_compiler_saves_time_and_widens_the_range() -> None:
    eager, compiled = seconds(resnet_run(0.1)), seconds(resnet_run(0.1), compiled=True)
    assert 0.4 < compiled.mid / eager.mid < 1
    assert compiled.high / compiled.mid > eager.high / eager.mid


def test_channels_last_is_faster_for_convolutions_in_16_bits() -> None:
    footprint = resnet_run()
    last = tuple(msgspec.structs.replace(op, layout="nhwc") for op in footprint.ops)
    assert seconds(msgspec.structs.replace(footprint, ops=last)).mid < seconds(footprint).mid


def test_a_dry_run_in_float32_says_about_the_same_as_one_under_autocast() -> None:
    mixed = seconds(resnet_run(), "rtx-4090")
    dry = seconds(resnet_run(mode="float32"), "rtx-4090", precision="float16")
    assert dry.mid == pytest.approx(mixed.mid, rel=0.25)


def test_runs_on_a_card_correct_what_is_predicted_for_it() -> None:
    from gpuscope.advisor.calibration.model import Bias

    job = job_of(resnet_run(0.1))
    plain = step_on_gpu(job, gpu("rtx-4090"))
    calibration = msgspec.structs.replace(job.calibration, bias={"rtx-4090": Bias(factor=1.2, spread=1.08, runs=6)})
    corrected = step_on_gpu(msgspec.structs.replace(job, calibration=calibration), gpu("rtx-4090"))
    assert plain.seconds is not None
    assert corrected.seconds is not None
    assert corrected.seconds.mid == pytest.approx(plain.seconds.mid * 1.2)
    assert corrected.seconds.high / corrected.seconds.mid == pytest.approx(1.08)
    assert corrected.confidence == "calibrated"
    assert "6 runs" in corrected.how
