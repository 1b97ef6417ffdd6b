"""The tables of an export as the columns of a trace, so that both are concluded from by the same code.

Times of an export are nanoseconds since its recording began, here microseconds. Tables and columns that a release does
not have are left out; rows that make no sense are counted.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec

from gpuscope.importers.nsight.database import Database, Row
from gpuscope.importers.nsight.devices import Gpus, pid_of
from gpuscope.importers.pytorch.trace_columns import NO_NUMBER, MemoryEvents, Spans, TraceColumns

KERNELS, COPIES, SETS = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPHS, CALLS, RANGES = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
ALLOCATIONS, STRINGS = "CUDA_GPU_MEMORY_USAGE_EVENTS", "StringIds"

_SANE = "typeof(start)='integer' AND typeof(end)='integer' AND end >= start AND start BETWEEN {0} AND {1} AND end < {1}"
_SANE = _SANE.format(-(10**15), 10**18)
"""Thirty years from the beginning of the recording: what lies beyond is damage."""
_MOST_NAMES = 2_000_000
_MOST_NAME_CHARACTERS = 500
_MOST_CORRELATION = 2**62
_COPY_KINDS = {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device", 10: "Peer-to-Peer"}
"""CUpti_ActivityMemcpyKind, https://docs.nvidia.com/cupti/api/group__CUPTI__ACTIVITY__API.html"""
_HOST_TO_DEVICE = 1
_DEVICE_KINDS = (2, 3, 5)
"""ENUM_CUDA_MEM_KIND: device, array, device static; the others are the host's or shared."""
_ALLOCATED, _FREED = 0, 1
"""ENUM_CUDA_DEV_MEM_EVENT_OPER."""
ON_DEVICE = 1
"""Stands for any device in the columns' key of memory, where 0 is the host."""
_OPERATOR = re.compile(r"((?:aten|c10d?|torchvision|vllm|xformers)::\w+|autograd::engine::evaluate_function: [\w:]+)")
_SIZES = re.compile(r", sizes = (\[.{0,5000}?\])(?:, input_op_ids|$)")
"""`torch.autograd.profiler.emit_nvtx(record_shapes=True)` names its ranges `aten::mm, seq = 3, sizes = [[8, 16]]`."""


class Activities:
    """What each process did, on the CPU and on its GPUs."""

    def __init__(self, database: Database) -> None:
        self.of_process: dict[int, TraceColumns] = defaultdict(TraceColumns)
        """By process id; 0 where the release does not tell processes apart."""
        self.odd = 0
        """Rows without sane times."""
        self.host_to_device: dict[int, list[tuple[float, int]]] = defaultdict(list)
        """By process: moment (µs) and size of each copy to a GPU."""
        self.gpus = Gpus(database)
        self._database = database
        self._strings = _strings(database)
        self._tells_processes = any(database.has(table, "globalPid") for table in (KERNELS, GRAPHS, COPIES))

    def read(self, told: Callable[[float], None]) -> None:
        """Read all tables; `told` hears the share that is done."""
        parts = (self._kernels, self._copies, self._sets, self._graphs, self._calls, self._ranges, self._allocations)
        for number, part in enumerate(parts, 1):
            part()
            told(number / (len(parts) + 1))

    @property
    def by_work(self) -> list[int]:
        """Processes that used a GPU, the one that kept it busy longest first."""
        busy = {
            pid: sum(sum(spans.duration_us) for spans in columns.device_work.values())
            for pid, columns in self.of_process.items()
            if columns.device_work
        }
        return sorted(busy, key=lambda pid: (-busy[pid], pid))

    def _kernels(self) -> None:
        name = self._database.first_of(KERNELS, "demangledName", "shortName", "nameId", "name")
        short = self._database.first_of(KERNELS, "shortName") or name
        rows = self._timed(KERNELS, "deviceId", "globalPid", "correlationId", name, short)
        self._add_work("kernel", rows, lambda row: self._string(row[5]) or self._string(row[6]) or "unnamed kernel")

    def _copies(self) -> None:
        rows = self._timed(COPIES, "deviceId", "globalPid", "correlationId", "copyKind", "bytes")
        self._add_work("copy", rows, lambda row: f"[CUDA memcpy {_COPY_KINDS.get(row[5], 'other')}]")
        for row in rows:
            if row[5] == _HOST_TO_DEVICE and isinstance(row[6], int) and row[6] > 0:
                self.host_to_device[self._pid(row[3])].append((row[0] / 1000, row[6]))

    def _sets(self) -> None:
        rows = self._timed(SETS, "deviceId", "globalPid", "correlationId")
        self._add_work("set", rows, lambda _: "[CUDA memset]")

    def _graphs(self) -> None:
        """Whole CUDA graphs, where their kernels were not recorded one by one (`--cuda-graph-trace=graph`)."""
        rows = self._timed(GRAPHS, "deviceId", "globalPid", "correlationId")
        self._add_work("kernel", rows, lambda _: "CUDA graph")

    def _calls(self) -> None:
        by_thread: dict[Any, list[Row]] = defaultdict(list)
        for row in self._timed(CALLS, "globalTid", "correlationId", "nameId"):
            by_thread[row[2]].append(row)
        for thread, rows in by_thread.items():
            columns = self.of_process[self._pid(thread)]
            names = [columns.names[self._string(row[4]) or "call"] for row in rows]
            _extend(columns, columns.launches, rows, names, columns.threads[thread])
            columns.launches.correlation.extend(_correlation(row[3]) for row in rows)

    def _ranges(self) -> None:
        text = self._database.first_of(RANGES, "text")
        number = self._database.first_of(RANGES, "textId")
        for start, end, thread, plain, stored in self._timed(RANGES, "globalTid", text, number):
            name = plain if isinstance(plain, str) and plain else self._string(stored)
            if name:
                columns = self.of_process[self._pid(thread)]
                _add_range(columns, (start, end), columns.threads[thread], name)

    def _allocations(self) -> None:
        """What processes took from the driver (`--cuda-memory-usage=true`); for PyTorch that is what it reserved."""
        needed = ("start", "bytes", "memoryOperationType", "deviceId", "globalPid", "memKind")
        if not self._database.has(ALLOCATIONS, *needed):
            return
        wanted = f"WHERE memKind IN {_DEVICE_KINDS} AND typeof(start)='integer' AND typeof(bytes)='integer'"
        for start, size, operation, device, pid, _ in self._database.rows(ALLOCATIONS, ", ".join(needed), wanted):
            if operation in {_ALLOCATED, _FREED} and 0 <= size < 2**53 and abs(start) < 10**18:
                index = self.gpus.physical(pid_of(pid), device)
                memory = self.of_process[self._pid(pid)].memory.setdefault((ON_DEVICE, index), MemoryEvents())
                memory.time_us.append(start / 1000)
                memory.thread.append(NO_NUMBER)
                memory.change.append(size if operation == _ALLOCATED else -size)
                memory.allocated.append(math.nan)
                memory.reserved.append(math.nan)

    def _timed(self, table: str, *columns: str | None) -> list[Row]:
        """Start, end and more columns of the rows that last; those without sane times are counted."""
        if not self._database.has(table, "start", "end"):
            return []
        names = ["start", '"end"', *(self._or_null(table, column) for column in columns)]
        rows = list(self._database.rows(table, ", ".join(names), f"WHERE {_SANE}"))
        instants = "" if table != RANGES else " AND typeof(end)<>'null'"  # marks have no end
        odd = self._database.rows(table, "count(*)", f"WHERE NOT ({_SANE}){instants}")
        self.odd += next((int(row[0]) for row in odd), 0)
        return rows

    def _or_null(self, table: str, column: str | None) -> str:
        return f'"{column}"' if column is not None and self._database.has(table, column) else "NULL"

    def _add_work(self, kind: str, rows: list[Row], name_of: Callable[[Row], str]) -> None:
        """Take in rows of start, end, device, process, correlation and more."""
        groups: dict[tuple[Any, Any], list[Row]] = defaultdict(list)
        for row in rows:
            groups[row[3], row[2]].append(row)
        for (pid, device), mine in groups.items():
            columns = self.of_process[self._pid(pid)]
            index = self.gpus.physical(pid_of(pid), device)
            spans = columns.device_work.setdefault((index, kind), Spans())
            _extend(
                columns, spans, mine, [columns.names[name_of(row)[:_MOST_NAME_CHARACTERS]] for row in mine], NO_NUMBER
            )
            spans.correlation.extend(_correlation(row[4]) for row in mine)
            spans.external.extend([NO_NUMBER] * len(mine))

    def _pid(self, global_id: object) -> int:
        return pid_of(global_id) if self._tells_processes else 0

    def _string(self, value: object) -> str | None:
        """A name, or the one that a number stands for."""
        return value if isinstance(value, str) else self._strings.get(value) if isinstance(value, int) else None


def _add_range(columns: TraceColumns, bounds: Row, thread: int, name: str) -> None:
    operator = _OPERATOR.match(name)
    if operator is None:
        _extend(columns, columns.annotations, [bounds], [columns.names[name[:_MOST_NAME_CHARACTERS]]], thread)
        return
    sizes = _SIZES.search(name)
    key = (operator.group(1), _shapes(sizes.group(1)) if sizes else b"", b"", b"")
    _extend(columns, columns.operators, [bounds], [columns.operator_keys[key]], thread)
    columns.operators.external.append(NO_NUMBER)


def _extend(columns: TraceColumns, spans: Spans, rows: list[Row], keys: list[int], thread: int) -> None:
    """Append rows that begin with start and end."""
    spans.start_us.extend([row[0] / 1000 for row in rows])
    spans.duration_us.extend([(row[1] - row[0]) / 1000 for row in rows])
    spans.key.extend(keys)
    spans.thread.extend([thread] * len(rows))
    columns.events += len(rows)
    columns.first_us = min(columns.first_us, min(row[0] for row in rows) / 1000)
    columns.last_us = max(columns.last_us, max(row[1] for row in rows) / 1000)


def _correlation(number: object) -> int:
    return number if isinstance(number, int) and 0 < number < _MOST_CORRELATION else NO_NUMBER


def _strings(database: Database) -> dict[int, str]:
    if not database.has(STRINGS, "id", "value"):
        return {}
    rows = database.rows(
        STRINGS, "id, value", f"WHERE typeof(id)='integer' AND typeof(value)='text' LIMIT {_MOST_NAMES}"
    )
    return dict(rows)  # type: ignore[arg-type]  # two columns, as the line above selects


def _shapes(text: str) -> bytes:
    """The sizes in a range's name are written as JSON writes lists."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return b""
    return text.encode()
