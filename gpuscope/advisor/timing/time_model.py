"""Step time of a job on a device that it may never have run on, as a range with its reasons.

Three ways, the surest first: the very measurement (same GPU, precision and stage); a transfer from a run on another
GPU; the operators' work on a roofline. Where none of them has what it needs, the answer is None and a sentence.
Waiting for the data loader belongs to the host and is kept, with a range for another host; launching kernels is the
host's too, and a step takes no less than that.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.job.precision import convolution_peak_tflops, matrix_peak_tflops
from gpuscope.advisor.timing import rates
from gpuscope.advisor.timing.roofline import DeviceRates, byte_scale, cpu_rates, gpu_rates, op_seconds, ops_seconds
from gpuscope.advisor.timing.uncertainty import (
    CPU_TO_CPU,
    GPU_TO_GPU,
    GPU_TO_GPU_WHOLE,
    MEASURED_HERE,
    NO_GPU_RUN,
    PRECISION_CHANGE,
    STAGE_CHANGE,
    Doubt,
    combined,
)
from gpuscope.domain.base import Range

MEASURED, SPECIFICATION = "measured", "specification"

# A data loader that takes this share of a step may be what sets the pace; a faster GPU then gains nothing.
LOADER_SHARE = 0.2
# Loading data is work of the host's CPU, which is another one where the GPU is another one.
OTHER_LOADER = CPU_TO_CPU.factor


class StepTime(NamedTuple):
    """A predicted step of one device."""

    seconds: Range | None
    device_s: float | None
    """Device part of `seconds.mid`."""
    doubts: tuple[Doubt, ...]
    confidence: str
    how: str
    """One sentence: where the number comes from, or why there is none."""


def step_on_gpu(job: Job, gpu: GpuSpec) -> StepTime:
    """One step on one GPU, at the run's batch size for each GPU."""
    if _is_the_measurement(job, gpu):
        return _measured(job)
    target = gpu_rates(gpu, job.precision)
    if target is None:
        return _unknown(f"the catalogue lacks the rates of {gpu.name} in {job.precision}")
    if job.source_gpu is not None and job.ran:
        source = gpu_rates(job.source_gpu, job.source_precision)
        if source is not None and job.ops and not job.stage_changed:
            return _transferred(job, source, target)
        if source is not None and not job.stage_changed:
            return _transferred_whole(job, job.source_gpu, gpu)
    if job.ops:
        return _from_work(job, target)
    if job.footprint.source.kind == "estimated":
        return _unknown("without a batch size and sequence length the estimate holds no work")
    return _unknown("neither a profile of its operators nor a run on a known GPU was recorded")


def step_on_cpu(job: Job, cpu: CpuSpec | None, cores: float | None) -> StepTime:
    """One step on a machine without GPU, from the run on a known CPU; always in float32."""
    if cpu is None:
        return _unknown("the CPU of this offer is not known")
    target = cpu_rates(cpu, cores)
    source = cpu_rates(job.source_cpu, job.footprint.host.cores) if job.source_cpu is not None else None
    if target is None:
        return _unknown(f"the catalogue lacks the rates of {cpu.name}")
    if source is None or not job.ops or job.step_time_s is None or job.source_count:
        return _unknown("CPUs are compared only with a profiled run on a CPU that the catalogue knows")
    ratio = _cpu_seconds(job, target) / max(_cpu_seconds(job, source), 1e-12)
    mid = job.busy_s * ratio
    return _assembled(job, mid, (0.0, 0.0, 0.0), (CPU_TO_CPU, *_stage_doubt(job)), SPECIFICATION, (
        f"the run's {job.step_time_s.mid:.3g} s a step × {ratio:.2g} ({target.how})"
    ))  # fmt: skip


def at_hand(job: Job) -> StepTime:
    """One step on the machine where the job ran."""
    if job.step_time_s is None or job.stage_changed or job.precision != job.source_precision:
        return _unknown("it was not measured like this")
    return _measured(job)


def _is_the_measurement(job: Job, gpu: GpuSpec) -> bool:
    return (
        job.ran
        and job.source_gpu is not None
        and job.source_gpu.id == gpu.id
        and job.source_count == 1
        and job.precision == job.source_precision
        and not job.stage_changed
    )


def _measured(job: Job) -> StepTime:
    step = job.step_time_s
    assert step is not None
    factor = combined((MEASURED_HERE,))
    seconds = Range(low=min(step.low, step.mid / factor), mid=step.mid, high=max(step.high, step.mid * factor))
    return StepTime(seconds, job.busy_s, (MEASURED_HERE,), MEASURED, "measured in the run")


def _transferred(job: Job, source: DeviceRates, target: DeviceRates) -> StepTime:
    """Measured device time of each operator class × model(target) / model(source)."""
    assert job.source_gpu is not None
    step_s = job.busy_s
    busy_s, ratio = _class_ratio(job, source, target)
    device_s = (min(busy_s, step_s) if busy_s else step_s) * ratio
    # A GPU that waited in the run for the host will wait again: the step takes no less than the host took.
    waited = busy_s and step_s - busy_s > LOADER_SHARE * step_s
    host_s = step_s if waited else 0.0
    doubts = (GPU_TO_GPU, *_precision_doubt(job))
    how = f"the run's operators on {job.source_gpu.name} × {ratio:.2g} by rates ({target.how})"
    return _assembled(job, device_s, (host_s * 0.5, host_s, host_s * 1.2), doubts, SPECIFICATION, how)


def _class_ratio(job: Job, source: DeviceRates, target: DeviceRates) -> tuple[float, float]:
    """Device time that the run's profile measured (0: none), and by what factor it changes on the target.

    The time of a class may lie on other operators of a call chain than its work, so they are brought together by class.
    Time of operators without any modelled work changes like the rest.
    """
    modelled_source: dict[str, float] = defaultdict(float)
    modelled_target: dict[str, float] = defaultdict(float)
    measured: dict[str, float] = defaultdict(float)
    for op in job.ops:
        group = "convolution" if "convolution" in op.class_ else op.class_
        modelled_source[group] += op_seconds(op, source)
        modelled_target[group] += op_seconds(op, target, byte_scale(op, job.source_precision, job.precision))
        measured[group] += op.time_s or 0.0
    whole = sum(modelled_target.values()) / max(sum(modelled_source.values()), 1e-12)
    if not job.device_time_known:
        return 0.0, whole
    known = [group for group, seconds in measured.items() if seconds > 0 and modelled_source[group] > 0]
    before = sum(measured[group] for group in known)
    if not before:
        return 0.0, whole
    after = sum(measured[group] * modelled_target[group] / modelled_source[group] for group in known)
    return sum(measured.values()), after / before


def _transferred_whole(job: Job, source: GpuSpec, target: GpuSpec) -> StepTime:
    """The step × a ratio between those of computing and of bandwidth, for nobody knows which one binds."""
    ratios = [
        (source.memory_bandwidth_gbs or 0.0) / (target.memory_bandwidth_gbs or 1.0),
        (matrix_peak_tflops(source, job.source_precision) or 0.0) / (matrix_peak_tflops(target, job.precision) or 1.0),
        (convolution_peak_tflops(source, job.source_precision) or 0.0)
        / (convolution_peak_tflops(target, job.precision) or 1.0),
    ]
    low, high = min(ratios), max(ratios)
    mid = (low * high) ** 0.5
    step_s = job.busy_s
    doubts = (GPU_TO_GPU_WHOLE, Doubt("computing or bandwidth may bind", (high / low) ** 0.5), *_precision_doubt(job))
    how = f"the run's {step_s:.3g} s on {source.name} × {mid:.2g} ({low:.2g} to {high:.2g} by specifications)"
    return _assembled(job, step_s * mid, (0.0, 0.0, 0.0), doubts, SPECIFICATION, how)


def _from_work(job: Job, target: DeviceRates) -> StepTime:
    device_s = ops_seconds(job.ops, target, job.source_precision, job.precision)
    low, usual, high = (job.kernels * each for each in rates.HOST_S_PER_KERNEL)
    doubts = (NO_GPU_RUN, *_stage_doubt(job))
    return _assembled(
        job, device_s, (low, usual, high), doubts, SPECIFICATION, f"work of the operators at {target.how}"
    )


def _assembled(
    job: Job, device_s: float, host_s: tuple[float, float, float], doubts: tuple[Doubt, ...], confidence: str, how: str
) -> StepTime:
    """Device and host overlap, so the longer one counts; waiting for data comes on top, and may set the pace."""
    factor = combined(doubts)
    wait = job.data_wait_s
    device_s = max(device_s, rates.KERNEL_LATENCY_S)
    low = max(device_s / factor, host_s[0]) + wait / OTHER_LOADER
    mid = max(device_s, host_s[1]) + wait
    high = max(device_s * factor, host_s[2]) + wait * OTHER_LOADER
    if host_s[1] > device_s:
        how += "; launching kernels from the host sets the pace, not the GPU"
    if wait:
        how += f"; {wait:.2g} s of waiting for data, ×/÷ {OTHER_LOADER:g} on another host"
    if job.step_time_s is not None and wait > LOADER_SHARE * job.step_time_s.mid:
        high = max(high, job.step_time_s.mid)
        how += "; the data loader may set the pace"
    return StepTime(Range(low=low, mid=mid, high=high), device_s, doubts, confidence, how)


def _cpu_seconds(job: Job, device: DeviceRates) -> float:
    return ops_seconds(job.ops, device, job.source_precision, job.source_precision)


def _precision_doubt(job: Job) -> tuple[Doubt, ...]:
    changed = (PRECISION_CHANGE,) if job.precision != job.source_precision else ()
    return changed + _stage_doubt(job)


def _stage_doubt(job: Job) -> tuple[Doubt, ...]:
    return (STAGE_CHANGE,) if job.stage_changed and job.stage == TRAINING else ()


def _unknown(why: str) -> StepTime:
    return StepTime(None, None, (), SPECIFICATION, why)
