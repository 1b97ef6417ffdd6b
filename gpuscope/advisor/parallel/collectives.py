"""How long collectives take on a topology.

    t = start + m/B + 2·√(ramp · m/B)

m is what crosses the bus of each GPU in the sense of nccl-tests: 2(n−1)/n of an all-reduce's payload, (n−1)/n of
gathering, scattering and exchanging. The square root is a pipeline of chunks of the best size that fills and drains.
A group that spans machines is as slow as its slowest link: inside, or its share of the machines' network cards. A ring
over machines waits for each hop, a tree for their logarithm. Formulas take numbers or arrays of numpy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuscope.advisor.parallel.rates import LinkRate, ParallelRates
from gpuscope.advisor.parallel.topology import Link, Topology

_SEND_START = 1 / 3
"""A send's start over that of a collective, which synchronises all GPUs (published: 5 to 14 µs against 20 to 50)."""


class Fabric(NamedTuple):
    """A topology with what its links reach; bytes and seconds."""

    gpus_per_node: int
    nodes: int
    inside_bytes_per_s: float
    """All-reduce bus inside a machine."""
    ring_bytes_per_s: float
    """Bus of gathering and scattering inside a machine."""
    send_bytes_per_s: float
    """From one GPU to another inside a machine."""
    inside_start_s: float
    inside_ramp_s: float
    network_bytes_per_s: float
    """Of a machine."""
    network_start_s: float
    network_ramp_s: float
    network_hop_s: float
    island: int
    """GPUs that bridges join; as many as in the machine where there are none."""
    island_bytes_per_s: float
    """0: there are none."""
    mesh: int
    """GPUs over which a GPU's own links are spread; 0: a switch or a bus gives any group all of them."""
    how: str


class Group(NamedTuple):
    """GPUs that talk to each other: `size` of them, `stride` apart in the order of the ranks."""

    size: Any
    stride: Any = 1


def fabric_of(topology: Topology, rates: ParallelRates) -> Fabric:
    """What the links of a topology reach."""
    intra, inter = topology.intra, topology.inter
    notes = []
    inside = network = None
    inside_bytes = ring = float("inf")
    island, island_bytes = topology.gpus_per_node, 0.0
    if intra is not None:
        inside = link_rate(intra, rates)
        inside_bytes = intra.bytes_per_s * inside.share
        ring = intra.bytes_per_s * min(inside.share, rates.ring_share)
        notes.append(f"{intra.name}: {inside_bytes / 1e9:.3g} GB/s, {inside.source}")
        if intra.island is not None and intra.island < topology.gpus_per_node:
            island, island_bytes = intra.island, inside_bytes
            island_rate = link_rate(intra._replace(kind="pcie_islands", bytes_per_s=_between(intra)), rates)
            inside_bytes = ring = _between(intra) * island_rate.share
            notes.append(f"between the bridges {inside_bytes / 1e9:.3g} GB/s, {island_rate.source}")
    if inter is not None:
        network = link_rate(inter, rates)
        notes.append(f"{inter.name}: {inter.bytes_per_s * network.share / 1e9:.3g} GB/s a machine, {network.source}")
    return Fabric(
        gpus_per_node=topology.gpus_per_node,
        nodes=topology.nodes,
        inside_bytes_per_s=inside_bytes,
        ring_bytes_per_s=ring,
        send_bytes_per_s=max(ring, intra.bytes_per_s * rates.send_share) if intra is not None else ring,
        inside_start_s=inside.start_us * 1e-6 if inside else 0.0,
        inside_ramp_s=inside.ramp_us * 1e-6 if inside else 0.0,
        network_bytes_per_s=inter.bytes_per_s * network.share if inter and network else float("inf"),
        network_start_s=network.start_us * 1e-6 if network else 0.0,
        network_ramp_s=network.ramp_us * 1e-6 if network else 0.0,
        network_hop_s=network.hop_us * 1e-6 if network else 0.0,
        island=island,
        island_bytes_per_s=island_bytes,
        mesh=(intra.mesh or 0) if intra is not None else 0,
        how="; ".join(notes),
    )


def link_rate(link: Link, rates: ParallelRates) -> LinkRate:
    """The row for a link: measured at this rate, else its kind at any rate, else PCIe's."""
    nominal = link.bytes_per_s / 1e9
    of_kind = [row for row in rates.links if row.kind == link.kind]
    exact = [row for row in of_kind if row.nominal_gbs is not None and abs(row.nominal_gbs / nominal - 1) < 0.05]
    general = [row for row in of_kind if row.nominal_gbs is None]
    return (exact or general or of_kind or [row for row in rates.links if row.kind == "pcie"])[0]


def all_reduce_s(payload: Any, group: Group, fabric: Fabric) -> Any:
    """Every GPU ends up with the sum of `payload` bytes."""
    moved = payload * 2 * (group.size - 1) / group.size
    return _seconds(moved, group, fabric, fabric.inside_bytes_per_s, tree=True)


def gather_s(payload: Any, group: Group, fabric: Fabric) -> Any:
    """Every GPU ends up with all `payload` bytes of which it held a part; scattering sums takes as long."""
    moved = payload * (group.size - 1) / group.size
    return _seconds(moved, group, fabric, fabric.ring_bytes_per_s, tree=False)


def exchange_s(payload: Any, group: Group, fabric: Fabric) -> Any:
    """All-to-all: every GPU has `payload` bytes, of which each other one gets an equal part."""
    import numpy as np

    inside = _members_inside(group, fabric)
    to_others = payload * (group.size - 1) / group.size
    to_machines = payload * (group.size - inside) / group.size
    own_card = fabric.network_bytes_per_s / fabric.gpus_per_node
    seconds = np.maximum(to_others / fabric.ring_bytes_per_s, to_machines / own_card)
    return np.where(np.asarray(group.size) > 1, seconds + _start(group, fabric, tree=True), 0.0)


def send_s(payload: Any, stride: Any, fabric: Fabric) -> Any:
    """One GPU sends `payload` bytes to the one `stride` ranks further, while its neighbours do the same."""
    import numpy as np

    outside = np.asarray(stride) >= fabric.gpus_per_node
    own_card = fabric.network_bytes_per_s / fabric.gpus_per_node
    return np.where(
        outside,
        payload / own_card + fabric.network_start_s,
        payload / fabric.send_bytes_per_s + fabric.inside_start_s * _SEND_START,
    )


def _members_inside(group: Group, fabric: Fabric) -> Any:
    """Members of a group in one machine."""
    import numpy as np

    return np.clip(np.floor_divide(fabric.gpus_per_node, group.stride), 1, group.size)


def _seconds(moved: Any, group: Group, fabric: Fabric, inside_bytes_per_s: float, *, tree: bool) -> Any:
    import numpy as np

    inside = _members_inside(group, fabric)
    outside = np.asarray(group.size) > inside
    reach = np.where(np.asarray(group.size) * group.stride <= fabric.island, fabric.island_bytes_per_s, 0.0)
    links = _links_used(inside, fabric)
    local = np.where(inside > 1, np.maximum(inside_bytes_per_s * links, reach), np.inf)
    cards = fabric.network_bytes_per_s * inside / fabric.gpus_per_node
    bus = np.where(outside, np.minimum(local, cards), local)
    ramp = np.where(outside, fabric.network_ramp_s, fabric.inside_ramp_s)
    wire = moved / bus
    seconds = wire + 2 * np.sqrt(ramp * wire) + _start(group, fabric, tree=tree)
    return np.where(np.asarray(group.size) > 1, seconds, 0.0)


def _links_used(inside: Any, fabric: Fabric) -> Any:
    """Share of a GPU's links that lead to members of its group: one in each direction of a mesh."""
    import numpy as np

    mesh = np.asarray(fabric.mesh)
    return np.where(mesh > 1, np.minimum(1.0, inside / np.maximum(mesh, 1)), 1.0)


def _start(group: Group, fabric: Fabric, *, tree: bool) -> Any:
    """A tree over machines is as deep as the logarithm of their number; a ring passes through all of them."""
    import numpy as np

    nodes = np.ceil(group.size / _members_inside(group, fabric))
    hops = 2 * np.log2(np.maximum(nodes, 1)) if tree else nodes - 1
    return np.where(nodes > 1, fabric.network_start_s + hops * fabric.network_hop_s, fabric.inside_start_s)


def _between(link: Link) -> float:
    return link.between_islands_bytes_per_s or link.bytes_per_s
