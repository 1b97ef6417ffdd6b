"""Slices of a GPU: NVIDIA's MIG instances, and fractions of a GPU that are offered."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.domain.base import scaled

# Compute slices → memory share of a profile, by the most instances of a GPU (NVIDIA's MIG user guide: a GPU with
# seven compute slices has eight of memory).
_PROFILES: dict[int, tuple[tuple[float, float], ...]] = {
    7: ((1 / 7, 1 / 8), (2 / 7, 2 / 8), (3 / 7, 4 / 8), (4 / 7, 4 / 8)),
    4: ((1 / 4, 1 / 4), (2 / 4, 2 / 4)),
    2: ((1 / 2, 1 / 2),),
}


class Slice(NamedTuple):
    """A part of a GPU."""

    compute_share: float
    memory_share: float
    """Of the memory and of its bandwidth."""


def slices_of(gpu: GpuSpec) -> tuple[Slice, ...]:
    """The MIG slices of a GPU, smallest first; () where it has none."""
    return tuple(Slice(compute, memory) for compute, memory in _PROFILES.get(gpu.mig_max_instances or 0, ()))


def slice_for_share(gpu: GpuSpec, share: float) -> Slice:
    """The slice that an offer of a fraction of a GPU means: a MIG slice of that size, else that share of everything."""
    for each in slices_of(gpu):
        if abs(each.compute_share - share) < 0.02 or abs(each.memory_share - share) < 0.02:
            return each
    return Slice(share, share)


def sliced(gpu: GpuSpec, part: Slice) -> GpuSpec:
    """A slice as a GPU of its own: memory, bandwidth and peaks in proportion; slices have no links."""
    compute = part.compute_share
    return msgspec.structs.replace(
        gpu,
        id=f"{gpu.id}/{compute:.2g}",
        name=f"{compute:.2g} of a {gpu.name}",
        memory_gb=gpu.memory_gb * part.memory_share,
        memory_bandwidth_gbs=scaled(gpu.memory_bandwidth_gbs, part.memory_share),
        fp32_tflops=scaled(gpu.fp32_tflops, compute),
        tf32_tensor_tflops=scaled(gpu.tf32_tensor_tflops, compute),
        fp16_tensor_tflops=scaled(gpu.fp16_tensor_tflops, compute),
        bf16_tensor_tflops=scaled(gpu.bf16_tensor_tflops, compute),
        fp8_tensor_tflops=scaled(gpu.fp8_tensor_tflops, compute),
        int8_tensor_tops=scaled(gpu.int8_tensor_tops, compute),
        fp4_tensor_tflops=scaled(gpu.fp4_tensor_tflops, compute),
        sm_count=None if gpu.sm_count is None else max(1, round(gpu.sm_count * compute)),
        tdp_w=scaled(gpu.tdp_w, compute),
        nvlink_gbs=0.0,
        mig_max_instances=None,
    )
