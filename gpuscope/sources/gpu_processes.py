"""Which processes are on a GPU, from the driver, and what they are called."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

import psutil

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import ProcessSample
from gpuscope.sources.driver import NOT_OFFERED, Driver, DriverError

INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""Inode of the machine's own PID namespace (PROC_PID_INIT_INO in Linux' include/linux/proc_ns.h)."""


def read_processes(driver: Driver, handle: Any) -> tuple[tuple[ProcessSample, ...] | Reason, ...]:
    """All processes with a context on the device, by PID; one that computes and draws counts as computing.

    Raises:
        DriverError: a list that this driver offers is not to be had.
    """
    lists: dict[str, list[Any]] = {}
    failure: DriverError | None = None
    for kind in ("Graphics", "Compute"):  # compute last: it wins where a process is in both
        try:
            lists[kind.lower()] = driver.call(f"nvmlDeviceGet{kind}RunningProcesses_v3", handle)
        except DriverError as error:
            failure = error
    if failure is not None and not (lists and failure.reason in NOT_OFFERED):
        raise failure  # half a list would look like a whole one
    found = {int(entry.pid): _process(entry, kind) for kind, entries in lists.items() for entry in entries}
    return (tuple(found[pid] for pid in sorted(found)),)


def _process(entry: Any, kind: str) -> ProcessSample:
    unavailable: dict[str, Reason] = {}
    if entry.usedGpuMemory is None:
        unavailable["gpu_memory_bytes"] = Reason.WDDM if _under_windows() else Reason.NO_DATA
    name = _name(int(entry.pid))
    if isinstance(name, Reason):
        unavailable["name"] = name
    return ProcessSample(
        pid=int(entry.pid),
        kind=kind,
        name=None if isinstance(name, Reason) else name,
        gpu_memory_bytes=entry.usedGpuMemory,
        unavailable=unavailable,
    )


def _name(pid: int) -> str | Reason:
    """Name of a process that the driver reports; inside a container its PIDs are the host's and would mislead."""
    if not _sees_host_pids():
        return Reason.PID_NAMESPACE
    try:
        return str(psutil.Process(pid).name())
    except psutil.NoSuchProcess:
        return Reason.PROCESS_ENDED
    except psutil.AccessDenied:
        return Reason.NO_PERMISSION


def _sees_host_pids() -> bool:
    if sys.platform != "linux":
        return True
    try:
        return os.stat("/proc/self/ns/pid").st_ino == INITIAL_PID_NAMESPACE  # noqa: PTH116 # a magic link, not a path
    except OSError:
        return False


def _under_windows() -> bool:
    return sys.platform == "win32" or "microsoft" in platform.release().lower()
