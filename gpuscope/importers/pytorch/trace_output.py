"""A trace as samples of its GPUs and as the events that the probe would have written (domain/events.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpuscope.domain.device import Device
from gpuscope.domain.imported import KINETO, TracedDevice, TraceDetails
from gpuscope.importers.pytorch import intervals
from gpuscope.importers.pytorch.trace_columns import Spans, TraceColumns
from gpuscope.importers.pytorch.trace_memory import CPU, HOST, allocated_over_time
from gpuscope.importers.pytorch.trace_steps import Steps
from gpuscope.importers.pytorch.trace_work import WORK
from gpuscope.importers.reading import ImportedEvent, Reading, Track

_MOST_SAMPLES = 400
_FEWEST_SAMPLES = 2


def device_key(index: int, details: TraceDetails) -> str:
    """Name of a GPU; ranks of several machines have GPUs of the same number."""
    return f"GPU {index}" if details.rank is None else f"rank {details.rank} GPU {index}"


def tracks_of(reading: Reading, columns: TraceColumns, details: TraceDetails, base_s: float) -> None:
    """One track for each GPU: how much of each of 400 windows it was busy, and the most that was allocated there."""
    devices = {device.index: device for device in details.devices}
    for kind, index in columns.memory:
        if kind != CPU:
            devices.setdefault(index, TracedDevice(index=index))
    for index, device in sorted(devices.items()):
        key = device_key(index, details)
        reading.tracks[key] = track = Track(_device(key, device, details))
        _fill(track, columns, index, base_s)


def _device(key: str, device: TracedDevice, details: TraceDetails) -> Device:
    return Device(
        uuid=key,
        index=device.index,
        name=device.name or "unknown GPU",
        vendor=details.vendor or "unknown",
        memory_total_bytes=device.memory_bytes,
    )


def _fill(track: Track, columns: TraceColumns, index: int, base_s: float) -> None:
    events = [spans for (device, kind), spans in columns.device_work.items() if device == index and kind in WORK]
    windows = max(_FEWEST_SAMPLES, min(_MOST_SAMPLES, sum(len(spans.key) for spans in events)))
    first, last = columns.first_us, max(columns.last_us, columns.first_us + windows * 1e-3)
    edges = np.linspace(first, last, windows + 1)
    figures: dict[str, Any] = {}
    if events:
        figures["utilization_gpu_percent"] = 100.0 * _busy(events, edges)
    for (kind, device), memory in columns.memory.items():
        if kind != CPU and device == index:
            times, allocated, reserved, _ = allocated_over_time(memory)
            figures["allocated_bytes"] = _highest(times, allocated, edges)
            figures["reserved_bytes"] = _highest(times, reserved, edges)
    track.extend((base_s + edges[1:] * 1e-6).tolist(), {name: values.tolist() for name, values in figures.items()})


def _busy(work: list[Spans], edges: intervals.Floats) -> intervals.Floats:
    start = np.concatenate([np.array(spans.start_us) for spans in work])
    duration = np.concatenate([np.array(spans.duration_us) for spans in work])
    return intervals.share_by_window(*intervals.union(start, duration), edges)


def _highest(times: intervals.Floats, values: intervals.Floats, edges: intervals.Floats) -> intervals.Floats:
    """The highest value in each window; where nothing changed, the last one before it."""
    places = np.searchsorted(times, edges, side="right")
    found = np.full(len(edges) - 1, math.nan)
    for window in range(len(found)):
        low, high = max(0, places[window] - 1), places[window + 1]
        part = values[low:high]
        part = part[~np.isnan(part)]
        if len(part):
            found[window] = part.max()
    return found


def events_of(
    reading: Reading,
    columns: TraceColumns,
    details: TraceDetails,
    steps: Steps,
    rows: list[dict[str, Any]],
    base_s: float,
) -> None:
    """Steps, operators and allocator peaks under the names that the probe gives them."""
    start_s = base_s + columns.first_us * 1e-6
    add = reading.events.append
    add(
        ImportedEvent(
            wall_s=start_s, kind="process_start", data={"rank": details.rank, "world_size": details.world_size}
        )
    )
    framework = "pytorch" if details.source == KINETO else None
    add(ImportedEvent(wall_s=start_s, kind="framework", data={"name": framework, "version": None}))
    for device in details.devices:
        data = {"type": "cuda", "index": device.index, "name": device.name, "uuid": None}
        add(ImportedEvent(wall_s=start_s, kind="device", data={**data, "memory_bytes": device.memory_bytes}))
    for number, (step, (_, end_us)) in enumerate(zip(steps.steps, steps.bounds_us, strict=True), 1):
        if step.complete:
            # A GPU that works longer on a step than the program needs to launch it sets the pace.
            data = {"n": number, "steps": 1, "duration_s": max(step.duration_s, step.busy_s), "skipped": None}
            add(ImportedEvent(wall_s=base_s + end_us * 1e-6, kind="step", data={**data, "optimizer": "trace"}))
    if details.optimizer is not None:
        data = {"key": "trace", "class_name": details.optimizer, "dominant": True}
        add(ImportedEvent(wall_s=start_s, kind="optimizer", data=data))
    if rows:
        add(ImportedEvent(wall_s=start_s, kind="ops", data={"step": 0, "device_type": "cuda", "rows": rows}))
    for memory in details.memory:
        known = memory.peak_allocated_bytes is not None or memory.peak_reserved_bytes is not None
        if known and memory.device != HOST:
            peaks = {
                "peak_allocated_bytes": memory.peak_allocated_bytes,
                "peak_reserved_bytes": memory.peak_reserved_bytes,
            }
            add(ImportedEvent(wall_s=start_s, kind="memory", data={"device": memory.device, **peaks}))
