"""What `nsys export --type sqlite` writes: kernels, copies, NVTX ranges, GPU metrics; Nsight Systems 2020 to 2026.

Tables and their columns: https://docs.nvidia.com/nsight-systems/UserGuide/index.html, "SQLite Export Schema"; they are
created only where there is something in them, and differ a little by release.
"""

from __future__ import annotations

from array import array
from typing import Any

import msgspec
import numpy as np

from gpuscope.domain.imported import NSIGHT, TracedDevice, TraceDetails, TracedMemory
from gpuscope.errors import UsageError
from gpuscope.importers.content import Content
from gpuscope.importers.nsight.activities import Activities
from gpuscope.importers.nsight.database import Database
from gpuscope.importers.nsight.export_notes import notes_of
from gpuscope.importers.nsight.metrics import activity_over_time, metrics_of
from gpuscope.importers.nsight.nvtx_steps import MARKED_BY, steps_by_ranges
from gpuscope.importers.pytorch import intervals
from gpuscope.importers.pytorch.trace_columns import TraceColumns
from gpuscope.importers.pytorch.trace_memory import memory_of
from gpuscope.importers.pytorch.trace_nesting import nesting_of
from gpuscope.importers.pytorch.trace_output import events_of, tracks_of
from gpuscope.importers.pytorch.trace_rows import operator_rows
from gpuscope.importers.pytorch.trace_steps import Steps, steps_between, steps_of
from gpuscope.importers.pytorch.trace_work import Work, devices_of, kernels_of, work_of
from gpuscope.importers.reading import Progress, Reading

KIND = "nsight_systems"
DESCRIPTION = "Nsight Systems SQLite export"

MOST_BYTES = 1024**3
"""It is held in memory, for a moment twice."""
_ANY = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_MEMCPY", "GPU_METRICS")
_SESSION_START = "TARGET_INFO_SESSION_START_TIME"


def read(data: Content, progress: Progress | None = None) -> Reading:
    """Read an export; what cannot be read is left out and noted.

    Args:
        data: the file.
        progress: is told the share of its tables that was read.

    Raises:
        UsageError: it is another program's database, is damaged beyond use, or takes too long.
    """
    if len(data) > MOST_BYTES:
        raise UsageError("The SQLite file is larger than 1 GiB: record fewer steps (`nsys profile --duration`).")
    database = Database(data[:])
    try:
        _refuse_others(database)
        return _read(database, progress or (lambda _: None))
    finally:
        database.close()


def _refuse_others(database: Database) -> None:
    if any(database.has(table) for table in _ANY):
        return
    if any(database.has(table) for table in ("NVTX_EVENTS", "TARGET_INFO_GPU", "StringIds", "ANALYSIS_DETAILS")):
        raise UsageError(
            "The Nsight Systems export has no GPU work in it: record with `nsys profile --trace=cuda,nvtx`, then "
            "export again."
        )
    raise UsageError(
        "The SQLite file is neither a session of gpuscope nor an export of Nsight Systems: it has no table of GPU work."
    )


def _read(database: Database, progress: Progress) -> Reading:
    activities = Activities(database)
    activities.read(progress)
    processes = activities.by_work
    columns = activities.of_process[processes[0]] if processes else _without_work(activities)
    nesting = nesting_of(columns)
    work = work_of(columns, nesting)
    steps = _steps(activities, columns, work)
    bounds = steps.complete
    details = TraceDetails(
        source=NSIGHT,
        events=columns.events,
        lost_events=activities.odd,
        cut=bool(database.missing_bytes or database.damaged),
        vendor="NVIDIA",
        devices_listed=len(activities.gpus.known),
        span_s=(columns.last_us - columns.first_us) * 1e-6,
        operators=len(columns.operators.key),
        has_shapes=any(key[1] for key in columns.operator_keys.in_order),
        devices=_devices(activities, processes),
        steps=tuple(steps.steps),
        steps_marked_by=steps.marked_by,
        kernels=kernels_of(columns, work),
        memory=tuple(_taken(memory) for memory in memory_of(columns, nesting)),
        metrics=metrics_of(database),
        host_to_device_bytes=_copied_bytes(activities.host_to_device[processes[0]], bounds) if processes else None,
    )
    reading = Reading(KIND, DESCRIPTION, details=details, rows=columns.events)
    base_s = _base_s(database)
    reading.zone_known = base_s is not None
    for process in processes[1:]:
        tracks_of(reading, activities.of_process[process], details, base_s or 0.0)
    tracks_of(reading, columns, details, base_s or 0.0)
    _finish_tracks(reading, database, base_s or 0.0)
    events_of(reading, columns, details, steps, operator_rows(columns, nesting, work, bounds), base_s or 0.0)
    reading.notes = notes_of(database, activities, details)
    progress(1.0)
    return reading


def _without_work(activities: Activities) -> TraceColumns:
    """GPU metrics alone: the columns of whatever process there is."""
    columns = max(activities.of_process.values(), key=lambda each: each.events, default=TraceColumns())
    if not columns.events:
        columns.first_us = columns.last_us = 0.0
    return columns


def _steps(activities: Activities, columns: TraceColumns, work: Work) -> Steps:
    """By PyTorch's own marks where `emit_nvtx` wrote them, else by the program's ranges, else by another process's."""
    found = steps_of(columns, work.launched)
    if found.steps:
        return found
    for each in (columns, *activities.of_process.values()):
        named = steps_by_ranges(each)
        if named:
            return steps_between(named, MARKED_BY, columns, work.launched)
    return Steps()


def _devices(activities: Activities, processes: list[int]) -> tuple[TracedDevice, ...]:
    """Of a GPU that several processes share, what the busiest of them did."""
    properties = {index: (gpu.name, gpu.memory_bytes) for index, gpu in activities.gpus.known.items()}
    found: dict[int, TracedDevice] = {}
    for process in processes:
        for device in devices_of(activities.of_process[process], properties):
            found.setdefault(device.index, device)
    return tuple(found[index] for index in sorted(found))


def _taken(memory: TracedMemory) -> TracedMemory:
    """What the driver gave is what the framework reserved; how much of it tensors used is not known."""
    return msgspec.structs.replace(
        memory, peak_reserved_bytes=memory.peak_allocated_bytes, peak_allocated_bytes=None, last_allocated_bytes=None,
        peak_at=None, relative=False,
    )  # fmt: skip


def _copied_bytes(copied: list[tuple[float, int]], bounds: list[tuple[float, float]]) -> float | None:
    """Copied to the GPUs in a mean step; None where steps are not marked."""
    if not bounds:
        return None
    copies = np.array(copied, dtype=float).reshape(-1, 2)
    chosen = intervals.inside(copies[:, 0], bounds)
    return float(copies[chosen, 1].sum()) / len(bounds)


def _base_s(database: Database) -> float | None:
    """Seconds since 1970 at the recording's beginning."""
    if not database.has(_SESSION_START, "utcEpochNs"):
        return None
    value: Any = next((row[0] for row in database.rows(_SESSION_START, "utcEpochNs", "LIMIT 1")), None)
    return value * 1e-9 if isinstance(value, int) and 10**18 <= value < 2**62 else None


def _finish_tracks(reading: Reading, database: Database, base_s: float) -> None:
    """Memory is what was reserved; where activity was sampled, it stands beside what the kernels' times give."""
    for track in reading.tracks.values():
        if "allocated_bytes" in track.columns:
            track.columns["reserved_bytes"] = track.columns.pop("allocated_bytes")
        ends_us = (np.array(track.wall_s) - base_s) * 1e6
        width_us = ends_us[1] - ends_us[0]
        edges = np.concatenate(([ends_us[0] - width_us], ends_us))
        values = activity_over_time(database, edges).get(track.device.index)
        if values is not None:
            track.columns["graphics_engine_percent"] = array("d", values.tolist())
