"""Where PCI devices sit: the bridges on the way to them, their NUMA node, their nearest processors."""

from __future__ import annotations

import os
import re
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.system_files import Number, read_number, read_text

_HOST_BRIDGE = re.compile(r"pci[0-9a-f]{4,}:[0-9a-f]{2}")
_DEVICE = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class PciPlace(NamedTuple):
    """One device's place."""

    bus_id: str
    path: tuple[str, ...]
    """Host bridge and bridges above the device; empty: not known."""
    numa_node: Number
    cpus: str | Reason


def system_bus_id(nvml_bus_id: str) -> str:
    """NVML's `00000000:3B:00.0` as the system writes it: `0000:3b:00.0`."""
    domain, _, rest = nvml_bus_id.lower().partition(":")
    try:
        return f"{int(domain, 16):04x}:{rest}"
    except ValueError:
        return nvml_bus_id.lower()


def place_of_bus_id(sysfs: Path, bus_id: str) -> PciPlace:
    """The place of the device with this number."""
    return place_of_folder(sysfs / "bus" / "pci" / "devices" / bus_id) or PciPlace(
        bus_id, (), Reason.NOT_OFFERED, Reason.NOT_OFFERED
    )


def place_of_folder(folder: Path) -> PciPlace | None:
    """The place of a device by its folder in sysfs, or that of the PCI device it is a part of; None: on another bus."""
    parts = Path(os.path.realpath(folder)).parts
    if any(part.startswith("usb") for part in parts):
        return None  # that of the USB controller says nothing of what is plugged in
    start = next((at for at, part in enumerate(parts) if _HOST_BRIDGE.fullmatch(part)), None)
    devices = [at for at, part in enumerate(parts) if _DEVICE.fullmatch(part)]
    if start is None or not devices:
        return None
    own = Path(*parts[: devices[-1] + 1])
    numa_node = read_number(own / "numa_node")
    if not isinstance(numa_node, Reason) and numa_node < 0:
        numa_node = Reason.NOT_OFFERED
    return PciPlace(parts[devices[-1]], parts[start : devices[-1]], numa_node, read_text(own / "local_cpulist"))


def distance(one: PciPlace, other: PciPlace, numa_nodes: int) -> str | None:
    """What lies between two devices, in the letters of `Distance`; None where the system does not tell.

    A PCIe switch is a bridge towards the processor and a bridge for each port away from it. Two devices at ports of the
    same switch therefore have the first in common, and one bridge each below it.
    """
    if not one.path or not other.path:
        return None
    if one.path[0] != other.path[0]:
        return _between_host_bridges(one, other, numa_nodes)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.path, other.path)))  # noqa: B905 # 3.9
    if common == 1:
        return "PHB"
    below = max(len(one.path), len(other.path)) - common
    return "PIX" if below <= 1 else "PXB"


def _between_host_bridges(one: PciPlace, other: PciPlace, numa_nodes: int) -> str | None:
    if numa_nodes <= 1:
        return "NODE"
    if isinstance(one.numa_node, Reason) or isinstance(other.numa_node, Reason):
        return None
    return "NODE" if one.numa_node == other.numa_node else "SYS"
