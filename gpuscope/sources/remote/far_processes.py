"""Processes on the GPUs of a far machine, with nothing but Python's own library and nvidia-ml-py."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.system_files import reading_of

INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""Inode of the machine's own PID namespace (PROC_PID_INIT_INO in Linux' include/linux/proc_ns.h)."""
MOST_PID = 2**22
"""PID_MAX_LIMIT of 64-bit Linux (include/linux/threads.h)."""
SUCCESS, NOT_FOUND = 0, 6
"""NVML's codes with which nvidia-ml-py says that no process ran."""
_LISTS = {
    "graphics": "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "compute": "nvmlDeviceGetComputeRunningProcesses_v3",
}
_FACTS = ("name", "user")
PROC = Path("/proc")


class FarProcesses:
    """The processes of one GPU with their memory and their share of its time."""

    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._newest_us = 0
        self._asked = False

    def read(self, memory_total_bytes: int | None) -> list[dict[str, Any]] | Reason:
        """All processes by number, in the shape of `ProcessSample`; SCRAMBLED when the list cannot be right.

        Raises:
            NVMLError: the list is not to be had.
        """
        found: dict[int, tuple[int | None, str]] = {}
        for kind, function in _LISTS.items():
            for entry in getattr(self._nvml, function)(self._handle):
                too_much = memory_total_bytes is not None and (entry.usedGpuMemory or 0) > memory_total_bytes
                if not 0 < entry.pid <= MOST_PID or too_much:
                    return Reason.SCRAMBLED
                found[entry.pid] = (entry.usedGpuMemory, kind)
        shares = self._shares()
        return [_process(pid, *found[pid], shares) for pid in sorted(found)]

    def _shares(self) -> Any:
        """Percent by process since the last reading, or why there are none; those that are not in it were idle."""
        first, self._asked = not self._asked, True
        try:
            samples = self._nvml.nvmlDeviceGetProcessUtilization(self._handle, self._newest_us)
        except self._nvml.NVMLError as error:
            return {} if error.value in (SUCCESS, NOT_FOUND) else Reason.NOT_SUPPORTED
        newest: dict[int, tuple[int, int]] = {}
        for sample in samples:
            self._newest_us = max(self._newest_us, sample.timeStamp)
            if sample.smUtil <= 100 and sample.timeStamp >= newest.get(sample.pid, (0, 0))[0]:
                newest[sample.pid] = (sample.timeStamp, sample.smUtil)
        return Reason.FIRST_READING if first else {pid: share for pid, (_, share) in newest.items()}


def _process(pid: int, memory_bytes: int | None, kind: str, shares: Any) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "gpu_memory_bytes": Reason.NOT_SUPPORTED if memory_bytes is None else memory_bytes,
        "sm_percent": shares if isinstance(shares, Reason) else shares.get(pid, 0),
        **_facts(pid),
    }
    return {"pid": pid, "kind": kind, **reading_of(figures)}


def _facts(pid: int) -> dict[str, Any]:
    """Name and user. In a container the driver's numbers are the host's: looked up there, they would name strangers."""
    try:
        if (PROC / "self" / "ns" / "pid").stat().st_ino != INITIAL_PID_NAMESPACE:
            return dict.fromkeys(_FACTS, Reason.PID_NAMESPACE)
        folder = PROC / str(pid)
        name = (folder / "comm").read_bytes().decode("utf-8", "replace").strip()
        return {"name": name, "user": _user(os.stat(folder).st_uid)}  # noqa: PTH116 # as the readers of /proc do
    except OSError:
        return dict.fromkeys(_FACTS, Reason.PROCESS_ENDED)


def _user(number: int) -> Any:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return Reason.NOT_OFFERED
