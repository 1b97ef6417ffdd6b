"""Serve a model that answers in one pass (pictures, encoders, tables): requests are worked through in batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import JobMemory, MemoryNeed, fits
from gpuscope.advisor.parallel.layouts import available_bytes
from gpuscope.advisor.parallel.memory import memory_need
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.serving.load import Load, load_of, load_trees
from gpuscope.advisor.serving.plan import ServingPlan, cannot
from gpuscope.advisor.serving.slices import Slice
from gpuscope.advisor.serving.targets import risks_of
from gpuscope.advisor.timing.rates import HOST_S_PER_KERNEL, KERNEL_LATENCY_S
from gpuscope.advisor.timing.time_model import StepTime, step_on_gpu
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Explanation, Layout
from gpuscope.domain.serving import Serving, ServingTarget
from gpuscope.domain.units import format_bytes, format_duration, format_duration_range

_MOST_BATCHES = 16
"""A batch up to this many times the run's: beyond it the step time was never seen to grow in proportion."""


class BatchTime(NamedTuple):
    """How the time of a step depends on its batch: the longer of the host's time and fixed + growing × batch."""

    host_s: float
    """Starting the operators from the host."""
    fixed_s: float
    """Starts of the kernels on the device."""
    growing_s: float
    """Of one request."""
    below: float
    """Factor from the middle to the low end."""
    above: float

    def seconds(self, batch: float) -> Range:
        """Of a step with so many requests."""
        mid = max(self.host_s, self.fixed_s + self.growing_s * batch)
        return Range(low=mid * self.below, mid=mid, high=mid * self.above)


def gpu_batch_time(job: Job, single: StepTime) -> BatchTime | None:
    """From the step on a GPU at the run's batch; None where that is not known. A service waits for no data loader."""
    low, usual, _ = HOST_S_PER_KERNEL
    each = low if job.footprint.workload.compiled else usual
    return _batch_time(job, single, job.kernels * each, KERNEL_LATENCY_S)


def cpu_batch_time(job: Job, single: StepTime, operator_s: float) -> BatchTime | None:
    """The same on a CPU, where the fixed time of an operator is that of its dispatch."""
    return _batch_time(job, single, 0.0, operator_s)


def _batch_time(job: Job, single: StepTime, host_s: float, kernel_s: float) -> BatchTime | None:
    step, device_s = single.seconds, single.device_s
    if step is None or device_s is None:
        return None
    fixed = min(job.kernels * kernel_s, device_s)
    growing = (device_s - fixed) / run_batch(job)
    return BatchTime(host_s, fixed, growing, step.low / step.mid, step.high / step.mid)


def run_batch(job: Job) -> float:
    """Requests in a step of the run; one where that is not known."""
    return job.footprint.workload.batch.per_device or 1.0


def serve_batches(
    job: Job, memory: JobMemory, gpu: GpuSpec, topology: Topology, target: ServingTarget, part: Slice | None
) -> ServingPlan:
    """Copies on single GPUs, each with the largest batch that keeps the latency and the memory."""
    single = step_on_gpu(job, gpu)
    time = gpu_batch_time(job, single)
    if time is None:
        return cannot(f"its step time on {gpu.name} is not known: {single.how}")
    have = available_bytes(job, gpu)
    base = run_batch(job)

    def need_at(batch: float) -> MemoryNeed:
        return memory_need(_with_batch(memory, batch / base), gpu, Layout())

    batch = largest_batch_of(time, target, lambda size: fits(need_at(size), have) is not False, base)
    need = need_at(batch)
    fit = fits(need, have)
    if fit is False:
        words = f"it needs at least {format_bytes(need.surely_bytes)}, it has {format_bytes(have)}"
        return cannot(words, fits=False, need=need)
    return batches_plan(time, batch, target, need, fit, topology.gpus, part, f"{gpu.name}: {single.how}")


def batches_plan(
    time: BatchTime,
    batch: float,
    target: ServingTarget,
    need: MemoryNeed | None,
    fit: bool | None,
    here: int | None,
    part: Slice | None,
    how: str,
) -> ServingPlan:
    """The plan with a given batch."""
    latency = time.seconds(batch)
    load = load_of(target, batch, latency.mid, here)
    missed = [load.missed] if load.missed else []
    if target.latency_s is not None and latency.mid > target.latency_s:
        missed.append(
            f"a batch of {batch:g} takes {format_duration_range(latency)}, {latency.mid / target.latency_s:.2g} times "
            f"the {format_duration(target.latency_s)} wanted"
        )
    done = load.replicas * batch
    serving = Serving(
        replicas=load.replicas,
        concurrent_per_replica=batch,
        latency_s=latency,
        requests_per_second=Range(low=done / latency.high, mid=done / latency.mid, high=done / latency.low),
        gpu_share=None if part is None else part.compute_share,
        replica_hours_per_day=load.replica_hours,
        replicas_by_hour=load.by_hour,
        autoscaling_saving_share=load.saving_share,
    )
    return ServingPlan(
        serving=serving,
        layout=Layout(data_parallel=here or load.replicas),
        need=need,
        fits=fit,
        missed=tuple(missed),
        risks=() if missed else risks_of(serving, target),
        gpus_needed=load.replicas if part is None else load.replicas * part.compute_share,
        explain=lambda: _explained(time, serving, load, how),
        utilisation=load.utilisation,
    )


def _explained(time: BatchTime, serving: Serving, load: Load, how: str) -> Explanation:
    assert serving.latency_s is not None
    host, fixed, growing = (format_duration(each) for each in (time.host_s, time.fixed_s, time.growing_s))
    latency = Explanation(
        name="Latency of a batch",
        value=format_duration_range(serving.latency_s),
        formula=f"the longer of {host} of the host and {fixed} of starts + {growing} × requests",
        provenance=how,
    )
    return Explanation(
        name="Serving",
        value=f"{serving.replicas} × batches of {serving.concurrent_per_replica:g}",
        formula="rate = copies × batch ÷ latency",
        provenance="derived",
        inputs=(latency, *load_trees(load)),
    )


def largest_batch_of(time: BatchTime, target: ServingTarget, fits_at: Callable[[float], bool], base: float) -> float:
    """The largest batch, doubling from one request, that keeps the latency and the memory; one where none does.

    Without a latency target it is the run's own batch, where that fits: a larger one was never seen to work.
    """
    most = base if target.latency_s is None else base * _MOST_BATCHES
    best = 1.0
    for power in range(math.floor(math.log2(max(1.0, most))) + 1):
        batch = 2.0**power
        late = target.latency_s is not None and time.seconds(batch).mid > target.latency_s
        if late or not fits_at(batch):
            break
        best = batch
    return best


def _with_batch(memory: JobMemory, share: float) -> JobMemory:
    """Activations grow with the batch, and a larger one has not been seen to fit."""
    memory = memory._replace(room=memory.room if share <= 1 else None)
    if memory.activations is None:
        return memory
    return memory._replace(activations=memory.activations.scaled(max(1.0, share) if memory.holds_all else share))
