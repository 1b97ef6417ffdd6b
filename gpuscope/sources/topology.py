"""The topology of this machine: GPUs from the driver, network cards and all places from sysfs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.numa import read_numa_nodes
from gpuscope.sources.pci_places import PciPlace, distance, place_of_bus_id, place_of_folder, system_bus_id
from gpuscope.sources.system_files import names_in


class GpuPlace(NamedTuple):
    """What has to be known of a GPU to find it."""

    number: int
    """NVML's index."""
    uuid: str
    pci_bus_id: str | None
    """As NVML writes it."""


class _Part(NamedTuple):
    name: str
    kind: str
    uuid: str | None
    place: PciPlace


def read_topology(
    sysfs: Path, gpus: Sequence[GpuPlace], gpu_links: Mapping[tuple[int, int], tuple[str | None, int]]
) -> dict[str, Any]:
    """Parts, links and NUMA nodes in the shape of `Topology`.

    Args:
        sysfs: `/sys`, or a prepared folder.
        gpus: in the order in which they are to be shown.
        gpu_links: what the driver says of pairs of them (distance in letters, NVLinks); it knows better than sysfs.
    """
    nodes = read_numa_nodes(sysfs)
    parts = [_gpu(sysfs, gpu) for gpu in gpus] + _network_cards(sysfs)
    links: list[dict[str, Any]] = []
    for first, second in combinations(range(len(parts)), 2):
        told, nvlinks = gpu_links.get((first, second), (None, 0))
        way = told or distance(parts[first].place, parts[second].place, len(nodes))
        links.append({"first": first, "second": second, "distance": way, "nvlinks": nvlinks})
    return {"parts": [_shape(part) for part in parts], "links": links, "numa_nodes": nodes}


def _gpu(sysfs: Path, gpu: GpuPlace) -> _Part:
    bus_id = system_bus_id(gpu.pci_bus_id) if gpu.pci_bus_id is not None else "unknown"
    return _Part(f"GPU{gpu.number}", "gpu", gpu.uuid, place_of_bus_id(sysfs, bus_id))


def _network_cards(sysfs: Path) -> list[_Part]:
    """Cards on PCI, each once: RDMA cards by the name that communication libraries use, others by their interface."""
    cards: dict[str, _Part] = {}
    for group in ("infiniband", "net"):
        folder = sysfs / "class" / group
        for name in names_in(folder):
            place = place_of_folder(folder / name / "device")
            if place is not None and place.bus_id not in cards:
                cards[place.bus_id] = _Part(name, "network", None, place)
    return list(cards.values())


def _shape(part: _Part) -> dict[str, Any]:
    """The part in the shape of `TopologyPart`."""
    place = part.place
    known = {"numa_node": place.numa_node, "cpus": place.cpus, "pcie_path": place.path or Reason.NOT_OFFERED}
    reasons = {name: value for name, value in known.items() if isinstance(value, Reason)}
    return {
        "name": part.name,
        "kind": part.kind,
        "uuid": part.uuid,
        "pci_bus_id": place.bus_id,
        **{name: value for name, value in known.items() if name not in reasons},
        "unavailable": reasons,
    }
