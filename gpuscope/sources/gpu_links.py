"""How GPUs are connected, as NVIDIA's driver says: asked once after each start, some 60 calls a GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gpuscope.domain.topology import Topology
from gpuscope.sources.driver import Driver, DriverError
from gpuscope.sources.nvml_devices import Found
from gpuscope.sources.pci_places import system_bus_id
from gpuscope.sources.topology import GpuPlace, read_topology

# nvml.h: nvmlGpuTopologyLevel_t, nvmlIntNvLinkDeviceType_t, nvmlGpuP2PCapsIndex_t, nvmlGpuP2PStatus_t.
_DISTANCES = {0: "PIX", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
"""0 is two GPUs on one board, which have a switch between them."""
_MAX_LINKS = 36
_LINK_ACTIVE = 1
_SWITCH = 2
_P2P_OVER_NVLINK = 2
_P2P_OK = 0
_ANY_SWITCH = "switch"


class GpuLink(NamedTuple):
    """What the driver says of two GPUs."""

    distance: str | None
    nvlinks: int


def machine_topology(driver: Driver, gpus: Sequence[Found], sysfs: Path) -> Topology | None:
    """The topology of the machine around these GPUs; None where there is none."""
    if not gpus:
        return None
    places = [GpuPlace(gpu.device.index, gpu.device.uuid, gpu.device.pci_bus_id) for gpu in gpus]
    bus_ids = [system_bus_id(place.pci_bus_id or "") for place in places]
    links = read_gpu_links(driver, [gpu.handle for gpu in gpus], bus_ids)
    return msgspec.convert(read_topology(sysfs, places, links), Topology)


def read_gpu_links(driver: Driver, handles: Sequence[Any], bus_ids: Sequence[str]) -> dict[tuple[int, int], GpuLink]:
    """Each pair of GPUs by their places in the lists.

    Args:
        driver: an initialised driver.
        handles: the driver's handles of the GPUs.
        bus_ids: their PCI numbers in the system's form.
    """
    ends = [_ends(driver, handle) for handle in handles]
    links: dict[tuple[int, int], GpuLink] = {}
    for one, other in combinations(range(len(handles)), 2):
        pair = handles[one], handles[other]
        level = _answer(driver, "nvmlDeviceGetTopologyCommonAncestor", *pair)
        direct = ends[one][bus_ids[other]]
        shared = ends[one] & ends[other]  # the smaller number of each: links to the same switch, or to any
        through = sum(count for end, count in shared.items() if end not in bus_ids)
        if through and not direct:
            status = _answer(driver, "nvmlDeviceGetP2PStatus", *pair, _P2P_OVER_NVLINK)
            if status not in {_P2P_OK, None}:  # the switches keep the two apart
                through = 0
        links[one, other] = GpuLink(_DISTANCES.get(level), direct or through)
    return links


def _ends(driver: Driver, handle: Any) -> Counter[str]:
    """How many active links of a GPU lead to which end: a PCI number, or a switch."""
    ends: Counter[str] = Counter()
    for link in range(_MAX_LINKS):
        try:
            active = driver.call("nvmlDeviceGetNvLinkState", handle, link) == _LINK_ACTIVE
        except DriverError:
            break  # no more links, or none at all
        if not active:
            continue
        kind = _answer(driver, "nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
        if kind == _SWITCH:  # a virtual machine sees no switch, and the driver gives no number for it there
            ends[_ANY_SWITCH] += 1
        else:
            remote = _answer(driver, "nvmlDeviceGetNvLinkRemotePciInfo", handle, link)
            if remote is not None:
                ends[_bus_id(remote.busId)] += 1
    return ends


def _bus_id(text: str | bytes) -> str:
    return system_bus_id(text.decode("ascii", "replace") if isinstance(text, bytes) else text)


def _answer(driver: Driver, function: str, *arguments: Any) -> Any:
    """The driver's answer; None when it has none, which is not worth more: a lost GPU shows at its next reading."""
    try:
        return driver.call(function, *arguments)
    except DriverError:
        return None
