"""How a job can be spread over the GPUs of one machine, and which way suits the memory."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.memory.memory_model import JobMemory, MemoryNeed, fits, memory_need
from gpuscope.domain.recommendation import Layout

_ORDER = {True: 0, None: 1, False: 2}


class Placement(NamedTuple):
    """A layout with the memory that it needs on each GPU."""

    layout: Layout
    need: MemoryNeed
    fits: bool | None


def place(job: Job, memory: JobMemory, gpu: GpuSpec, count: int) -> Placement:
    """The simplest layout that fits surely; else the simplest that may fit; else the one that needs least."""
    available = available_bytes(job, gpu)
    placements = []
    for layout in _layouts(job, count):
        need = memory_need(memory, gpu, layout)
        placements.append(Placement(layout, need, fits(need, available)))
    return min(placements, key=lambda placement: (_ORDER[placement.fits], _least(placement)))


def available_bytes(job: Job, gpu: GpuSpec) -> int:
    """Memory of one GPU: what the driver said in the run where it is the same GPU, else what the vendor says."""
    if job.source_gpu is not None and job.source_gpu.id == gpu.id and job.footprint.devices:
        return job.footprint.devices[0].memory_bytes or gpu.memory_bytes
    return gpu.memory_bytes


def _layouts(job: Job, count: int) -> tuple[Layout, ...]:
    batch = job.footprint.workload.batch.per_device
    replicated = Layout(data_parallel=count, micro_batch=batch)
    if count == 1:
        return (replicated,)
    if job.stage == TRAINING:
        return replicated, Layout(data_parallel=count, zero_stage=3, micro_batch=batch)
    return replicated, Layout(tensor_parallel=count, micro_batch=batch)


def _least(placement: Placement) -> float:
    """Among layouts that do not fit the one that comes closest; among the others the order of `_layouts` decides."""
    return placement.need.surely_bytes if placement.fits is False else 0.0
