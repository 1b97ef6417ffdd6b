"""Find the layout that a number of GPUs should use: the fastest of those that fit."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.memory_model import JobMemory, MemoryNeed
from gpuscope.advisor.parallel.interconnect import Interconnect, interconnect_of
from gpuscope.advisor.parallel.layouts import place
from gpuscope.advisor.parallel.scaling import Scaled, scale
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.timing.time_model import StepTime
from gpuscope.domain.recommendation import Layout


class Plan(NamedTuple):
    """A layout with what it needs and how long its step takes."""

    layout: Layout
    need: MemoryNeed
    fits: bool | None
    scaled: Scaled
    passed_over: tuple[str, ...] = ()
    """Other layouts that were tried, and why not: a sentence each."""


def plan(
    job: Job,
    memory: JobMemory,
    gpu: GpuSpec,
    topology: Topology,
    single: StepTime,
    *,
    keep_global_batch: bool = False,  # noqa: ARG001 - not told apart yet
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
    placement = place(job, memory, gpu, topology.gpus)
    scaled = scale(job, single, placement.layout, _slowest(gpu, topology))
    return Plan(placement.layout, placement.need, placement.fits, scaled)


def _slowest(gpu: GpuSpec, topology: Topology) -> Interconnect | None:
    """The link that the collectives of all GPUs wait for."""
    inside = interconnect_of(gpu, topology.gpus_per_node, topology.intra.name if topology.intra else "")
    if topology.inter is None:
        return inside
    network = Interconnect(topology.inter.name, topology.inter.bytes_per_s, topology.inter.how)
    return network if inside is None or network.bus_bytes_per_s < inside.bus_bytes_per_s else inside
