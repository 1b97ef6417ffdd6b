"""Traces that the profiler of PyTorch 1.0 to 2.13 exports: one file a rank, JSON, often compressed."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuscope.domain.imported import TraceDetails
from gpuscope.errors import UsageError
from gpuscope.importers.compressed import Pieces
from gpuscope.importers.content import Content
from gpuscope.importers.pytorch.json_stream import EventStream
from gpuscope.importers.pytorch.trace_columns import TraceColumns
from gpuscope.importers.pytorch.trace_memory import memory_of
from gpuscope.importers.pytorch.trace_nesting import nesting_of
from gpuscope.importers.pytorch.trace_notes import notes_of
from gpuscope.importers.pytorch.trace_output import events_of, tracks_of
from gpuscope.importers.pytorch.trace_rows import operator_rows
from gpuscope.importers.pytorch.trace_steps import data_loader_s, optimizer_of, steps_of
from gpuscope.importers.pytorch.trace_work import communication_of, devices_of, functions_of, kernels_of, work_of
from gpuscope.importers.reading import Progress, Reading

KIND = "kineto_trace"
DESCRIPTION = "PyTorch profiler trace"

_MOST_BASE = 2**63
_FIRST_EVENT = re.compile(r'\s*\[\s*\{\s*(?:"name"\s*:[^{}]{0,4000}"ph"|"ph")\s*:')


def recognises(head: str) -> bool:
    """Whether the beginning of a text (inflated) is such a trace."""
    return '"traceEvents"' in head or _FIRST_EVENT.match(head) is not None or _is_long_header(head)


def _is_long_header(head: str) -> bool:
    """Properties of many devices may stand before the first event."""
    return head.lstrip().startswith("{") and '"schemaVersion"' in head and '"deviceProperties"' in head


def read(data: Content, progress: Progress | None = None) -> Reading:
    """Read a whole trace; what cannot be read is left out and noted, with its place.

    Args:
        data: the file, compressed by gzip or not.
        progress: is called after each piece of 8 MiB.

    Raises:
        UsageError: it is no trace of PyTorch's, or swells without end.
    """
    pieces = Pieces(data)
    stream, columns = EventStream(pieces), TraceColumns()
    for events in stream:
        columns.add(events)
        if progress is not None:
            progress(pieces.share_read)
    _refuse_others(columns)
    reading = Reading(KIND, DESCRIPTION)
    details = _conclude(reading, columns, stream.facts)
    reading.details = msgspec.structs.replace(
        details,
        lost_events=len(stream.lost) + columns.odd,
        cut=pieces.cut_at is not None or stream.cut_bytes is not None,
    )
    reading.notes = notes_of(columns, stream, pieces.cut_at, details)
    return reading


def _refuse_others(columns: TraceColumns) -> None:
    if not columns.operators.key and not columns.device_work and not columns.memory and not columns.python:
        raise UsageError("The trace holds no operators and no GPU work of PyTorch: it is of another program, or empty.")


def _conclude(reading: Reading, columns: TraceColumns, facts: dict[str, Any]) -> TraceDetails:
    properties = _properties(facts)
    nesting = nesting_of(columns)
    work = work_of(columns, nesting)
    steps = steps_of(columns, work.launched)
    bounds = steps.complete
    distributed = facts.get("distributedInfo")
    distributed = distributed if isinstance(distributed, dict) else {}
    details = TraceDetails(
        events=columns.events,
        rank=_whole(distributed.get("rank")),
        world_size=_whole(distributed.get("world_size")),
        vendor=_vendor(facts, columns),
        runtime_version=_version(facts),
        devices_listed=len(properties),
        span_s=(columns.last_us - columns.first_us) * 1e-6,
        operators=len(columns.operators.key),
        python_functions=columns.python_functions,
        has_shapes=any(key[1] for key in columns.operator_keys.in_order),
        devices=devices_of(columns, properties),
        steps=tuple(steps.steps),
        steps_marked_by=steps.marked_by,
        optimizer=optimizer_of(columns),
        data_loader_s=data_loader_s(columns, bounds),
        kernels=kernels_of(columns, work),
        functions=functions_of(columns),
        memory=memory_of(columns, nesting),
        communication=communication_of(columns, work, bounds),
    )
    rows = operator_rows(columns, nesting, work, bounds)
    base_s = _base_s(facts, columns)
    reading.zone_known = base_s is not None
    reading.rows = columns.events
    tracks_of(reading, columns, details, base_s or 0.0)
    events_of(reading, columns, details, steps, rows, base_s or 0.0)
    return details


def _properties(facts: dict[str, Any]) -> dict[int, tuple[str | None, int | None]]:
    """Name and memory of each device that the trace lists."""
    listed = facts.get("deviceProperties")
    found: dict[int, tuple[str | None, int | None]] = {}
    for number, entry in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(entry, dict):
            index, memory = _whole(entry.get("id")), _whole(entry.get("totalGlobalMem"))
            found[number if index is None else index] = (str(entry.get("name") or "") or None, memory or None)
    return found


def _vendor(facts: dict[str, Any], columns: TraceColumns) -> str | None:
    """By the names of the launches (`hipLaunchKernel`), which are right where categories say CUDA on every GPU."""
    in_order = columns.names.in_order
    names = {in_order[key] for key in set(columns.launches.key)}
    for prefix, vendor in (("hip", "AMD"), ("cuda", "NVIDIA"), ("cu", "NVIDIA"), ("ur", "Intel"), ("ze", "Intel")):
        if any(name.startswith(prefix) for name in names):
            return vendor
    devices = str(facts.get("deviceProperties") or "")
    return next((vendor for vendor in ("NVIDIA", "AMD", "Intel") if vendor in devices), None)


def _version(facts: dict[str, Any]) -> str | None:
    """12000 is CUDA 12.0; HIP's number is written as it is."""
    number = _whole(facts.get("cuda_runtime_version"))
    return None if number is None else f"{number // 1000}.{number % 1000 // 10}"


def _base_s(facts: dict[str, Any], columns: TraceColumns) -> float | None:
    """Seconds since 1970 at the trace's time 0; None: its clock is a machine's own.

    The base is said to be nanoseconds; tools that rewrite traces leave it in other units, or beside times that are
    since 1970 already.
    """
    if columns.first_us > _SINCE_1970_US:
        return 0.0
    base = facts.get("baseTimeNanoseconds")
    if not isinstance(base, (int, float)) or isinstance(base, bool) or abs(base) >= _MOST_BASE:
        return None
    return next((base * unit_s for unit_s in (1e-9, 1e-6, 1e-3, 1.0) if _EARLIEST_S < base * unit_s < _LATEST_S), None)


_SINCE_1970_US = 1e15
"""2001 in microseconds since 1970: no machine has been up for so long."""
_EARLIEST_S, _LATEST_S = 1.4e9, 4.1e9
"""2014 to 2099: no trace is older than its profiler."""


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None
