"""Snapshots of PyTorch's CUDA memory: what `torch.cuda.memory._dump_snapshot` pickles, torch 1.13 to 2.13."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gpuscope.domain.device import Device
from gpuscope.domain.imported import AllocatorDetails
from gpuscope.errors import UsageError
from gpuscope.importers.pytorch.allocator_notes import snapshot_notes
from gpuscope.importers.pytorch.snapshot_fields import Budget
from gpuscope.importers.pytorch.snapshot_history import History, history_of
from gpuscope.importers.pytorch.snapshot_state import DeviceState, holders_of, states_of
from gpuscope.importers.pytorch.unpickle import damaged, salvaged_values
from gpuscope.importers.reading import ImportedEvent, Note, Reading, Track

KIND = "torch_memory_snapshot"
DESCRIPTION = "PyTorch memory snapshot (_dump_snapshot)"

_MOST_POINTS = 2000
_MOST_SETTINGS = 50
_OLD_PICKLE = re.compile(rb"c[A-Za-z_][\w.]*\n[\w.]+\n|[(\]}][lpd(\]}]?[pq]?\d*\n?")
"""How pickles of protocols 0 and 1 begin: with a name to call, a list or a dict."""
_SAMPLE_TEXT = 65536


def is_pickle(data: bytes) -> bool:
    """Whether a file is a pickle, by its bytes."""
    if data[:1] == b"\x80" and len(data) > 2:
        return data[1] <= 5
    return data.rstrip()[-1:] == b"." and _OLD_PICKLE.match(data) is not None and not _is_words(data[:_SAMPLE_TEXT])


def _is_words(head: bytes) -> bool:
    """Text and JSON have blanks between words, and lines that are longer than a pickle's."""
    return b": " in head or b", " in head or b"\r\n" in head


def read(data: bytes) -> Reading:
    """Read a snapshot. Nothing in it is ever called.

    Raises:
        UsageError: it names something to call, is damaged, or is no snapshot of memory.
    """
    value, cut_at = salvaged_values(data)
    if isinstance(value, list):  # torch.cuda.memory_snapshot(): the segments alone
        value = {"segments": value}
    if not isinstance(value, dict) or not {"segments", "device_traces"} & value.keys():
        if cut_at is not None:
            raise damaged(cut_at, len(data))
        raise UsageError("The pickle is no snapshot of PyTorch's memory: it has neither segments nor device_traces.")
    budget = Budget()
    states = states_of(value.get("segments"), budget)
    traces = value.get("device_traces")
    traces = traces if isinstance(traces, (list, tuple)) else []
    histories = {
        index: history_of(trace, states.get(index, DeviceState()), budget)
        for index, trace in enumerate(traces)
        if trace or index in states
    }
    settings = _settings(value.get("allocator_settings"))
    reading = Reading(KIND, DESCRIPTION)
    details = []
    for index in sorted(states.keys() | histories.keys()):
        state, history = states.get(index, DeviceState()), histories.get(index, History())
        details.append(_details(index, state, history, settings))
        reading.tracks[f"GPU {index}"] = _track(index, state, history)
        reading.rows += state.segments + history.events
    reading.details = tuple(details)
    reading.zone_known = any(history.has_times for history in histories.values())
    reading.events = _events(reading, details)
    reading.notes = snapshot_notes(reading.details)
    if cut_at is not None:
        sentence = f"The pickle is damaged or cut off at byte {cut_at} of {len(data)}: what was before was read."
        reading.notes.append(Note(code="lost", sentence=sentence))
    return reading


def _settings(value: Any) -> dict[str, str]:
    """The allocator's settings as texts."""
    if not isinstance(value, dict):
        return {}
    plain = {str(name): setting for name, setting in value.items() if isinstance(setting, (str, int, float, bool))}
    return {name[:200]: str(setting)[:2000] for name, setting in list(plain.items())[:_MOST_SETTINGS]}


def _details(index: int, state: DeviceState, history: History, settings: dict[str, str]) -> AllocatorDetails:
    return AllocatorDetails(
        device=index,
        allocated_bytes=state.allocated,
        peak_allocated_bytes=history.peak_allocated,
        active_bytes=state.active,
        requested_bytes=state.requested or None,
        reserved_bytes=state.reserved,
        peak_reserved_bytes=history.peak_reserved,
        inactive_split_bytes=state.inactive_split,
        awaiting_free_bytes=state.awaiting_free,
        rounding_bytes=state.rounding,
        largest_free_block_bytes=state.largest_free,
        private_pool_bytes=state.private_pool,
        private_pool_inactive_bytes=state.private_pool_inactive,
        segments=state.segments,
        expandable_segments=state.expandable,
        blocks_active=state.blocks_active,
        blocks_inactive=state.blocks_inactive,
        out_of_memory_count=history.actions["oom"] if history.trace_peak is not None else None,
        holders=holders_of(state.holders),
        holders_at_peak=history.holders_at_peak,
        trace_events=history.events,
        actions=dict(history.actions.most_common(50)),
        trace_peak_bytes=history.trace_peak,
        trace_net_bytes=history.trace_net,
        has_times=history.has_times,
        moments=tuple(history.out_of_memory),
        settings=settings,
    )


def _track(index: int, state: DeviceState, history: History) -> Track:
    """Allocated and reserved over time, thinned to the highest of each stretch; without a history one moment."""
    track = Track(Device(uuid=f"GPU {index}", index=index, name="unknown GPU"))
    count = len(history.time_s)
    if not count:
        track.extend([0.0], {"allocated_bytes": [float(state.allocated)], "reserved_bytes": [float(state.reserved)]})
        return track
    width = -(-count // _MOST_POINTS)
    chosen = [
        max(range(start, min(start + width, count)), key=history.allocated.__getitem__)
        for start in range(0, count, width)
    ]
    track.extend(
        [history.time_s[at] for at in chosen],
        {
            "allocated_bytes": [history.allocated[at] for at in chosen],
            "reserved_bytes": [history.reserved[at] for at in chosen],
        },
    )
    return track


def _events(reading: Reading, devices: Sequence[AllocatorDetails]) -> list[ImportedEvent]:
    """The allocator's peaks and failures under the names that the probe gives them."""
    events = []
    for details, track in zip(devices, reading.tracks.values(), strict=True):
        start_s, device = track.wall_s[0], f"GPU {details.device}"
        peaks = {
            "allocated_bytes": details.allocated_bytes,
            "reserved_bytes": details.reserved_bytes,
            "peak_allocated_bytes": max(details.peak_allocated_bytes or 0, details.allocated_bytes or 0),
            "peak_reserved_bytes": max(details.peak_reserved_bytes or 0, details.reserved_bytes or 0),
        }
        events.append(ImportedEvent(wall_s=track.wall_s[-1], kind="memory", data={"device": device, **peaks}))
        for moment in details.moments:
            when_s = start_s if moment.time_s is None else moment.time_s
            message = f"{moment.requested_bytes} bytes were asked for"
            events.append(
                ImportedEvent(wall_s=when_s, kind="out_of_memory", data={"device": device, "message": message})
            )
    return events
