"""Inference of jobs that are not served by the token: replicas, or layers split over the GPUs of a machine."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import JobMemory, MemoryNeed, fit_rank, fits
from gpuscope.advisor.parallel.layouts import available_bytes
from gpuscope.advisor.parallel.memory import Run, needs_of
from gpuscope.advisor.parallel.scaling import Scaled
from gpuscope.advisor.parallel.table import table_of
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.timing.time_model import StepTime
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout


def plan_inference(
    job: Job, memory: JobMemory, gpu: GpuSpec, topology: Topology, single: StepTime
) -> tuple[Layout, MemoryNeed, Scaled]:
    """As many replicas as fit surely; else as may fit; else the layout that needs least memory on a GPU."""
    batch = job.footprint.workload.batch.per_device
    layouts = _layouts(topology, batch)
    run = Run(batch, checkpointing=False)
    needs = needs_of(memory, table_of(layouts, batch or 1.0), None, batch, training=False, ran=run)
    available = available_bytes(job, gpu)
    choices = []
    for index, layout in enumerate(layouts):
        need = needs.of(index, gpu)
        fit = fits(need, available)
        choices.append((fit_rank(fit), need.surely_bytes if fit is False else 0.0, index, layout, need))
    _, _, _, layout, need = min(choices, key=lambda choice: choice[:3])
    return layout, need, _scaled(single, layout, topology)


def _layouts(topology: Topology, batch: float | None) -> list[Layout]:
    """Replicas first, then layers split ever more."""
    splits = [split for split in range(1, topology.gpus_per_node + 1) if topology.gpus_per_node % split == 0]
    return [Layout(data_parallel=topology.gpus // split, tensor_parallel=split, micro_batch=batch) for split in splits]


def _scaled(single: StepTime, layout: Layout, topology: Topology) -> Scaled:
    """Replicas do not talk. Layers split over n GPUs take between the whole time (all of it messages) and an n-th."""
    replicas, split = float(layout.data_parallel), layout.tensor_parallel
    if single.seconds is None:
        return Scaled(None, replicas, 0.0, 0.0, single.how)
    if split == 1:
        how = single.how if topology.gpus == 1 else f"{single.how}; replicas do not talk"
        return Scaled(single.seconds, replicas, 0.0, 0.0, how)
    low, high = single.seconds.low / split, single.seconds.high
    step = Range(low=low, mid=(low * high) ** 0.5, high=high)
    name = topology.intra.name if topology.intra is not None else ""
    return Scaled(step, replicas, 0.0, 0.0, f"{single.how}; split over {split} GPUs on {name}, its messages unknown")
