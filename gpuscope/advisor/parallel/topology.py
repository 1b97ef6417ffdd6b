"""How the GPUs of a configuration are connected: inside a machine, and between machines.

Only what is there, with nominal rates; how much of them collectives reach is in `collectives.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import CatalogueOffer, GpuSpec, SystemSpec

PCIE, NVLINK_BRIDGE, NVLINK, NVSWITCH, INFINITY_FABRIC = (
    "pcie",
    "nvlink_bridge",
    "nvlink",
    "nvswitch",
    "infinity_fabric",
)
ETHERNET, TCPX, EFA, ROCE, INFINIBAND = "ethernet", "tcpx", "efa", "roce", "infiniband"
NVLINK_NETWORK = "nvlink_network"

# One direction of a PCIe lane in GB/s, by generation.
_PCIE_LANE_GBS = {3: 0.985, 4: 1.969, 5: 3.938, 6: 7.56}
_USUAL_PCIE_GENERATION = 4
_PCIE_LANES = 16

# Networks whose rate nobody states: what machines with such GPUs usually have (assumed), Gb/s of a whole machine.
_USUAL_NETWORK_GBPS = {ETHERNET: 25.0, TCPX: 800.0, EFA: 100.0, ROCE: 400.0, INFINIBAND: 400.0}
# Cards of this rate and above, of a kind that nobody states, are taken for ones with remote direct memory access.
_RDMA_GBPS = 100.0
# A network described as "InfiniBand" without a rate, in a machine with NVSwitch: a card for each GPU, HDR on A100
# and before, NDR after (NVIDIA's reference designs), Gb/s a GPU.
_REFERENCE_GBPS_PER_GPU = {"Volta": 50.0, "Ampere": 200.0}
_NEWER_REFERENCE_GBPS_PER_GPU = 400.0
_REFERENCE_NETWORK = "InfiniBand"

_GIGABYTES = re.compile(r"(\d+(?:\.\d+)?) GB/s")
_GIGABITS = re.compile(r"(\d+(?:/\d+)*) (?:Gb/s|GbE)")
_BRIDGED = re.compile(r"(\d)-way")
_USUAL_BRIDGE = 2
_BOARD, _POINT_TO_POINT_BOARD = 8, 4
_NVLINK_NETWORK_NODE = 8
_RACK = re.compile(r"NVL72", re.IGNORECASE)
_RACK_GPUS = 72
_CARDS = re.compile(r"(\d+)x ")


class Link(NamedTuple):
    """A link that GPUs talk over."""

    name: str
    """As the catalogue says it."""
    kind: str
    """pcie, nvlink_bridge, nvlink, nvswitch or infinity_fabric; ethernet, tcpx, efa, roce, infiniband or
    nvlink_network."""
    bytes_per_s: float
    """Nominal, one direction: of a GPU inside a machine, of a whole machine between machines."""
    how: str
    """Where the rate comes from."""
    island: int | None = None
    """GPUs that bridges join; None: the link reaches all."""
    between_islands_bytes_per_s: float | None = None
    """Of a GPU, where there are islands."""
    mesh: int | None = None
    """GPUs over which a GPU's own links are spread, without a switch: fewer of them use fewer links."""


class Topology(NamedTuple):
    """GPUs in machines. A rack whose GPUs all see each other over NVLink counts as one machine."""

    gpu_id: str
    gpus_per_node: int
    nodes: int
    intra: Link | None
    """Among the GPUs of a machine; None: there is one."""
    inter: Link | None
    """Between machines; None: there is one."""

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return self.gpus_per_node * self.nodes


ALONE = Topology("", 1, 1, None, None)
"""One device that talks to no other."""


def topology_of_offer(offer: CatalogueOffer, gpu: GpuSpec, nodes: int = 1) -> Topology:
    """`nodes` instances of an offer; a slice of a GPU counts as one, instances of one NVLink rack as one machine."""
    count = max(1, round(offer.gpu_count))
    if _RACK.search(offer.intra_node) and nodes > 1:
        gpus = count * nodes
        together = max(size for size in range(count, _RACK_GPUS + 1, count) if gpus % size == 0)
        count, nodes = together, gpus // together
    inter = _network(offer.inter_node, offer.network_gbps, gpu, count) if nodes > 1 else None
    return Topology(gpu.id, count, nodes, _inside(gpu, count, offer.intra_node), inter)


def topology_of_system(system: SystemSpec, gpu: GpuSpec, nodes: int = 1) -> Topology:
    """`nodes` machines of one kind. A cluster on an NVLink network is taken apart into its machines of eight."""
    count = system.gpu_count
    if system.scale_up_total_tbs and count > _NVLINK_NETWORK_NODE and "tapered" in system.scale_up:
        return _nvlink_network(system, gpu, nodes)
    # Who buys machines with switched GPUs buys a network for them: NVIDIA's reference design, where nothing is said.
    network = system.scale_out or ("" if gpu.form_factor.startswith("PCIe") else _REFERENCE_NETWORK)
    inter = _network(network, None, gpu, count) if nodes > 1 else None
    return Topology(gpu.id, count, nodes, _inside(gpu, count, system.scale_up), inter)


def _nvlink_network(system: SystemSpec, gpu: GpuSpec, clusters: int) -> Topology:
    """Machines of eight, their NVSwitches joined by more NVSwitches that carry less than all GPUs can send."""
    each = _NVLINK_NETWORK_NODE
    nodes = system.gpu_count // each
    total = (system.scale_up_total_tbs or 0.0) * 1e12
    name = f"NVLink network, {system.scale_up}"
    inter = Link(name, NVLINK_NETWORK, total / nodes, f"{total / 1e12:g} TB/s over {system.gpu_count} GPUs")
    if clusters > 1:
        inter = _network(system.scale_out, None, gpu, each)
    return Topology(gpu.id, each, nodes * clusters, _inside(gpu, each, ""), inter)


def topology_at_counts(
    gpu: GpuSpec, count: int, description: str = "", *, gpus_per_node: int | None = None, network: str = ""
) -> Topology:
    """`count` GPUs: in one machine, or in machines of `gpus_per_node`.

    Args:
        gpu: which GPU.
        count: GPUs in all; where it is not a multiple of `gpus_per_node`, the last machine counts as full.
        description: what is said of the link inside a machine; "" when nothing is, then the GPU's own links decide.
        gpus_per_node: of one machine; None: all are in one.
        network: what is said of the link between machines.
    """
    each = min(count, gpus_per_node or count)
    nodes = -(-count // each)
    inter = _network(network, None, gpu, each) if nodes > 1 else None
    return Topology(gpu.id, each, nodes, _inside(gpu, each, description), inter)


def _inside(gpu: GpuSpec, count: int, description: str) -> Link | None:
    if count < 2:
        return None
    text = description or _default_description(gpu, count)
    kind = _inside_kind(text, gpu)
    total = None if kind == PCIE else _link_gbs(gpu, text)
    pcie, pcie_how = _pcie(gpu)
    if not total:
        return Link(text, PCIE, pcie, pcie_how)
    how = f"{total:g} GB/s in both directions"
    if kind != NVLINK_BRIDGE:
        mesh = None if kind == NVSWITCH else max(count, _mesh(text))
        return Link(text, kind, total / 2 * 1e9, how, mesh=mesh)
    ways = [int(found) for found in _BRIDGED.findall(text)] or [_USUAL_BRIDGE]
    return Link(text, kind, total / 2 * 1e9, how, max(ways), pcie)


def _mesh(text: str) -> int:
    """GPUs of the whole board, of which a smaller machine is a part."""
    return _POINT_TO_POINT_BOARD if "point-to-point" in text.lower() else _BOARD


def _pcie(gpu: GpuSpec) -> tuple[float, str]:
    """One direction in bytes a second, and in words."""
    generation = gpu.pcie_gen if gpu.pcie_gen in _PCIE_LANE_GBS else _USUAL_PCIE_GENERATION
    lanes = gpu.pcie_lanes or _PCIE_LANES
    words = f"PCIe {generation} x{lanes}"
    return _PCIE_LANE_GBS[generation] * lanes * 1e9, words if gpu.pcie_gen else f"assumed: {words}"


def _inside_kind(text: str, gpu: GpuSpec) -> str:
    lowered = text.lower()
    if "bridge" in lowered:
        return NVLINK_BRIDGE
    if "infinity" in lowered:
        return INFINITY_FABRIC
    if "nvswitch" in lowered or "nvl72" in lowered or "rails" in lowered or "fat tree" in lowered:
        return NVSWITCH
    if "nvlink" not in lowered:
        return PCIE
    # Machines of eight with NVLink 3 and later have switches, whether or not the text says so.
    switched = "hybrid" not in lowered and "point-to-point" not in lowered and (gpu.nvlink_gbs or 0.0) > 300
    return NVSWITCH if switched else NVLINK


def _default_description(gpu: GpuSpec, count: int) -> str:
    if not gpu.nvlink_gbs:
        return f"PCIe {gpu.pcie_gen}" if gpu.pcie_gen else "PCIe"
    if gpu.form_factor.startswith("PCIe"):
        return "NVLink bridge" if count == 2 else f"PCIe {gpu.pcie_gen}" if gpu.pcie_gen else "PCIe"
    return f"NVLink {gpu.nvlink_gbs:g} GB/s per GPU"


def _link_gbs(gpu: GpuSpec, text: str) -> float | None:
    """Both directions of one GPU together."""
    found = _GIGABYTES.search(text)
    if found is None:
        return gpu.nvlink_gbs
    # Infinity Fabric figures are for one direction.
    return float(found.group(1)) * (2 if "direction" in text else 1)


def _network(text: str, network_gbps: float | None, gpu: GpuSpec, gpus_per_node: int) -> Link:
    """The link between machines. What the text says of rates goes before the catalogue's total, which may hold more."""
    name = text or "network of unknown kind"
    found = _GIGABITS.search(text)
    each = float(found.group(1).split("/")[0]) if found is not None else None
    kind = _network_kind(text, each)
    if each is not None:
        cards = _CARDS.match(text)
        gbps = each * (int(cards.group(1)) if cards else gpus_per_node if "per GPU" in text else 1)
        how = f"{gbps:g} Gb/s of a machine"
    elif network_gbps:
        gbps, how = network_gbps, f"{network_gbps:g} Gb/s of a machine"
    elif kind == INFINIBAND and not gpu.form_factor.startswith("PCIe"):
        gbps = gpus_per_node * _REFERENCE_GBPS_PER_GPU.get(gpu.architecture, _NEWER_REFERENCE_GBPS_PER_GPU)
        how = f"assumed: {gbps:g} Gb/s of a machine, a card for each GPU"
    else:
        gbps = _USUAL_NETWORK_GBPS[kind]
        how = f"assumed: {gbps:g} Gb/s of a machine"
    return Link(name, kind, gbps / 8 * 1e9, how)


def _network_kind(text: str, card_gbps: float | None) -> str:
    lowered = text.lower()
    if lowered.startswith("ethernet") or "gbe" in lowered:
        return ETHERNET
    words = (("infiniband", INFINIBAND), ("efa", EFA), ("roce", ROCE), ("tcpx", TCPX), ("hdr", INFINIBAND))
    for word, kind in (*words, ("ndr", INFINIBAND), ("connectx", INFINIBAND)):
        if word in lowered:
            return kind
    return ROCE if card_gbps is not None and card_gbps >= _RDMA_GBPS else ETHERNET
