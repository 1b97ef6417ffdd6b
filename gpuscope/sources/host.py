"""The machine itself: facts once, figures at every reading."""

from __future__ import annotations

import platform
import socket
import time
import warnings
from pathlib import Path
from typing import Any

import psutil

from gpuscope.domain.device import Host
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import HostSample
from gpuscope.sources.block_and_net import DiskRates, NetworkRates
from gpuscope.sources.process_tree import ProcessTree


def read_host() -> Host:
    """Facts of this machine that do not change during a session."""
    return Host(
        hostname=socket.gethostname(),
        os=_os_name(),
        cpu_name=_cpu_name(),
        cores=psutil.cpu_count(logical=False),
        threads=psutil.cpu_count(logical=True),
        memory_total_bytes=psutil.virtual_memory().total,
        swap_total_bytes=_swap().total,
    )


class HostSource:
    """Figures of the machine and of the workload's process tree.

    CPU shares are kept per thread by psutil: create and use it in one thread.
    """

    def __init__(self, root_pid: int | None = None) -> None:
        self._disks = DiskRates()
        self._networks = NetworkRates()
        self._read_before = False
        self._tree: ProcessTree | None = None
        self.follow(root_pid)

    def follow(self, root_pid: int | None) -> None:
        """Watch the process tree of a workload; None watches none."""
        self._tree = ProcessTree(root_pid) if root_pid is not None else None

    def sample(self) -> HostSample:
        """One reading; rates and shares are over the time since the last one."""
        now_s = time.monotonic()
        memory, swap = psutil.virtual_memory(), _swap()
        disks, disk_sums, disk_reasons = self._disks.sample(now_s)
        networks, network_sums, network_reasons = self._networks.sample(now_s)
        cpu, cpu_reasons = self._cpu()
        tree, tree_reasons = self._tree.sample(now_s) if self._tree is not None else ({}, {})
        return HostSample(
            load_1min=psutil.getloadavg()[0],
            memory_total_bytes=memory.total,
            memory_used_bytes=memory.used,
            memory_available_bytes=memory.available,
            swap_total_bytes=swap.total,
            swap_used_bytes=swap.used,
            disks=disks,
            networks=networks,
            unavailable=cpu_reasons | disk_reasons | network_reasons | tree_reasons,
            **cpu,
            **disk_sums,
            **network_sums,
            **tree,
        )

    def _cpu(self) -> tuple[dict[str, Any], dict[str, Reason]]:
        """psutil's first answer is meaningless: it covers no time."""
        cores = tuple(psutil.cpu_percent(percpu=True))
        first, self._read_before = not self._read_before, True
        if first or not cores:
            return {}, dict.fromkeys(("cpu_percent", "cpu_percent_per_core"), Reason.FIRST_READING)
        return {"cpu_percent": sum(cores) / len(cores), "cpu_percent_per_core": cores}, {}


def _swap() -> Any:
    with warnings.catch_warnings():  # psutil warns where the paging counters, which are not used here, are hidden
        warnings.simplefilter("ignore", RuntimeWarning)
        return psutil.swap_memory()


def _os_name() -> str:
    """The distribution's own name where there is one."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform(terse=True)


def _cpu_name() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or None
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, None) or platform.processor() or None
