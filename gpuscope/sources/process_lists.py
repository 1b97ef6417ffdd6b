"""The driver's lists of processes, each read with one call into a buffer that is made once."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import (
    FUNCTION_NOT_FOUND,
    INSUFFICIENT_SIZE,
    NOT_FOUND,
    Driver,
    DriverError,
)
from gpuscope.sources.figures import NOT_AVAILABLE, Handle
from gpuscope.sources.structures import Process, ProcessShare, ProcessV1

ROOM = 64
"""Processes that a list is made for at first; it grows when there are more."""
MOST_ROOM = 65536
MOST_PID = 2**22
"""PID_MAX_LIMIT of 64-bit Linux (include/linux/threads.h)."""


class Entry(NamedTuple):
    """A process on a device."""

    pid: int
    memory_bytes: int | None


class Buffer:
    """An array that the driver fills, as large as it once had to be."""

    def __init__(self, structure: Any) -> None:
        self._structure = structure
        self._room = ROOM
        self._array = (structure * ROOM)()
        self._count = ctypes.c_uint()

    def fill(self, call: Callable[[Any, Any], None]) -> Any:
        """What the driver has put into the array; `call` gets a reference to the count, and the array.

        Raises:
            DriverError: the call failed.
        """
        while True:
            self._count.value = self._room
            try:
                call(ctypes.byref(self._count), self._array)
            except DriverError as error:
                if error.code != INSUFFICIENT_SIZE or self._room >= MOST_ROOM:
                    raise
                self._room = min(MOST_ROOM, 2 * max(self._room, self._count.value))  # more may start until then
                self._array = (self._structure * self._room)()
                continue
            return self._array[: min(self._count.value, self._room)]


class ProcessList:
    """One of the driver's lists of processes: those that compute, those that draw, those behind MPS."""

    def __init__(self, driver: Driver, handle: Handle, kind: str) -> None:
        self._driver = driver
        self._handle = handle
        name = f"nvmlDeviceGet{kind}RunningProcesses"
        self._ways = [(f"{name}_v3", Process), (f"{name}_v2", Process), (name, ProcessV1)]
        self._buffer = Buffer(Process)

    def read(self, memory_total_bytes: int | None) -> list[Entry] | Reason:
        """The processes, by the newest function that this driver has; SCRAMBLED when they cannot be right.

        Drivers and libraries have disagreed about the form of the entries: then every number after the first is a part
        of another.

        Raises:
            DriverError: the list is not to be had.
        """
        while True:
            try:
                return _checked(self._buffer.fill(self._ask), memory_total_bytes)
            except DriverError as error:
                if error.code != FUNCTION_NOT_FOUND or len(self._ways) == 1:
                    raise
                del self._ways[0]
                self._buffer = Buffer(self._ways[0][1])

    def _ask(self, count: Any, array: Any) -> None:
        self._driver.raw(self._ways[0][0], self._handle, count, array)


class Shares:
    """SM shares of processes since the reading before, asked for with the newest time stamp that the driver gave."""

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._handle = handle
        self._buffer = Buffer(ProcessShare)
        self._newest_us = 0
        self._asked = False

    def read(self) -> dict[int, int] | Reason:
        """Percent by process; those that are not in it were idle. The first reading only learns the driver's time.

        Raises:
            DriverError: shares are not to be had.
        """
        first, self._asked = not self._asked, True
        since = ctypes.c_ulonglong(self._newest_us)
        try:
            samples = self._buffer.fill(
                lambda count, array: self._driver.raw(
                    "nvmlDeviceGetProcessUtilization", self._handle, array, count, since
                )
            )
        except DriverError as error:
            if error.code != NOT_FOUND:
                raise
            return {}  # nothing ran since then
        newest: dict[int, tuple[int, int]] = {}
        for sample in samples:
            self._newest_us = max(self._newest_us, sample.timeStamp)
            if sample.smUtil <= 100 and sample.timeStamp >= newest.get(sample.pid, (0, 0))[0]:
                newest[sample.pid] = (sample.timeStamp, sample.smUtil)
        if first:
            return Reason.FIRST_READING  # what the driver kept may be old
        return {pid: share for pid, (_, share) in newest.items()}


def _checked(filled: Any, memory_total_bytes: int | None) -> list[Entry] | Reason:
    entries = []
    for item in filled:
        known = item.usedGpuMemory not in NOT_AVAILABLE
        too_much = known and memory_total_bytes is not None and item.usedGpuMemory > memory_total_bytes
        if item.pid == 0 or (item.pid > MOST_PID and sys.platform == "linux") or too_much:
            return Reason.SCRAMBLED
        entries.append(Entry(item.pid, item.usedGpuMemory if known else None))
    return entries
