"""What one GPU (or CPU) of a replica sustains, and what its messages to the others take."""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec

from gpuscope.advisor.calibration.model import EMPTY, MEASURED, Calibration
from gpuscope.advisor.catalogue.specs import CpuSpec, GpuSpec
from gpuscope.advisor.parallel.collectives import link_rate
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.topology import PCIE, Link, Topology
from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.split import Split
from gpuscope.advisor.serving.weights import Products
from gpuscope.advisor.timing.sustained import matmul_rate, vector_rate
from gpuscope.domain.units import format_rate

_ACTIVATION_BYTES = 2
_MESSAGES_PER_LAYER = 2
"""Tensor parallelism sums once after attention and once after the feed-forward part of each layer."""
_SLOW_START = 2.0
"""A message over PCIe goes through the host's root complex (assumed)."""
_USUAL_CLOCK_MHZ = 1700.0
"""Where the catalogue lacks a boost clock: between A100 and RTX 4090."""
_CPU_LAYER_S = 50e-6
"""Fixed time of a layer's ten operators on a CPU (assumed, 5 µs each)."""
_CPU_PRODUCTS_SHARE = 0.25
"""Of the derived FP32 peak: ResNet-50 reaches 13-26% on two CPUs (published timm rows)."""


class Wire(NamedTuple):
    """A link on which a copy's GPUs talk."""

    start_s: float
    bytes_per_s: float
    ramp_s: float
    """How long a pipeline of chunks takes to fill."""

    def all_reduce_s(self, payload_bytes: float, count: int) -> float:
        """start + m/B + 2·√(ramp · m/B), m = 2(n−1)/n of the payload (as in `parallel.collectives`)."""
        wire = payload_bytes * 2 * (count - 1) / count / self.bytes_per_s
        return self.start_s + wire + 2 * math.sqrt(self.ramp_s * wire)

    def send_s(self, payload_bytes: float) -> float:
        """From one to another."""
        return self.start_s + payload_bytes / self.bytes_per_s


class Device(NamedTuple):
    """One GPU (or CPU) of a replica, and how it is joined to the others."""

    products_flops_per_s: float
    weights_bytes_per_s: float
    cache_bytes_per_s: float
    layer_s: float
    """Fixed time of a layer in a decode step."""
    prompt_layer_s: float
    """The same when a prompt is read."""
    mixture_share: float
    """Of the products' rate, for the experts of a mixture."""
    request_s: float
    """Of a request outside the device."""
    split: Split
    wire: Wire | None
    """Among the GPUs of a machine; None: there is one."""
    network: Wire | None
    """Between machines; None: one machine holds a copy."""
    how: str

    def messages_s(self, tokens: float, hidden_size: int, layers: int) -> float:
        """Of one step: all-reduces of the activations of all tokens, twice a layer, and a hop to each next machine."""
        payload = tokens * hidden_size * _ACTIVATION_BYTES
        seconds = 0.0
        if self.wire is not None:
            seconds += _MESSAGES_PER_LAYER * layers * self.wire.all_reduce_s(payload, self.split.tensor)
        if self.network is not None:
            seconds += (self.split.stages - 1) * self.network.send_s(payload)
        return seconds


def gpu_device(
    gpu: GpuSpec,
    products: Products,
    topology: Topology | None,
    split: Split,
    constants: ServingConstants,
    calibration: Calibration = EMPTY,
) -> Device | str:
    """One GPU of a replica; the end of a sentence where the catalogue lacks what is needed.

    Args:
        gpu: which GPU.
        products: how it computes with the model's weights.
        topology: the links; needed with more than one GPU.
        split: of one copy.
        constants: what engines reach.
        calibration: rates that were measured.
    """
    rate = matmul_rate(gpu, products.precision, calibration)
    if rate is None or not gpu.memory_bandwidth_gbs:
        return f"the catalogue lacks the rates of {gpu.name} in {products.precision}"
    wires = _wires(topology, split, constants, calibration.parallel)
    if isinstance(wires, str):
        return wires
    share = constants.products_share * (constants.float8_share if products.eight_bits else 1.0)
    bandwidth = gpu.memory_bandwidth_gbs * 1e9 * _measured_ratio(gpu, calibration)
    weights_share = constants.bandwidth_share * (constants.packed_share if products.packed else 1.0)
    if gpu.memory_type.startswith("HBM"):
        weights_share *= constants.hbm_share
    clock = (gpu.boost_clock_mhz or _USUAL_CLOCK_MHZ) * 1e6
    return Device(
        products_flops_per_s=rate.value * products.times * share,
        weights_bytes_per_s=bandwidth * weights_share,
        cache_bytes_per_s=bandwidth * constants.cache_share,
        layer_s=constants.layer_cycles / clock,
        prompt_layer_s=constants.prompt_cycles / clock,
        mixture_share=constants.mixture_share,
        request_s=constants.request_s,
        split=split,
        wire=wires.inside,
        network=wires.between,
        how=f"{format_rate(bandwidth)} × {weights_share:.2f}, {rate.value / 1e12:.3g} TFLOPS in "
        f"{products.precision} ({rate.source}) × {share:.2f}, {products.how}{wires.how}",
    )


def _measured_ratio(gpu: GpuSpec, calibration: Calibration) -> float:
    """How much more than usual the person's own measurement says of the memory; 1 where there is none."""
    known = calibration.rates.get(gpu.id)
    measured = known.vector_bytes_per_s if known is not None else None
    if measured is None or measured.kind != MEASURED:
        return 1.0
    usual = vector_rate(gpu, msgspec.structs.replace(calibration, rates={}))
    return 1.0 if usual is None else measured.value / usual.value


class _Wires(NamedTuple):
    inside: Wire | None
    between: Wire | None
    how: str


def _wires(topology: Topology | None, split: Split, constants: ServingConstants, rates: ParallelRates) -> _Wires | str:
    inside = between = None
    how = ""
    if split.tensor > 1:
        if topology is None or topology.intra is None or split.tensor > topology.gpus_per_node:
            return f"{split.tensor} GPUs that share layers must be in one machine"
        inside = _inside(topology.intra, split.tensor, constants, rates)
        how = f"; all-reduces over {topology.intra.name} at {format_rate(inside.bytes_per_s)}"
    if split.stages > 1:
        if topology is None or topology.inter is None or split.stages > topology.nodes:
            return f"a copy over {split.stages} machines needs a network between them"
        link, row = topology.inter, link_rate(topology.inter, rates)
        between = Wire(row.start_us * 1e-6, link.bytes_per_s * row.share, 0.0)
        how += f"; {split.stages} machines over {link.name}"
    return _Wires(inside, between, how)


def _inside(link: Link, count: int, constants: ServingConstants, rates: ParallelRates) -> Wire:
    row = link_rate(link, rates)
    bytes_per_s = link.bytes_per_s
    if link.island is not None and count > link.island:
        bytes_per_s = link.between_islands_bytes_per_s or bytes_per_s
    start = constants.message_latency_s * (_SLOW_START if link.kind == PCIE else 1.0)
    return Wire(start, bytes_per_s * row.share, row.ramp_us * 1e-6)


def cpu_device(cpu: CpuSpec, cores: float | None, constants: ServingConstants) -> Device | str:
    """A CPU that serves alone; the end of a sentence where the catalogue lacks what is needed."""
    if not cpu.fp32_tflops or not cpu.memory_bandwidth_gbs or not cpu.cores:
        return f"the catalogue lacks the rates of {cpu.name}"
    share = min(1.0, (cores or cpu.cores) / cpu.cores)
    bandwidth = cpu.memory_bandwidth_gbs * 1e9 * share * constants.cpu_bandwidth_share
    return Device(
        products_flops_per_s=cpu.fp32_tflops * 1e12 * share * _CPU_PRODUCTS_SHARE,
        weights_bytes_per_s=bandwidth,
        cache_bytes_per_s=bandwidth,
        layer_s=_CPU_LAYER_S,
        prompt_layer_s=_CPU_LAYER_S,
        mixture_share=1.0,
        request_s=constants.request_s,
        split=Split(),
        wire=None,
        network=None,
        how=f"{cores or cpu.cores:g} cores of {cpu.name}: {format_rate(bandwidth)}, FP32 products",
    )
