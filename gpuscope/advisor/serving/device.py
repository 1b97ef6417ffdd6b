"""What the GPUs of one replica sustain: matrix products, memory, and the messages between them."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.parallel.collectives import link_rate
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.sustained import sustained_matrix
from gpuscope.advisor.serving.weights import Products

_ACTIVATION_BYTES = 2
_MESSAGES_PER_LAYER = 2
"""Tensor parallelism sums once after attention and once after the feed-forward part of each layer."""


class Device(NamedTuple):
    """One GPU (or CPU) of a replica with its share of the model, and how it is joined to the others."""

    products_flops_per_s: float
    weights_bytes_per_s: float
    cache_bytes_per_s: float
    layer_latency_s: float
    tensor_parallel: int
    message_latency_s: float
    message_bytes_per_s: float
    how: str

    def messages_s(self, tokens: float, hidden_size: int, layers: int) -> float:
        """Of the all-reduces of one step: 2(n−1)/n of the activations over the link, twice a layer."""
        count = self.tensor_parallel
        if count == 1:
            return 0.0
        payload = tokens * hidden_size * _ACTIVATION_BYTES * 2 * (count - 1) / count
        return _MESSAGES_PER_LAYER * layers * (self.message_latency_s + payload / self.message_bytes_per_s)


def gpu_device(
    gpu: GpuSpec,
    products: Products,
    topology: Topology | None,
    tensor_parallel: int,
    constants: ServingConstants,
    calibration: Calibration = EMPTY,
) -> Device | str:
    """One GPU of a replica; the end of a sentence where the catalogue lacks what is needed.

    Args:
        gpu: which GPU.
        products: how it computes with the model's weights.
        topology: the links; needed with more than one GPU.
        tensor_parallel: GPUs of the replica.
        constants: what engines reach.
        calibration: rates that were measured.
    """
    rate = sustained_matrix(gpu, products.precision, calibration)
    if rate is None or not gpu.memory_bandwidth_gbs:
        return f"the catalogue lacks the rates of {gpu.name} in {products.precision}"
    share = constants.products_share * products.peak_ratio
    if products.peak_ratio > 1:
        share *= constants.float8_share
    bandwidth = gpu.memory_bandwidth_gbs * 1e9 * constants.bandwidth_share
    latency, link_bytes, link_how = 0.0, 1.0, ""
    if tensor_parallel > 1:
        if topology is None or topology.intra is None or tensor_parallel > topology.gpus_per_node:
            return f"{tensor_parallel} GPUs of one replica must be in one machine"
        link = topology.intra
        latency = constants.message_latency_s * (_SLOW_START if link.kind == "pcie" else 1.0)
        link_bytes = link.bytes_per_s * link_rate(link, ParallelRates()).share
        link_how = f"; all-reduces over {link.name} at {link_bytes / 1e9:.3g} GB/s"
    return Device(
        products_flops_per_s=rate.flops_per_s * share,
        weights_bytes_per_s=bandwidth * (constants.packed_share if products.packed else 1.0),
        cache_bytes_per_s=bandwidth,
        layer_latency_s=constants.layer_latency_s,
        tensor_parallel=tensor_parallel,
        message_latency_s=latency,
        message_bytes_per_s=link_bytes,
        how=f"{gpu.memory_bandwidth_gbs:g} GB/s × {constants.bandwidth_share:.2f}, {rate.how}, {products.how}"
        + link_how,
    )


_SLOW_START = 2.0
"""A message over PCIe goes through the host's root complex (assumed)."""


def cpu_device(cpu: CpuSpec, cores: float | None, constants: ServingConstants) -> Device | str:
    """A CPU that serves alone, in 32 bits; the end of a sentence where the catalogue lacks what is needed."""
    if not cpu.fp32_tflops or not cpu.memory_bandwidth_gbs or not cpu.cores:
        return f"the catalogue lacks the rates of {cpu.name}"
    share = min(1.0, (cores or cpu.cores) / cpu.cores)
    bandwidth = cpu.memory_bandwidth_gbs * 1e9 * share * constants.cpu_bandwidth_share
    return Device(
        products_flops_per_s=cpu.fp32_tflops * 1e12 * share * _CPU_PRODUCTS_SHARE,
        weights_bytes_per_s=bandwidth,
        cache_bytes_per_s=bandwidth,
        layer_latency_s=constants.layer_latency_s,
        tensor_parallel=1,
        message_latency_s=0.0,
        message_bytes_per_s=1.0,
        how=f"{cores or cpu.cores:g} cores of {cpu.name}: {bandwidth / 1e9:.3g} GB/s",
    )


_CPU_PRODUCTS_SHARE = 0.25
"""Of the derived FP32 peak: ResNet-50 reaches 13-26% on two CPUs (published timm rows)."""
