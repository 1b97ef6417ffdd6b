"""How one copy of a model is cut over GPUs, and which ways there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.advisor.parallel.topology import Topology
from gpuscope.domain.architecture import Architecture


class Split(NamedTuple):
    """Each layer over `tensor` GPUs of a machine, and the layers over `stages` machines."""

    tensor: int = 1
    stages: int = 1

    @property
    def gpus(self) -> int:
        """Of one copy."""
        return self.tensor * self.stages


def splits(architecture: Architecture, gpu_id: str, topology: Topology) -> Iterator[Split]:
    """Ways to try, those with fewer machines first.

    Powers of two within a machine that divide its GPUs and the heads; over machines only with all GPUs of each, for
    a copy that one machine holds answers sooner.

    Args:
        architecture: for its heads.
        gpu_id: of the GPU that serves; another one than the topology's is a slice, which has no links.
        topology: GPUs and machines.
    """
    if topology.gpu_id != gpu_id:
        yield Split()
        return
    heads = architecture.attention_heads
    inside = [1]
    while inside[-1] * 2 <= topology.gpus_per_node:
        inside.append(inside[-1] * 2)
    possible = [n for n in inside if topology.gpus_per_node % n == 0 and (heads is None or heads % n == 0)]
    yield from (Split(n) for n in possible)
    stages = 2
    while stages <= min(topology.nodes, architecture.layers):
        if topology.nodes % stages == 0:
            yield Split(possible[-1], stages)
        stages *= 2
