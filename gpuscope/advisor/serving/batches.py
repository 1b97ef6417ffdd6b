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
from gpuscope.advisor.serving.load_curve import over_the_day
from gpuscope.advisor.serving.plan import ServingPlan, cannot
from gpuscope.advisor.serving.replicas import demand
from gpuscope.advisor.serving.slices import Slice
from gpuscope.advisor.timing.time_model import StepTime, step_on_gpu
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Explanation, Layout
from gpuscope.domain.serving import Serving, ServingTarget
from gpuscope.domain.units import format_bytes, format_duration_range

_MOST_BATCHES = 16
"""A batch up to this many times the run's: beyond it the step time was never seen to grow in proportion."""


class BatchTime(NamedTuple):
    """How the time of a step depends on its batch: fixed + share × batch; a range each."""

    fixed_s: float
    """Starting the kernels, whatever the batch."""
    step: Range
    batch: float
    """Of `step`."""

    def seconds(self, batch: float) -> Range:
        """Of a step with so many requests."""
        return Range(
            low=self._one(self.step.low, batch),
            mid=self._one(self.step.mid, batch),
            high=self._one(self.step.high, batch),
        )

    def _one(self, seconds: float, batch: float) -> float:
        fixed = min(self.fixed_s, seconds)
        return fixed + (seconds - fixed) * batch / self.batch


def batch_time(job: Job, single: StepTime) -> BatchTime | None:
    """From the step at the run's batch: launching kernels takes the same for any batch, the rest grows with it."""
    if single.seconds is None:
        return None
    fixed = job.kernels * _START_S
    return BatchTime(fixed, single.seconds, run_batch(job))


_START_S = 3e-6
"""Fixed time of a kernel on the device (fitted, see `timing.rates`)."""


def run_batch(job: Job) -> float:
    """Requests in a step of the run; one where that is not known."""
    return job.footprint.workload.batch.per_device or 1.0


def serve_batches(
    job: Job, memory: JobMemory, gpu: GpuSpec, topology: Topology, target: ServingTarget, part: Slice | None
) -> ServingPlan:
    """Copies on single GPUs, each with the largest batch that keeps the latency and the memory."""
    time = batch_time(job, step_on_gpu(job, gpu))
    if time is None:
        return cannot(f"its step time on {gpu.name} is not known: {step_on_gpu(job, gpu).how}")
    have = available_bytes(job, gpu)
    base = run_batch(job)

    def need_at(batch: float) -> MemoryNeed:
        return memory_need(_with_batch(memory, batch / base), gpu, Layout())

    batch = _largest(time, target, lambda size: fits(need_at(size), have) is not False, base)
    need = need_at(batch)
    fit = fits(need, have)
    if fit is False:
        words = f"it needs at least {format_bytes(need.surely_bytes)}, it has {format_bytes(have)}"
        return cannot(words, fits=False, need=need)
    return batches_plan(time, batch, target, need, fit, topology.gpus, part, f"{gpu.name}: step of the time model")


def batches_plan(
    time: BatchTime,
    batch: float,
    target: ServingTarget,
    need: MemoryNeed | None,
    fit: bool | None,
    here: int,
    part: Slice | None,
    how: str,
) -> ServingPlan:
    """The plan with a given batch."""
    latency = time.seconds(batch)
    wanted = demand(target, batch, latency.mid)
    replicas = wanted.replicas if wanted is not None else here
    missed = []
    if target.latency_s is not None and latency.mid > target.latency_s:
        missed.append(
            f"a batch of {batch:g} takes {format_duration_range(latency)}, {latency.mid / target.latency_s:.2g} times "
            "what is wanted"
        )
    if wanted is not None and replicas > here and part is None:
        missed.append(f"the load needs {replicas} copies and there is room for {here}: {wanted.how}")

    def replicas_at(load_share: float) -> int:
        there = demand(target, batch, latency.mid, load_share)
        return 1 if there is None else there.replicas

    curve = over_the_day(target.hourly_load, replicas_at) if wanted is not None else None
    done = replicas * batch
    serving = Serving(
        replicas=replicas,
        concurrent_per_replica=batch,
        latency_s=latency,
        requests_per_second=Range(low=done / latency.high, mid=done / latency.mid, high=done / latency.low),
        gpu_share=None if part is None else part.compute_share,
        replica_hours_per_day=None if curve is None else curve.replica_hours,
        replicas_by_hour=() if curve is None else curve.replicas_by_hour,
        autoscaling_saving_share=None if curve is None else curve.saving_share,
    )
    tree = Explanation(
        name="Serving",
        value=f"{replicas} × batches of {batch:g}, {format_duration_range(latency)} each",
        formula="latency = starts + (step − starts) × batch ÷ the run's batch; rate = copies × batch ÷ latency",
        provenance=how,
    )
    return ServingPlan(
        serving=serving,
        layout=Layout(data_parallel=here),
        need=need,
        fits=fit,
        missed=tuple(missed),
        gpus_needed=replicas if part is None else replicas * part.compute_share,
        explanation=tree,
        utilisation=None if wanted is None else min(1.0, wanted.slots / done),
    )


def _largest(time: BatchTime, target: ServingTarget, fits_at: Callable[[float], bool], base: float) -> float:
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
    """Activations grow with the batch."""
    if memory.activations is None:
        return memory
    return memory._replace(activations=memory.activations.scaled(share))
