"""The allocator over time, from the `[memory]` events of a trace with `profile_memory=True`."""

from __future__ import annotations

import numpy as np

from gpuscope.domain.footprint import PeakAt
from gpuscope.domain.imported import TracedMemory
from gpuscope.importers.pytorch.intervals import Floats
from gpuscope.importers.pytorch.trace_columns import MemoryEvents, TraceColumns
from gpuscope.importers.pytorch.trace_nesting import NOBODY, Nesting

CPU = 0
"""c10::DeviceType of the host; every other number is a device (1 CUDA, 6 HIP, 12 XPU, 13 MPS, 20 PrivateUse1)."""

HOST = "CPU"
"""What the memory of the host is called: its tensors are no load for a GPU."""


def allocated_over_time(events: MemoryEvents) -> tuple[Floats, Floats, Floats, bool]:
    """Times (µs), allocated and reserved bytes in order of time, and whether they count from the trace's beginning.

    Events of torch before 1.11 have no totals: then changes are added up.
    """
    order = np.argsort(np.array(events.time_us), kind="stable")
    allocated, reserved = np.array(events.allocated)[order], np.array(events.reserved)[order]
    relative = bool(np.isnan(allocated).any())
    if relative:
        allocated = np.cumsum(np.array(events.change, dtype=float)[order])
        allocated -= min(0.0, float(allocated.min(initial=0.0)))  # what is freed was there before
    return np.array(events.time_us)[order], allocated, reserved, relative


def memory_of(columns: TraceColumns, nesting: Nesting) -> tuple[TracedMemory, ...]:
    """One entry for each device whose memory the trace follows."""
    return tuple(_device(columns, nesting, key, events) for key, events in sorted(columns.memory.items()))


def _device(columns: TraceColumns, nesting: Nesting, key: tuple[int, int], events: MemoryEvents) -> TracedMemory:
    kind, index = key
    name = HOST if kind == CPU else f"GPU {index}"
    _, allocated, reserved, relative = allocated_over_time(events)
    net = sum(events.change)
    if kind == CPU and not allocated.any():  # totals of the host are always 0: there is no caching allocator
        return TracedMemory(device=name, events=len(events.change), net_bytes=net)
    peak = int(np.argmax(allocated))
    known = reserved[~np.isnan(reserved)]
    at_peak = reserved[peak]
    return TracedMemory(
        device=name,
        events=len(events.change),
        peak_allocated_bytes=int(allocated[peak]),
        reserved_at_peak_bytes=None if np.isnan(at_peak) else int(at_peak),
        peak_reserved_bytes=int(known.max()) if len(known) else None,
        last_allocated_bytes=int(allocated[-1]),
        net_bytes=net,
        peak_at=_operator_at(columns, nesting, events, peak),
        relative=relative,
    )


def _operator_at(columns: TraceColumns, nesting: Nesting, events: MemoryEvents, peak: int) -> PeakAt | None:
    at = int(np.argsort(np.array(events.time_us), kind="stable")[peak])
    operator = nesting.at(events.thread[at], events.time_us[at])
    if operator == NOBODY:
        return None
    return PeakAt(op=columns.operator_keys.in_order[columns.operators.key[operator]][0])
