"""What must hold for any job on any GPU."""

from __future__ import annotations

import math

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.timing.time_model import step_on_cpu, step_on_gpu
from gpuscope.domain.footprint import FootprintDevice, Op, Steps, StepTime
from tests.unit.advisor.timing.timing_jobs import dry_run, gpu, job_of, shipped_catalogue

KINDS = {
    "conv_kxk": "convolution", "conv_1x1": "convolution", "grouped": "convolution", "gemm": "gemm", "rnn": "gemm",
    "depthwise": "depthwise_convolution", "attention": "attention", "batch_norm": "normalization",
    "layer_norm_backward": "normalization", "elementwise_backward": "elementwise", "elementwise": "elementwise",
    "softmax": "reduction", "copy": "copy", "optimizer": "optimizer", "never_seen": "other",
}  # fmt: skip

figures = st.one_of(st.none(), st.floats(0, 1e15))
widths = st.one_of(st.none(), st.integers(0, 100_000))


@st.composite
def operators(draw: st.DrawFn) -> Op:
    kind = draw(st.sampled_from(sorted(KINDS)))
    return Op(
        kind=kind, class_=KINDS[kind], dtype="float32", flops=draw(figures), bytes_read=draw(figures),
        bytes_written=draw(figures), kernels=draw(st.one_of(st.none(), st.floats(0, 1e6))), n=draw(widths),
        k=draw(widths), layout=draw(st.sampled_from([None, "nhwc", "nchw", "?"])), time_s=draw(figures),
    )  # fmt: skip


def better(spec: GpuSpec, times: tuple[float, ...]) -> GpuSpec:
    """The same GPU with every rate faster by a factor of its own."""
    fields = (
        "fp32_tflops", "tf32_tensor_tflops", "fp16_tensor_tflops", "bf16_tensor_tflops", "memory_bandwidth_gbs",
        "tdp_w",
    )  # fmt: skip
    known = [(name, getattr(spec, name)) for name in fields]
    faster = {name: value * by for (name, value), by in zip(known, times, strict=True) if value is not None}
    return msgspec.structs.replace(spec, id="better", **faster)


@settings(max_examples=30, deadline=None)
@given(
    ops=st.lists(operators(), min_size=1, max_size=6),
    base=st.sampled_from(["rtx-4090", "t4", "l4", "gtx-1650-gddr5", "mi300x"]),
    times=st.tuples(*[st.floats(1, 20)] * 6),
    precision=st.sampled_from(["float32", "tf32", "float16"]),
    compiled=st.booleans(),
)
def test_a_gpu_that_is_better_in_everything_is_never_slower(
    ops: list[Op], base: str, times: tuple[float, ...], precision: str, compiled: bool
) -> None:
    job = job_of(dry_run(tuple(ops), 10**7), precision=precision, compiled=compiled)
    plain = msgspec.structs.replace(gpu(base), id="plain")
    slow, fast = step_on_gpu(job, plain).seconds, step_on_gpu(job, better(plain, times)).seconds
    assume(slow is not None and fast is not None)
    assert slow is not None
    assert fast is not None
    assert fast.mid <= slow.mid * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(
    ops=st.lists(operators(), max_size=5),
    step_s=st.one_of(st.none(), st.floats(0, 1e12)),
    source=st.sampled_from([None, "rtx-3090", "unheard-of"]),
    target=st.sampled_from(["rtx-3090", "h100-sxm5-80gb", "mi300x", "gaudi-3"]),
    stage=st.sampled_from(["training", "inference"]),
    wanted=st.sampled_from(["training", "inference"]),
    precision=st.sampled_from(["float32", "tf32", "float16", "bfloat16", "int8"]),
    compiled=st.booleans(),
)
def test_whatever_is_in_a_footprint_the_answer_is_a_range_or_a_sentence(
    ops: list[Op], step_s: float | None, source: str | None, target: str, stage: str, wanted: str, precision: str,
    compiled: bool,
) -> None:  # fmt: skip
    footprint = msgspec.structs.replace(
        dry_run(tuple(ops), 10**7, stage=stage),
        devices=(FootprintDevice(gpu=source),) if source else (),
        steps=Steps(time_s=StepTime(p50=step_s)),
    )
    job = job_of(footprint, stage=wanted, precision=precision, compiled=compiled)
    spec = shipped_catalogue().gpu(target)
    steps = [step_on_gpu(job, spec)] if spec is not None else []
    steps.append(step_on_cpu(job, shipped_catalogue().cpu("core-i5-9400"), None))
    for step in steps:
        assert step.how
        if step.seconds is not None:
            assert 0 < step.seconds.low <= step.seconds.mid <= step.seconds.high
            assert math.isfinite(step.seconds.high)


@settings(max_examples=30, deadline=None)
@given(ops=st.lists(operators(), min_size=1, max_size=6), step_s=st.floats(1e-4, 10))
def test_a_run_that_took_twice_as_long_takes_at_most_twice_as_long_elsewhere(ops: list[Op], step_s: float) -> None:
    def predicted(seconds: float) -> float:
        footprint = msgspec.structs.replace(
            dry_run(tuple(msgspec.structs.replace(op, time_s=None) for op in ops), 10**7),
            devices=(FootprintDevice(gpu="rtx-3090"),),
            steps=Steps(time_s=StepTime(p50=seconds)),
        )
        found = step_on_gpu(job_of(footprint), gpu("rtx-4090")).seconds
        assert found is not None
        return found.mid

    assert predicted(2 * step_s) <= 2 * predicted(step_s) * (1 + 1e-6)
