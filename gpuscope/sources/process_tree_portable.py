"""The workload's processes where there is no /proc: who belongs to it, and what each one uses, by psutil."""

from __future__ import annotations

from typing import Any

import psutil

from gpuscope.domain.reasons import Reason
from gpuscope.sources.process_tree import WORKLOAD, workload_totals
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.system_files import Figures, reading_of


class PortableProcessTree:
    """A process and all its descendants.

    A member whose parent ends is handed to another parent by the system; it stays a member, and so do its children.
    """

    def __init__(self, root_pid: int) -> None:
        self._members: dict[int, psutil.Process] = {}
        self._rates = CounterRates()
        self._add(root_pid)

    def read(self, now_s: float) -> Figures:
        """The workload's fields of a `HostSample`."""
        self._renew()
        rows = [row for process in self._members.values() if (row := self._process(process, now_s)) is not None]
        return {"workload_processes": sorted(rows, key=lambda row: int(row["pid"])), **workload_totals(rows)}

    def _renew(self) -> None:
        """Drop the dead (and PIDs that now belong to others), find the new."""
        self._members = {pid: process for pid, process in self._members.items() if process.is_running()}
        waiting = list(self._members)
        while waiting:
            new = [pid for pid in _children(waiting.pop()) if pid not in self._members]
            waiting += [pid for pid in new if self._add(pid)]
        self._rates.forget_all_but({(pid, what) for pid in self._members for what in ("cpu", "read", "write")})

    def _add(self, pid: int) -> bool:
        try:
            self._members[pid] = psutil.Process(pid)
        except psutil.Error:
            return False
        return True

    def _process(self, process: psutil.Process, now_s: float) -> dict[str, Any] | None:
        """One member in the shape of a `ProcessSample`; None when it ended meanwhile or is a zombie."""
        values: Figures = {}
        try:
            with process.oneshot():
                if process.status() == psutil.STATUS_ZOMBIE:
                    return None
                times, name = process.cpu_times(), process.name()
                values["threads"] = process.num_threads()
                values["rss_bytes"] = process.memory_info().rss
                values |= self._input_output(process, now_s)
        except psutil.NoSuchProcess:
            return None
        except psutil.AccessDenied:
            reasons = dict.fromkeys(("cpu_percent", "rss_bytes"), Reason.SYSTEM_REFUSES)
            return {"pid": process.pid, "kind": WORKLOAD, "unavailable": reasons}
        share = self._rates.rate((process.pid, "cpu"), times.user + times.system, now_s)
        values["cpu_percent"] = share if isinstance(share, Reason) else 100 * share
        return {"pid": process.pid, "kind": WORKLOAD, "name": name, **reading_of(values)}

    def _input_output(self, process: psutil.Process, now_s: float) -> Figures:
        """Bytes a second that really went to and from disks."""
        names = ("read_bytes_per_s", "write_bytes_per_s")
        if not hasattr(process, "io_counters"):  # psutil on macOS
            return dict.fromkeys(names, Reason.NOT_SUPPORTED)
        try:
            counters = process.io_counters()
        except psutil.AccessDenied:
            return dict.fromkeys(names, Reason.SYSTEM_REFUSES)
        read = self._rates.rate((process.pid, "read"), counters.read_bytes, now_s)
        write = self._rates.rate((process.pid, "write"), counters.write_bytes, now_s)
        return {"read_bytes_per_s": read, "write_bytes_per_s": write}


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []
