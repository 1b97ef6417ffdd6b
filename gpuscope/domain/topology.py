"""How the GPUs and network cards of a machine are connected: what `nvidia-smi topo -m` shows, as a value."""

from __future__ import annotations

from enum import StrEnum

from gpuscope.domain.base import Value
from gpuscope.domain.reasons import Reason


class Distance(StrEnum):
    """What lies between two devices on the way over PCIe, from near to far; the names are those of nvidia-smi."""

    PIX = "PIX"
    PXB = "PXB"
    PHB = "PHB"
    NODE = "NODE"
    SYS = "SYS"


DISTANCE_SENTENCES: dict[Distance, str] = {
    Distance.PIX: "At most one PCIe switch between them.",
    Distance.PXB: "Several PCIe switches between them, but not the processor.",
    Distance.PHB: "The way leads through the processor's PCIe host bridge.",
    Distance.NODE: "The way leads through several host bridges of one NUMA node.",
    Distance.SYS: "The way leads through the link between processors: the slowest.",
}
SELF = "X"
UNKNOWN = "?"


class NumaNode(Value, frozen=True, kw_only=True):
    """A part of the machine whose processors and memory are near to each other."""

    number: int
    cpus: str = ""
    """Hardware threads, as `0-31,64-95`; empty for one that is memory alone."""
    memory_total_bytes: int | None = None
    distances: tuple[int, ...] = ()
    """To all nodes in order, as the firmware tells: 10 is the node itself, 20 twice as far."""


class TopologyPart(Value, frozen=True, kw_only=True):
    """A GPU or a network card."""

    name: str
    """`GPU0` by NVML's index, or the card's name in the system: `mlx5_0`, `eth0`."""
    kind: str
    """gpu or network"""
    uuid: str | None = None
    """Of a GPU."""
    pci_bus_id: str | None = None
    numa_node: int | None = None
    cpus: str | None = None
    """The hardware threads next to it, as `0-31,64-95`."""
    pcie_path: tuple[str, ...] = ()
    """Host bridge, then PCIe bridges (each switch is two) on the way to it."""
    unavailable: dict[str, Reason] = {}


class TopologyLink(Value, frozen=True, kw_only=True):
    """The ways between two parts."""

    first: int
    second: int
    """Places in the list of parts; the first is the smaller."""
    distance: Distance | None = None
    """Over PCIe; None: nobody can tell, as in a container that hides the devices."""
    nvlinks: int = 0
    """Active NVLinks between two GPUs, directly or through switches."""


class Topology(Value, frozen=True, kw_only=True):
    """Parts, every pair of them once, and the NUMA nodes."""

    parts: tuple[TopologyPart, ...] = ()
    links: tuple[TopologyLink, ...] = ()
    numa_nodes: tuple[NumaNode, ...] = ()

    def matrix(self) -> list[list[str]]:
        """A square of `X`, `NV18`, `PIX`, ... or `?`, rows and columns in the order of the parts."""
        cells = [
            [SELF if row == column else UNKNOWN for column in range(len(self.parts))] for row in range(len(self.parts))
        ]
        for link in self.links:
            cells[link.first][link.second] = cells[link.second][link.first] = short_name(link)
        return cells


def short_name(link: TopologyLink) -> str:
    """The best way between two parts in nvidia-smi's letters."""
    return f"NV{link.nvlinks}" if link.nvlinks else (link.distance or UNKNOWN)


def matrix_lines(topology: Topology) -> list[str]:
    """The matrix as text, with NUMA node and nearest hardware threads of each part, and what the letters mean."""
    names = [part.name for part in topology.parts]
    heading = ["", *names, "NUMA", "CPUs"]
    rows = [
        [part.name, *cells, UNKNOWN if part.numa_node is None else str(part.numa_node), part.cpus or UNKNOWN]
        for part, cells in zip(topology.parts, topology.matrix(), strict=True)
    ]
    table = [heading, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(heading))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    used = {cell for row in topology.matrix() for cell in row}
    legend = [f"{distance}: {sentence}" for distance, sentence in DISTANCE_SENTENCES.items() if distance in used]
    if any(link.nvlinks for link in topology.links):
        legend.append("NV and a number: so many NVLinks, directly or through NVSwitches.")
    if UNKNOWN in used:
        legend.append("?: not known, the system does not show where the devices are.")
    return [*lines, *legend]
