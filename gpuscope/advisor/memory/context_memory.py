"""Memory that a process takes on a GPU before any tensor: driver context and loaded kernels."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.domain.base import Range
from gpuscope.domain.units import GIB, MIB

# With lazy loading (CUDA 11.7 and later) the context is the local memory of all resident threads: SMs × threads an SM
# × 2 KiB. Law / published MiB: RTX 3090 246/256, RTX 4060 Ti 102/107, RTX PRO 6000 564/555, RTX 6000 Ada 426/426.
_BYTES_PER_THREAD = 2048
_THREADS_PER_SM = {
    "6.0": 2048, "6.1": 2048, "7.0": 2048, "7.5": 1024, "8.0": 2048, "8.6": 1536, "8.9": 1536, "9.0": 2048,
    "10.0": 2048, "10.3": 2048, "12.0": 1536, "12.1": 1536,
}  # fmt: skip
_KERNELS_BYTES = (25 * MIB, 70 * MIB)
"""Loaded kernels of matrix products alone, and with convolutions."""
_ABOVE_BYTES = 150 * MIB
"""How much more was published than the law says."""
PUBLISHED_CONTEXT = Range(low=0.1 * GIB, mid=0.5 * GIB, high=1.9 * GIB)
"""Over all GPUs and CUDA versions."""


def context_bytes(gpu: GpuSpec) -> tuple[Range, str]:
    """Context of one process on this GPU, and where the figure comes from."""
    threads = _THREADS_PER_SM.get(gpu.compute_capability or "") if gpu.vendor == "NVIDIA" else None
    if threads is None or gpu.sm_count is None:
        return PUBLISHED_CONTEXT, "published for other GPUs: 0.1 to 1.9 GiB"
    context = gpu.sm_count * threads * _BYTES_PER_THREAD
    low, high = (context + kernels for kernels in _KERNELS_BYTES)
    return Range(
        low=low, mid=high, high=high + _ABOVE_BYTES
    ), f"{gpu.sm_count} SMs × {threads} threads × 2 KiB + kernels"
