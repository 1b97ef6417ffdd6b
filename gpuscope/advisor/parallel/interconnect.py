"""How the GPUs inside one machine talk to each other, and how long their collectives take."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.timing import rates

_NUMBER = re.compile(r"(\d+) GB/s")


class Interconnect(NamedTuple):
    """A link between the GPUs of one machine."""

    name: str
    bus_bytes_per_s: float
    """Bus bandwidth of an all-reduce, in the sense of nccl-tests."""
    how: str


def interconnect_of(gpu: GpuSpec, count: int, description: str = "") -> Interconnect | None:
    """The link among `count` GPUs of one machine; None for a single one.

    Args:
        gpu: which GPU.
        count: how many.
        description: what an offer or a system says of it; "" when nothing does, then the GPU's own links decide.
    """
    if count < 2:
        return None
    text = description or _default_description(gpu, count)
    lowered = text.lower()
    if "bridge" in lowered:
        return Interconnect(text, rates.NVLINK_BRIDGE_BUS_GBS * 1e9, "measured all-reduce over NVLink pairs on PCIe")
    if "nvswitch" in lowered or "nvlink" in lowered or "infinity" in lowered:
        total = _link_gbs(gpu, text)
        if total:
            return _fast_link(text, total)
    bus = rates.PCIE_BUS_GBS.get(gpu.pcie_gen or 4, rates.PCIE_BUS_GBS[4])
    return Interconnect(text, bus * 1e9, f"assumed for PCIe {gpu.pcie_gen or 4} x16")


def all_reduce_seconds(payload_bytes: float, count: int, link: Interconnect) -> float:
    """Reduce gradients in buckets: 2(n−1)/n of the payload over the bus, and a latency for each bucket."""
    buckets = max(1.0, payload_bytes / rates.BUCKET_BYTES)
    moved = payload_bytes * 2 * (count - 1) / count
    return moved / link.bus_bytes_per_s + buckets * rates.COLLECTIVE_LATENCY_S


def sharded_seconds(parameter_bytes: float, count: int, link: Interconnect) -> float:
    """Communication of ZeRO stage 3 (FSDP) in a step: parameters gathered forward and backward, gradients scattered;
    three halves of an all-reduce."""
    return 1.5 * all_reduce_seconds(parameter_bytes, count, link)


def _default_description(gpu: GpuSpec, count: int) -> str:
    if not gpu.nvlink_gbs:
        return f"PCIe {gpu.pcie_gen}" if gpu.pcie_gen else "PCIe"
    if gpu.form_factor.startswith("PCIe"):
        return "NVLink bridge" if count == 2 else f"PCIe {gpu.pcie_gen}" if gpu.pcie_gen else "PCIe"
    return f"NVLink {gpu.nvlink_gbs:g} GB/s per GPU"


def _link_gbs(gpu: GpuSpec, text: str) -> float | None:
    found = _NUMBER.search(text)
    if found is None:
        return gpu.nvlink_gbs
    # Infinity Fabric figures are for one direction.
    return float(found.group(1)) * (2 if "direction" in text else 1)


def _fast_link(text: str, total_gbs: float) -> Interconnect:
    for nominal, bus in rates.NVSWITCH_BUS_GBS:
        if total_gbs == nominal and "infinity" not in text.lower():
            return Interconnect(text, bus * 1e9, f"measured all-reduce at 64 MB, {nominal:g} GB/s links")
    return Interconnect(text, total_gbs * rates.NVLINK_SHARE * 1e9, f"27% of {total_gbs:g} GB/s, as on other NVLinks")
