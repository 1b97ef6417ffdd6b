"""The allocator over time, from the events that `_record_memory_history` kept."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from gpuscope.domain.footprint import PeakAt
from gpuscope.domain.imported import Holder, OutOfMemoryMoment
from gpuscope.importers.pytorch.snapshot_fields import Budget, frames_of, known_size, place_of, size_of
from gpuscope.importers.pytorch.snapshot_state import DeviceState, holders_of

_CHANGES = {"alloc": 1, "free_requested": -1}
_SEGMENTS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
_MOST_OUT_OF_MEMORY = 100


@dataclass(slots=True)
class History:
    """One device's events replayed. Bytes; what was there before the history began is in the curves."""

    events: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    has_times: bool = False
    time_s: array[float] = field(default_factory=lambda: array("d"))
    """Seconds since 1970; without time stamps the number of the event."""
    allocated: array[float] = field(default_factory=lambda: array("d"))
    reserved: array[float] = field(default_factory=lambda: array("d"))
    trace_peak: int | None = None
    """Highest sum of what the history allocated and had not freed."""
    trace_net: int | None = None
    peak_allocated: int | None = None
    peak_reserved: int | None = None
    holders_at_peak: tuple[Holder, ...] = ()
    out_of_memory: list[OutOfMemoryMoment] = field(default_factory=list)


def history_of(trace: Any, state: DeviceState, budget: Budget) -> History:
    """Replay the events of one device.

    The history may have begun late, or have lost its beginning: what was allocated then is what is allocated now less
    what the events changed, and at least what they freed without having allocated it.

    Args:
        trace: its entry of `device_traces`.
        state: of the device at the end.
        budget: of entries.
    """
    history = History()
    entries = list(budget.dicts(trace))
    history.events = len(entries)
    history.actions = Counter(str(entry.get("action")) for entry in entries)
    history.has_times = bool(entries) and all(_is_time(entry.get("time_us")) for entry in entries)
    changes = [_CHANGES.get(str(entry.get("action")), 0) * size_of(entry.get("size")) for entry in entries]
    mapped = [_SEGMENTS.get(str(entry.get("action")), 0) * size_of(entry.get("size")) for entry in entries]
    if any(changes) or any(mapped):
        _add_curves(history, entries, changes, mapped, state)
        _add_holders(history, entries)
    for entry in entries:
        if entry.get("action") == "oom" and len(history.out_of_memory) < _MOST_OUT_OF_MEMORY:
            history.out_of_memory.append(_moment(entry))
    return history


def _add_curves(
    history: History, entries: list[dict[str, Any]], changes: list[int], mapped: list[int], state: DeviceState
) -> None:
    before, highest, net = _base(changes, state.allocated)
    mapped_before, mapped_highest, _ = _base(mapped, state.reserved)
    history.trace_peak, history.trace_net = highest, net
    history.peak_allocated = before + highest
    history.peak_reserved = max(state.reserved, mapped_before + mapped_highest)
    allocated, reserved = before, mapped_before
    for number, (entry, change, segment) in enumerate(zip(entries, changes, mapped, strict=True)):
        if change or segment:
            allocated, reserved = allocated + change, reserved + segment
            history.time_s.append(entry["time_us"] * 1e-6 if history.has_times else float(number))
            history.allocated.append(allocated)
            history.reserved.append(reserved if any(mapped) else math.nan)


def _base(changes: list[int], at_end: int) -> tuple[int, int, int]:
    """What was there before the first change, the highest sum of changes, and the last."""
    total = lowest = highest = 0
    for change in changes:
        total += change
        lowest, highest = min(lowest, total), max(highest, total)
    return max(0, at_end - total, -lowest), highest, total


def _add_holders(history: History, entries: list[dict[str, Any]]) -> None:
    """Which lines held what the history had allocated when it was most."""
    live: dict[Any, dict[str, Any]] = {}
    total, left = 0, history.trace_peak or 0
    for entry in entries:
        action, address = entry.get("action"), entry.get("addr")
        if not isinstance(address, int):
            continue
        total += _CHANGES.get(str(action), 0) * size_of(entry.get("size"))
        if action == "alloc":
            live[address] = entry
        elif action == "free_requested":
            live.pop(address, None)
        if action == "alloc" and total >= left:
            break
    sums: dict[PeakAt, list[int]] = defaultdict(lambda: [0, 0])
    for entry in live.values():
        place = place_of(frames_of(entry))
        if place is not None:
            sums[place][0] += size_of(entry.get("size"))
            sums[place][1] += 1
    history.holders_at_peak = holders_of(sums)


def _moment(entry: dict[str, Any]) -> OutOfMemoryMoment:
    time_us = entry.get("time_us")
    return OutOfMemoryMoment(
        requested_bytes=size_of(entry.get("size")),
        device_free_bytes=known_size(entry.get("device_free")),
        time_s=time_us * 1e-6 if isinstance(time_us, int) and _is_time(time_us) else None,
        place=place_of(frames_of(entry)),
    )


def _is_time(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**62
