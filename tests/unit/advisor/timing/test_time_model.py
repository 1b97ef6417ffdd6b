"""Step time on one device: known answers and directions."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.advisor.timing.time_model import step_on_cpu, step_on_gpu
from gpuscope.advisor.timing.uncertainty import doubt
from gpuscope.domain.footprint import Op, Precision
from tests.unit.advisor.advisor_jobs import (
    cpu_footprint,
    gpu,
    gpu_footprint,
    job_of,
    known,
    ops,
    seconds,
    shipped,
    with_data_wait,
)


def test_roofline_is_no_faster_than_peak_and_bandwidth() -> None:
    spec = known("rtx-3090")
    flops = sum(op.flops or 0 for op in ops())
    moved = sum((op.bytes_read or 0) + (op.bytes_written or 0) for op in ops() if op.class_ != "optimizer")
    least = max(flops / 35.58e12, moved / 936.2e9)
    assert least < seconds(job_of(cpu_footprint()), spec).mid < 6 * least


def test_measured_run_on_that_very_gpu_is_the_answer() -> None:
    job = job_of(gpu_footprint("rtx-3090", 0.1))
    step = step_on_gpu(job, known("rtx-3090"))
    assert step.seconds is not None
    assert (step.confidence, step.seconds.mid) == ("measured", 0.1)
    assert step.seconds.high / step.seconds.low < 1.25


def test_transfer_between_gpus_is_bounded_by_their_specifications() -> None:
    job = job_of(gpu_footprint("rtx-3090", 0.1, ops=ops()))
    ratio = seconds(job, known("rtx-4090")).mid / 0.1
    assert 936.2 / 1008 > ratio > 35.58 / 82.58 * 0.9


def test_time_of_a_call_chain_moves_with_the_work_of_its_class() -> None:
    # cuDNN's kernels are timed at cudnn_convolution, the work is counted at convolution.
    timed = (
        msgspec.structs.replace(ops()[0], time_s=0.0),
        Op(kind="conv_kxk", class_="convolution", time_s=0.1, kernels=50),
    )
    job = job_of(gpu_footprint("rtx-3090", 0.1, ops=timed))
    assert seconds(job, known("rtx-4090")).mid < 0.08


def test_gpu_that_waited_for_the_host_will_wait_again() -> None:
    timed = tuple(msgspec.structs.replace(op, time_s=0.005) for op in ops())
    job = job_of(gpu_footprint("rtx-3090", 0.1, ops=timed))
    assert seconds(job, known("h100-sxm5-80gb")).mid == pytest.approx(0.1)


def test_only_specifications_leave_at_least_thirty_percent() -> None:
    with_ops = seconds(job_of(gpu_footprint("rtx-3090", 0.1, ops=ops())), known("a100-sxm4-80gb"))
    without = seconds(job_of(gpu_footprint("rtx-3090", 0.1)), known("a100-sxm4-80gb"))
    from_cpu = seconds(job_of(cpu_footprint()), known("a100-sxm4-80gb"))
    assert with_ops.high / with_ops.mid >= 1.3
    assert without.high / without.low > with_ops.high / with_ops.low
    assert from_cpu.high / from_cpu.mid >= 1.6


def test_changing_precision_widens_the_range() -> None:
    footprint = gpu_footprint("rtx-3090", 0.1, ops=ops())
    same, changed = (seconds(job_of(footprint, **limits), known("l40s")) for limits in ({}, {"precision": "bf16"}))
    assert changed.high / changed.mid > same.high / same.mid
    assert changed.mid < same.mid


def test_data_loader_wait_is_kept() -> None:
    plain, waiting = job_of(cpu_footprint()), job_of(with_data_wait(cpu_footprint(), 0.3))
    assert seconds(waiting, known("l4")).mid == pytest.approx(seconds(plain, known("l4")).mid + 0.3)


def test_loader_that_sets_the_pace_may_leave_no_gain() -> None:
    job = job_of(with_data_wait(gpu_footprint("t4", 1.0, ops=ops()), 0.8))
    assert seconds(job, known("h100-sxm5-80gb")).high >= 1.0


def test_small_jobs_are_bound_by_launching_kernels() -> None:
    footprint = cpu_footprint(ops=ops(1e-6))
    workload = msgspec.structs.replace(footprint.workload, trainable_parameters=1000)
    tiny = job_of(msgspec.structs.replace(footprint, workload=workload))
    slow, fast = seconds(tiny, known("t4")), seconds(tiny, known("h100-sxm5-80gb"))
    assert fast.mid > 0.5 * slow.mid


def test_without_operators_a_cpu_run_tells_no_gpu_time() -> None:
    step = step_on_gpu(job_of(cpu_footprint(ops=())), known("l4"))
    assert step.seconds is None
    assert "profile" in step.how


def test_unknown_gpu_lends_nobody_its_speed() -> None:
    job = job_of(gpu_footprint("mystery-9000"))
    assert job.source_gpu is None
    assert step_on_gpu(job, known("l4")).seconds is None
    assert any("does not know the GPU" in note for note in job.assumptions)


def test_missing_rates_are_unknown() -> None:
    step = step_on_gpu(job_of(cpu_footprint()), gpu(fp32_tflops=None))
    assert step.seconds is None
    assert "lacks the rates" in step.how


def test_inference_is_faster_than_training() -> None:
    training, inference = job_of(cpu_footprint()), job_of(cpu_footprint(), stage="inference")
    assert seconds(inference, known("l4")).mid < 0.5 * seconds(training, known("l4")).mid


def test_other_cpu_is_transferred_and_slower_with_fewer_cores() -> None:
    job, cpu = job_of(cpu_footprint()), shipped().cpu("xeon-8375c")
    whole, quarter = step_on_cpu(job, cpu, 32).seconds, step_on_cpu(job, cpu, 8).seconds
    assert whole is not None
    assert quarter is not None
    assert whole.mid < 2.0 < quarter.mid
    assert step_on_cpu(job, None, 8).seconds is None


def test_eight_bits_that_nobody_ran_are_a_doubt_of_their_own() -> None:
    ran = gpu_footprint("h100-sxm5-80gb", ops=ops())
    workload = msgspec.structs.replace(ran.workload, precision=Precision(compute="float8", parameters="float32"))
    wanted, kept = job_of(ran, precision="float8"), job_of(msgspec.structs.replace(ran, workload=workload))
    of_wanted, of_kept = (step_on_gpu(job, known("h200-sxm5-141gb")).doubts for job in (wanted, kept))
    assert doubt("eight_bit") in of_wanted
    assert doubt("eight_bit") not in of_kept
