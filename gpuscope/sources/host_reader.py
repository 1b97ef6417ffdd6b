"""All figures of a Linux host from /proc and /sys, with nothing but Python's own library.

A reading is a plain dictionary in the shape of `HostSample`, so that it can also come from a machine that has nothing
of gpuscope's but these modules.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.block_and_net import Disks, Networks
from gpuscope.sources.cgroup import OWN, ControlGroup
from gpuscope.sources.memory import Memory
from gpuscope.sources.memory_bandwidth import MemoryBandwidth
from gpuscope.sources.pressure import Pressure
from gpuscope.sources.process_tree import ProcessTree
from gpuscope.sources.processors import ProcessorShares, online_threads, read_frequencies
from gpuscope.sources.rdma import RdmaPorts
from gpuscope.sources.system_files import Figures, reading_of
from gpuscope.sources.temperatures import Temperatures

SLOW_INTERVAL_S = 5.0
"""Sensors and frequencies, which can take tens of milliseconds, and what seldom changes."""
SLOW_SHARE = 0.002
"""They take no more of a core than this: where they are slower, they are read less often."""
LARGEST_STRETCH = 8


class HostReader:
    """Figures of the machine and of the workload's process tree.

    Attributes:
        slow_interval_s: seconds between readings of what is slow; grows where it is too slow.
    """

    def __init__(self, root: Path = Path("/"), root_pid: int | None = None) -> None:
        """Read below `root`: `/`, or a prepared tree with `proc` and `sys`."""
        self._root = root
        proc, sysfs = root / "proc", root / "sys"
        self._sysfs = sysfs
        self._processors = ProcessorShares(proc)
        self._pressure = Pressure(proc)
        self._memory = Memory(proc)
        self._disks = Disks(proc, sysfs)
        self._networks = Networks(proc, sysfs)
        self._rdma = RdmaPorts(sysfs)
        self._temperatures = Temperatures(sysfs)
        self._bandwidth = MemoryBandwidth(root)
        self._next_slow_s = float("-inf")
        self.slow_interval_s = SLOW_INTERVAL_S
        self._slow_before = False
        self.follow(root_pid)

    def follow(self, root_pid: int | None) -> None:
        """Watch the process tree of a workload, and the limits that hold for it; None watches none."""
        self._tree = ProcessTree(root_pid, self._root) if root_pid is not None else None
        self._group = ControlGroup(self._root, OWN if root_pid is None else str(root_pid))
        self._find()

    def read(self, now_s: float) -> dict[str, Any]:
        """One reading; rates and shares are over the time since the last one.

        Args:
            now_s: monotonic time.
        """
        start_s = time.perf_counter()
        figures = self._processors.read()
        figures |= self._pressure.read(now_s)
        figures |= self._memory.read(now_s)
        figures |= self._disks.read(now_s)
        figures |= self._networks.read(now_s)
        figures |= self._rdma.read(now_s)
        figures |= self._bandwidth.read(now_s)
        figures |= self._group.read(now_s)
        if self._tree is not None:
            figures |= self._tree.read(now_s)
        if now_s >= self._next_slow_s:  # last, since what is read after it would be read later than `now_s`
            figures |= self._slow()
            self._next_slow_s = now_s + self.slow_interval_s
        figures["read_s"] = time.perf_counter() - start_s
        return reading_of(figures)

    def _slow(self) -> Figures:
        start_s = time.thread_time()
        self._find()
        self._networks.look_at_links()
        figures = read_frequencies(self._sysfs) | self._temperatures.read()
        self._keep_to_share(time.thread_time() - start_s)
        return figures

    def _find(self) -> None:
        """Look for limits, counters and ports, which come and go."""
        total_bytes = self._memory.amounts()["memory_total_bytes"]
        known_bytes = float("inf") if isinstance(total_bytes, Reason) else total_bytes
        self._group.find(known_bytes, online_threads(self._sysfs) or float("inf"))
        self._bandwidth.find()
        self._rdma.find()

    def _keep_to_share(self, cost_s: float) -> None:
        """Read less often what costs too much; the first reading, which finds nothing in caches, does not count."""
        if self._slow_before and cost_s > SLOW_SHARE * self.slow_interval_s:
            self.slow_interval_s = min(2 * self.slow_interval_s, LARGEST_STRETCH * SLOW_INTERVAL_S)
        self._slow_before = True
