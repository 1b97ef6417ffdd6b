"""Find the layout that a number of GPUs should use: the fastest of those that fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.memory.context_memory import context_bytes
from gpuscope.advisor.memory.memory_model import FITS, MAY_FIT, TOO_LARGE, JobMemory, MemoryNeed, fits
from gpuscope.advisor.parallel.device import element_bytes_of
from gpuscope.advisor.parallel.explain import Details, passed_over
from gpuscope.advisor.parallel.inference import plan_inference
from gpuscope.advisor.parallel.layouts import available_bytes
from gpuscope.advisor.parallel.memory import Needs, Run, needs_of
from gpuscope.advisor.parallel.scaling import Scaled, spread_doubts, step_range
from gpuscope.advisor.parallel.subject import Subject, subject_of
from gpuscope.advisor.parallel.table import table_of
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.parallel.training import Answer, answer, modelled_how, modelled_step
from gpuscope.advisor.timing.rates import KERNEL_LATENCY_S
from gpuscope.advisor.timing.time_model import StepTime
from gpuscope.domain.recommendation import Layout

_AS_FAST, _AS_GOOD = 1.03, 1.005
"""Factors up to which steps count as equally fast, and as equally fast without hidden messages."""
_SHARDED_PARAMETERS = 3


class Plan(NamedTuple):
    """A layout with what it needs and how long its step takes."""

    layout: Layout
    need: MemoryNeed
    fits: bool | None
    scaled: Scaled

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Other kinds of layouts, and why not: a sentence each."""
        return passed_over(self.scaled.details) if self.scaled.details is not None else ()


def plan(
    job: Job,
    memory: JobMemory,
    gpu: GpuSpec,
    topology: Topology,
    single: StepTime,
    *,
    keep_global_batch: bool = False,
) -> Plan:
    """The fastest layout that surely fits; else the fastest that may fit; else the one that needs least memory.

    Args:
        job: what has to be done.
        memory: its parts, from `job_memory`.
        gpu: which GPU.
        topology: how many of them, and how they are connected.
        single: a step on one of them, from `step_on_gpu`.
        keep_global_batch: strong scaling, the GPUs share the run's batch; else each keeps its own (weak scaling).
    """
    if job.stage != TRAINING:
        layout, need, scaled = plan_inference(job, memory, gpu, topology, single)
        return Plan(layout, need, fits(need, available_bytes(job, gpu)), scaled)
    subject = subject_of(job, memory, timed=single.seconds is not None)
    found = answer(subject, gpu, topology, single, keep_global_batch=keep_global_batch)
    if found is None:
        return _unshared(subject, gpu, topology)
    available = available_bytes(job, gpu)
    states = _states(found.needs, gpu, available)
    index = _best(found, states)
    need = found.needs.of(index, gpu)
    basis = modelled_how(subject, gpu) if subject.modelled else single.how
    details = Details(
        found.table, found.steps, found.needs, states, index, found.fabric, basis, subject.shape is not None
    )
    scaled = _scaled(subject, gpu, topology, single, found, details)
    return Plan(_shown(subject, found, index), need, fits(need, available), scaled)


def _states(needs: Needs, gpu: GpuSpec, available: int) -> Any:
    """For each layout `FITS`, `MAY_FIT` or `TOO_LARGE`."""
    import numpy as np

    context, _ = context_bytes(gpu)
    high = np.minimum(needs.high + context.high, needs.most) if needs.known else needs.most
    states = np.where(high <= available, FITS, MAY_FIT)
    if needs.known:
        low = np.minimum(needs.low + context.low, needs.most)
        states = np.where(low > available, TOO_LARGE, states)
    return np.where(needs.least + context.low > available, TOO_LARGE, states)


def _best(found: Answer, states: Any) -> int:
    """Index of the best layout.

    Of nearly equally fast ones that which takes least if no message were hidden behind computing; of those equal in
    that, too, the first, which is the simplest.
    """
    import numpy as np

    best = int(np.min(states))
    if best == TOO_LARGE:
        return int(np.argmin(found.needs.low if found.needs.known else found.needs.least))
    candidates = np.flatnonzero(states == best)
    if found.steps is None:
        return int(candidates[0])
    steps = found.steps
    seconds = steps.seconds[candidates]
    candidates = candidates[seconds <= float(np.min(seconds)) * _AS_FAST]
    unhidden = (steps.seconds + steps.messages_s - steps.exposed_s)[candidates]
    return int(candidates[np.flatnonzero(unhidden <= float(np.min(unhidden)) * _AS_GOOD)[0]])


def _shown(subject: Subject, found: Answer, index: int) -> Layout:
    layout = found.table.layout(index)
    return layout if subject.batch.known else msgspec.structs.replace(layout, micro_batch=None)


def _scaled(
    subject: Subject, gpu: GpuSpec, topology: Topology, single: StepTime, found: Answer, details: Details
) -> Scaled:
    job, steps, index = subject.job, found.steps, details.row
    if steps is None or (single.seconds is None and not subject.modelled):
        why = single.how if single.seconds is None else "the bytes of its gradients are not known"
        return Scaled(None, found.batches, 0.0, 0.0, why, "", details)
    seconds = float(steps.seconds[index])
    mid = max(seconds, KERNEL_LATENCY_S) + job.data_wait_s * found.batches / topology.gpus
    sharded = float(found.table.zero[index]) >= _SHARDED_PARAMETERS
    messages, exposed = float(steps.messages_s[index]), float(steps.exposed_s[index])
    doubts = spread_doubts(
        topology,
        job.calibration,
        sharded=sharded,
        shape_known=subject.shape is not None,
        modelled=subject.modelled,
        exposed_share=exposed / seconds if seconds else 0.0,
    )
    basis = modelled_step(subject, gpu, mid, details.basis) if subject.modelled else single
    range_ = step_range(job, basis, mid, max(0.0, messages - exposed), doubts, topology.gpus_per_node)
    how = basis.how
    if messages:
        how += f"; {messages:.2g} s of messages over {_links(topology)}, {exposed:.2g} s of it not hidden"
    return Scaled(range_, found.batches, messages, exposed, how, found.fabric.how if messages else "", details)


def _links(topology: Topology) -> str:
    return " and ".join(link.name for link in (topology.intra, topology.inter) if link is not None)


def _unshared(subject: Subject, gpu: GpuSpec, topology: Topology) -> Plan:
    """More GPUs than the run's batch has samples: nothing to be timed."""
    batch, gpus = subject.batch, topology.gpus
    samples = batch.step * batch.replicas
    why = f"the run's batch of {samples:g} samples cannot be shared by {gpus} GPUs"
    layout = Layout(data_parallel=gpus, micro_batch=batch.micro if batch.known else None)
    table = table_of([layout], batch.micro)
    micro = batch.micro if batch.known else None
    run = Run(micro, subject.checkpointed, element_bytes_of(subject.job.precision))
    needs = needs_of(subject.memory, table, subject.shape, run.micro_batch, training=True, ran=run)
    need = needs.of(0, gpu)
    return Plan(layout, need, fits=False, scaled=Scaled(None, batch.replicas, 0.0, 0.0, why))
