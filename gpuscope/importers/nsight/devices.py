"""The GPUs that an export describes, and which of them a process means by its number of a device."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuscope.importers.nsight.database import Database

_MOST_BYTES = 2**53
_MOST_DEVICES = 4096
"""No machine has more GPUs: a larger number is damage."""
_PID_SHIFT, _PID_MASK = 24, 0xFFFFFF
"""A global id is hardware id, virtual machine, process (24 bits) and thread (24 bits), high to low."""


class KnownGpu(NamedTuple):
    """One GPU of the machine."""

    name: str | None
    memory_bytes: int | None


class Gpus:
    """GPUs by their number in the machine."""

    def __init__(self, database: Database) -> None:
        self.known = _known(database)
        self._visible = _visible(database)

    def physical(self, pid: int, device: Any) -> int:
        """The GPU that a process knows as its device of this number (CUDA_VISIBLE_DEVICES counts anew).

        Args:
            pid: of the process.
            device: as the export has it; what is no number of a device counts as the first.
        """
        number = device if isinstance(device, int) and 0 <= device < _MOST_DEVICES else 0
        return self._visible.get((pid, number), number)


def pid_of(global_id: Any) -> int:
    """Process id in a `globalPid` or `globalTid`; 0 where there is none."""
    return global_id >> _PID_SHIFT & _PID_MASK if isinstance(global_id, int) and global_id > 0 else 0


def _known(database: Database) -> dict[int, KnownGpu]:
    """From TARGET_INFO_GPU (2021 on), else TARGET_INFO_CUDA_GPU."""
    for table in ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"):
        if database.has(table, "id", "name"):
            memory = database.first_of(table, "totalMemory", "globalMemory")
            rows = database.rows(table, f"id, name, {memory or 'NULL'}", f"LIMIT {_MOST_DEVICES}")
            found = {
                index: KnownGpu(str(name)[:200] if name else None, _size(memory_bytes))
                for index, name, memory_bytes in rows
                if isinstance(index, int) and 0 <= index < _MOST_DEVICES
            }
            if found:
                return found
    return {}


def _visible(database: Database) -> dict[tuple[int, int], int]:
    """(process, its number of the device) → GPU, where the export has it (2022.4 on)."""
    table = "TARGET_INFO_CUDA_DEVICE"
    if not database.has(table, "gpuId", "cudaId", "pid"):
        return {}
    rows = database.rows(table, "pid, cudaId, gpuId", "LIMIT 100000")
    return {
        (pid, device): gpu
        for pid, device, gpu in rows
        if isinstance(pid, int) and isinstance(device, int) and isinstance(gpu, int) and 0 <= gpu < _MOST_DEVICES
    }


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 < value < _MOST_BYTES else None
