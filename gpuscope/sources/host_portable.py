"""The figures of a host that has no /proc (Windows, macOS), as far as psutil gives them."""

from __future__ import annotations

import platform
import socket
import time
import warnings
from typing import Any

import psutil

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import HostSample
from gpuscope.sources.block_and_net import (
    DISK_SUMS,
    NETWORK_SUMS,
    VIRTUAL_DISK,
    VIRTUAL_INTERFACE,
    DeviceRates,
    device_list,
    sums,
)
from gpuscope.sources.host_reader import SLOW_INTERVAL_S
from gpuscope.sources.process_tree_portable import PortableProcessTree
from gpuscope.sources.processors import SHARES
from gpuscope.sources.system_files import Figures, reading_of

_NO_FIGURES = frozenset({"disks", "networks", "rdma", "temperatures", "read_s", "unavailable"})
_FIGURES = tuple(
    name for name in HostSample.__struct_fields__ if name not in _NO_FIGURES and not name.startswith("workload_")
)
"""What a sample can hold; those that psutil does not give are missing for a reason."""


def read_portable_facts() -> dict[str, Any]:
    """The facts in the shape of `Host`; what is not known is None."""
    return {
        "hostname": socket.gethostname(),
        "os": platform.platform(terse=True),
        "cpu_name": platform.processor() or None,
        "cores": psutil.cpu_count(logical=False),
        "threads": psutil.cpu_count(logical=True),
        "memory_total_bytes": psutil.virtual_memory().total,
        "swap_total_bytes": _swap().total,
    }


class PortableHostReader:
    """Figures of the machine and of the workload's process tree, in the shape of `HostSample`.

    CPU shares are kept per thread by psutil: create and use it in one thread.

    Attributes:
        slow_interval_s: as of `HostReader`; nothing is slow here.
    """

    slow_interval_s = SLOW_INTERVAL_S

    def __init__(self, root_pid: int | None = None) -> None:
        self._disks = DeviceRates()
        self._networks = DeviceRates()
        self._read_before = False
        self.follow(root_pid)

    def follow(self, root_pid: int | None) -> None:
        """Watch the process tree of a workload; None watches none."""
        self._tree = PortableProcessTree(root_pid) if root_pid is not None else None

    def read(self, now_s: float) -> dict[str, Any]:
        """One reading; rates and shares are over the time since the last one.

        Args:
            now_s: monotonic time.
        """
        start_s = time.perf_counter()
        memory, swap = psutil.virtual_memory(), _swap()
        one, five, fifteen = psutil.getloadavg()
        figures: Figures = {
            **dict.fromkeys(_FIGURES, Reason.NOT_OFFERED),
            "memory_total_bytes": memory.total,
            "memory_used_bytes": memory.total - memory.available,
            "memory_available_bytes": memory.available,
            "swap_total_bytes": swap.total,
            "swap_used_bytes": swap.used,
            "load_1min": one,
            "load_5min": five,
            "load_15min": fifteen,
        }
        figures |= self._cpu() | self._disk_rates(now_s) | self._network_rates(now_s)
        if self._tree is not None:
            figures |= self._tree.read(now_s)
        figures["read_s"] = time.perf_counter() - start_s
        return reading_of(figures)

    def _cpu(self) -> Figures:
        """psutil's first answer is meaningless: it covers no time."""
        cores = psutil.cpu_percent(percpu=True)
        first, self._read_before = not self._read_before, True
        if first or not cores:
            return dict.fromkeys(SHARES[:2], Reason.FIRST_READING)
        return {"cpu_percent": sum(cores) / len(cores), "cpu_percent_per_core": cores}

    def _disk_rates(self, now_s: float) -> Figures:
        counters = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
        rows = self._disks.rows(
            {
                name: {"read_bytes_per_s": disk.read_bytes, "write_bytes_per_s": disk.write_bytes}
                for name, disk in counters.items()
                if not VIRTUAL_DISK.match(name)
            },
            now_s,
        )
        return {"disks": device_list(rows), **sums(rows.values(), DISK_SUMS)}

    def _network_rates(self, now_s: float) -> Figures:
        counters = psutil.net_io_counters(pernic=True, nowrap=False) or {}
        rows = self._networks.rows(
            {
                name: {"receive_bytes_per_s": card.bytes_recv, "send_bytes_per_s": card.bytes_sent}
                for name, card in counters.items()
                if not VIRTUAL_INTERFACE.match(name)
            },
            now_s,
        )
        return {"networks": device_list(rows), **sums(rows.values(), NETWORK_SUMS)}


def _swap() -> Any:
    with warnings.catch_warnings():  # psutil warns where the paging counters, which are not used here, are hidden
        warnings.simplefilter("ignore", RuntimeWarning)
        return psutil.swap_memory()
