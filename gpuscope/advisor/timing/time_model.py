"""Step time of a job on a device that it may never have run on, as a range with its reasons.

Three ways, the surest first: the very measurement (same GPU, precision and stage); a transfer from a run on another
GPU; the operators' work on a roofline. Where none of them has what it needs, the answer is None and a sentence.
Waiting for the data loader belongs to the host and is kept, with a range for another host; launching kernels is the
host's too, and a step takes no less than that.
"""

from __future__ import annotations

import functools

from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing.device_rates import DeviceRates, cpu_rates, gpu_rates
from gpuscope.advisor.timing.model_kind import ANY, kind_of, step_flops
from gpuscope.advisor.timing.parts import host_part, model_part, transfer_parts
from gpuscope.advisor.timing.step import (
    CALIBRATED,
    MEASURED,
    NO_HOST,
    SPECIFICATION,
    HostTime,
    StepTime,
    assembled,
    change_doubts,
    unknown,
)
from gpuscope.advisor.timing.sustained import memory_unseen, power_capped
from gpuscope.advisor.timing.transfer import host_time, input_time, model_seconds, transfer
from gpuscope.advisor.timing.uncertainty import Doubt, combined, doubt
from gpuscope.advisor.timing.whole_step import whole_step_ratio
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Explanation

__all__ = ["CALIBRATED", "MEASURED", "SPECIFICATION", "StepTime", "at_hand", "step_on_cpu", "step_on_gpu"]


def step_on_gpu(job: Job, gpu: GpuSpec) -> StepTime:
    """One step on one GPU, at the run's batch size for each GPU."""
    if _is_the_measurement(job, gpu):
        return _measured(job)
    target = gpu_rates(gpu, job.precision, job.calibration)
    if target is None:
        return unknown(f"the catalogue lacks the rates of {gpu.name} in {job.precision}")
    if job.source_gpu is not None and job.ran:
        source = gpu_rates(job.source_gpu, job.source_precision, job.calibration)
        if source is not None and job.source_ops:
            return _transferred(job, source, target, gpu)
        if source is not None and not job.stage_changed:
            return _transferred_whole(job, job.source_gpu, gpu, target)
    if job.ops:
        return _from_work(job, target, gpu)
    if job.footprint.source.kind == "estimated":
        return unknown("without a batch size and sequence length the estimate holds no work")
    return unknown("neither a profile of its operators nor a run on a known GPU was recorded")


def step_on_cpu(job: Job, cpu: CpuSpec | None, cores: float | None) -> StepTime:
    """One step without GPU, always in float32: from a run on a known CPU, else from the work of the operators."""
    if cpu is None:
        return unknown("the CPU of this offer is not known")
    target = cpu_rates(cpu, cores, job.calibration)
    if target is None:
        return unknown(f"the catalogue lacks the rates of {cpu.name}")
    if not job.cpu_ops:
        return unknown("CPUs are compared only with a profile of the job's operators")
    device_s = model_seconds(job.cpu_ops, target, job, compiled=job.compiled)
    source = None
    if job.source_cpu is not None and not job.source_count and job.step_time_s is not None and job.source_ops:
        source = cpu_rates(job.source_cpu, job.footprint.host.cores, job.calibration)
    if source is None:
        how = f"work of the operators on the {target.how}"
        return assembled(job, device_s, NO_HOST, (doubt("no_cpu_run", job.calibration),), SPECIFICATION, how)
    assert job.step_time_s is not None
    ratio = device_s / max(model_seconds(job.source_ops, source, job, compiled=job.source_compiled), 1e-12)
    doubts = (doubt("cpu_to_cpu", job.calibration), *change_doubts(job))
    how = f"the run's {job.step_time_s.mid:.3g} s a step × {ratio:.2g} ({target.how})"
    return assembled(job, job.busy_s * ratio, NO_HOST, doubts, SPECIFICATION, how)


def at_hand(job: Job) -> StepTime:
    """One step on the machine where the job ran."""
    if job.step_time_s is None or job.changed:
        return unknown("it was not measured like this")
    return _measured(job)


def _is_the_measurement(job: Job, gpu: GpuSpec) -> bool:
    return (
        job.ran
        and job.source_gpu is not None
        and job.source_gpu.id == gpu.id
        and job.source_count == 1
        and not job.changed
    )


def _measured(job: Job) -> StepTime:
    step = job.step_time_s
    assert step is not None
    here = doubt("measured_here", job.calibration)
    factor = combined((here,))
    seconds = Range(low=min(step.low, step.mid / factor), mid=step.mid, high=max(step.high, step.mid * factor))
    return StepTime(seconds, job.busy_s, (here,), MEASURED, "measured in the run")


def _transferred(job: Job, source: DeviceRates, target: DeviceRates, gpu: GpuSpec) -> StepTime:
    """Measured time × model(target) / model(source)."""
    assert job.source_gpu is not None
    moved = transfer(job, source, target)
    if job.source_gpu.id == gpu.id:
        base = doubt("measured_here", job.calibration)
    else:
        base = doubt("gpu_to_gpu_rated" if source.rated and target.rated else "gpu_to_gpu", job.calibration)
    how = f"the run's operators on {job.source_gpu.name} × {moved.ratio:.2g} by rates ({target.how})"
    step = _on_gpu(job, moved.device_s, moved.host, base, gpu, target, how)
    return step._replace(unfold=functools.partial(transfer_parts, job, source, target, moved.own))


def _transferred_whole(job: Job, source: GpuSpec, gpu: GpuSpec, target: DeviceRates) -> StepTime:
    """The step × a ratio between those of computing and of bandwidth, by the kind of model that it is."""
    kind = kind_of(job.footprint)
    flops = step_flops(job.footprint)
    reached = flops / job.busy_s if flops and job.busy_s else None
    ratio = whole_step_ratio(kind, (source, job.source_precision), (gpu, job.precision), job.calibration, reached)
    if ratio is None:
        return unknown(f"the catalogue lacks the rates of {source.name} in {job.source_precision}")
    base = doubt("gpu_to_gpu_whole", job.calibration)
    mix = Doubt("how much of the step computes is not known", (ratio.high / ratio.low) ** 0.5)
    codes = {"unknown_workload": kind == ANY, "precision_change_whole": job.precision != job.source_precision}
    more = (mix, *(doubt(code, job.calibration) for code, applies in codes.items() if applies))
    how = f"the run's {job.busy_s:.3g} s on {source.name} × {ratio.how}, {target.how}"
    return _on_gpu(job, job.busy_s * ratio.mid, NO_HOST, base, gpu, target, how, more)


def _from_work(job: Job, target: DeviceRates, gpu: GpuSpec) -> StepTime:
    device_s = model_seconds(job.ops, target, job, compiled=job.compiled)
    host = host_time(job.ops, job, compiled=job.compiled).plus(input_time(job, gpu))
    how = f"work of the operators on {target.how}"
    base = doubt("no_gpu_run", job.calibration)
    more = () if target.rated else (doubt("specified_only", job.calibration),)
    step = _on_gpu(job, device_s, host, base, gpu, target, how, more)

    def unfold() -> tuple[Explanation, ...]:
        return model_part("Model of the GPU", job.ops, target, job, compiled=job.compiled), host_part(host)

    return step._replace(unfold=unfold)


def _on_gpu(
    job: Job,
    device_s: float,
    host: HostTime,
    base: Doubt,
    gpu: GpuSpec,
    target: DeviceRates,
    how: str,
    more: tuple[Doubt, ...] = (),
) -> StepTime:
    """The step with what runs on that very card said about predictions for it."""
    doubts = (base, *more, *change_doubts(job), *_doubts_of_the_card(job, gpu))
    confidence = CALIBRATED if target.rated else SPECIFICATION
    bias = job.calibration.bias.get(gpu.id)
    if bias is not None:
        device_s *= bias.factor
        said = f"predictions for this card were corrected by {bias.factor:.2f} from {bias.runs} runs on it"
        doubts, confidence, how = (Doubt(said, bias.spread), *change_doubts(job)), CALIBRATED, f"{how}; {said}"
    return assembled(job, device_s, host, doubts, confidence, how)


def _doubts_of_the_card(job: Job, gpu: GpuSpec) -> tuple[Doubt, ...]:
    if job.source_gpu is not None and job.source_gpu.id == gpu.id and job.ran:
        return ()
    codes = {
        "power_capped": power_capped(gpu, job.precision, job.calibration),
        "unseen_memory": memory_unseen(gpu, job.calibration),
        "other_vendor": gpu.vendor != "NVIDIA",
    }
    return tuple(doubt(code, job.calibration) for code, applies in codes.items() if applies)
