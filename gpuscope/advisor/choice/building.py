"""A candidate before anything is predicted or priced: what hardware it is, how it is got, and whether the job fits."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.choice.constraints import RENT
from gpuscope.advisor.choice.ways import Way
from gpuscope.domain.recommendation import Candidate, CandidateMemory, Layout


def gpu_candidate(
    gpu: GpuSpec, way: Way, precision: str, layout: Layout, fits: bool | None, memory: CandidateMemory
) -> Candidate:
    """GPUs of one kind, with the links between them that the layout may use."""
    topology = way.topology
    return Candidate(
        gpu=gpu.id,
        gpu_name=gpu.name,
        count=topology.gpus,
        nodes=topology.nodes,
        acquisition=way.acquisition,
        precision=precision,
        layout=layout,
        fits=fits,
        memory=memory,
        interconnect="" if topology.intra is None else topology.intra.name,
        network="" if topology.inter is None else topology.inter.name,
    )


def cpu_candidate(cpu: CpuSpec, way: Way, precision: str, fits: bool | None, memory: CandidateMemory) -> Candidate:
    """Rented instances without GPU."""
    return Candidate(
        gpu=None,
        cpu=cpu.id,
        count=0,
        nodes=way.machines,
        acquisition=RENT,
        precision=precision,
        fits=fits,
        memory=memory,
    )
