"""The workload's processes: who belongs to it, and what each one uses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psutil

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import ProcessSample
from gpuscope.sources.rates import CounterRates

WORKLOAD = "workload"


class ProcessTree:
    """A process and all its descendants.

    A member whose parent ends is handed to another parent by the system; it stays a member, and so do its children.
    """

    def __init__(self, root_pid: int) -> None:
        self._members: dict[int, psutil.Process] = {}
        self._rates = CounterRates()
        self._add(root_pid)

    def sample(self, now_s: float) -> tuple[dict[str, Any], dict[str, Reason]]:
        """The workload's fields of a `HostSample`, and the reasons for those that are missing."""
        self._renew()
        samples = [
            sample for process in self._members.values() if (sample := self._process(process, now_s)) is not None
        ]
        if not samples:
            return {"workload_processes": ()}, dict.fromkeys(
                ("workload_cpu_percent", "workload_rss_bytes"), Reason.PROCESS_ENDED
            )
        figures: dict[str, Any] = {"workload_processes": tuple(sorted(samples, key=lambda sample: sample.pid))}
        reasons: dict[str, Reason] = {}
        for name, part in (("workload_cpu_percent", "cpu_percent"), ("workload_rss_bytes", "rss_bytes")):
            known = [value for sample in samples if (value := getattr(sample, part)) is not None]
            if known:
                figures[name] = sum(known)
            else:
                reasons[name] = next(sample.unavailable[part] for sample in samples)
        return figures, reasons

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

    def _process(self, process: psutil.Process, now_s: float) -> ProcessSample | None:
        """One member's figures; None when it ended meanwhile or is a zombie, which uses nothing."""
        values: dict[str, Any] = {}
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
            reasons = dict.fromkeys(("cpu_percent", "rss_bytes"), Reason.NO_PERMISSION)
            return ProcessSample(pid=process.pid, kind=WORKLOAD, unavailable=reasons)
        share = self._rates.rate((process.pid, "cpu"), times.user + times.system, now_s)
        values["cpu_percent"] = share if isinstance(share, Reason) else 100 * share
        return ProcessSample(
            pid=process.pid,
            kind=WORKLOAD,
            name=name,
            unavailable={key: value for key, value in values.items() if isinstance(value, Reason)},
            **{key: value for key, value in values.items() if not isinstance(value, Reason)},
        )

    def _input_output(self, process: psutil.Process, now_s: float) -> dict[str, float | Reason]:
        """Bytes a second that really went to and from disks."""
        names = ("read_bytes_per_s", "write_bytes_per_s")
        if not hasattr(process, "io_counters"):  # psutil on macOS
            return dict.fromkeys(names, Reason.NOT_SUPPORTED)
        try:
            counters = process.io_counters()
        except psutil.AccessDenied:
            return dict.fromkeys(names, Reason.NO_PERMISSION)
        read = self._rates.rate((process.pid, "read"), counters.read_bytes, now_s)
        write = self._rates.rate((process.pid, "write"), counters.write_bytes, now_s)
        return {"read_bytes_per_s": read, "write_bytes_per_s": write}


def _children(pid: int) -> list[int]:
    """PIDs of a process's children: from the kernel's own list where it keeps one, which costs far less than a scan."""
    if sys.platform == "linux":
        lists = list(Path(f"/proc/{pid}/task").glob("*/children"))
        if lists:
            return [int(child) for path in lists for child in _words(path)]
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:
        return []  # the thread has ended
