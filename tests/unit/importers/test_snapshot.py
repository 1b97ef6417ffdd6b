"""Snapshots of PyTorch's memory: state, history, failures, settings."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from gpuscope.domain.footprint import PeakAt
from gpuscope.errors import UsageError
from gpuscope.importers.pytorch import snapshot_fields
from gpuscope.importers.reading import Reading
from gpuscope.importers.recognise import read
from tests.unit.importers.pytorch_files import allocators_of, read_case, sentences

MIB = 1024**2


def segment(blocks: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    total = sum(block["size"] for block in blocks)
    active = sum(block["size"] for block in blocks if block["state"] == "active_allocated")
    return {
        "device": 0, "total_size": total, "allocated_size": active, "active_size": active, "blocks": blocks,
        "segment_pool_id": (0, 0), "is_expandable": False, **fields,
    }  # fmt: skip


def block(size: int, state: str = "active_allocated", **fields: Any) -> dict[str, Any]:
    return {"size": size, "state": state, "requested_size": size, "frames": [], **fields}


def entry(action: str, size: int, address: int = 1, time_us: int | None = None, **fields: Any) -> dict[str, Any]:
    time = {} if time_us is None else {"time_us": time_us}
    return {"action": action, "addr": address, "size": size, "stream": 0, "frames": [], **time, **fields}


def read_snapshot(segments: Any = (), traces: Any = (), **beside: Any) -> Reading:
    return read(pickle.dumps({"segments": list(segments), "device_traces": list(traces), **beside}), "s.pickle")


def test_a_snapshot_without_history() -> None:
    reading = read_case("snapshot-2.0-no-history.pickle")
    (told,) = allocators_of(reading)
    assert (told.device, told.segments, told.reserved_bytes) == (0, 5, 532676608)
    assert (told.allocated_bytes, told.active_bytes) == (529285120, 529285120)
    assert (told.blocks_active, told.blocks_inactive, told.largest_free_block_bytes) == (5, 2, 2080768)
    assert (told.trace_events, told.actions, told.trace_peak_bytes) == (1, {"snapshot": 1}, None)
    assert told.out_of_memory_count is None
    assert told.holders[0].place == PeakAt(op="allocate", file="/proj/pytorch_backend.py", line=190)
    assert "no history was recorded" in sentences(reading, "missing")[0]
    (track,) = reading.tracks.values()
    assert track.known("reserved_bytes") == [532676608]


def test_a_history_without_times_is_in_the_order_of_its_events() -> None:
    reading = read_case("snapshot-2.2-no-times-cpp-frames.pickle")
    (told,) = allocators_of(reading)
    assert (told.segments, told.reserved_bytes, told.allocated_bytes) == (8, 396361728, 10485760)
    assert (told.blocks_active, told.blocks_inactive, told.largest_free_block_bytes) == (25, 3, 130023424)
    assert told.trace_events == 70
    assert told.actions == {"alloc": 33, "free_requested": 17, "free_completed": 17, "segment_alloc": 3}
    assert (told.trace_net_bytes, told.trace_peak_bytes, told.has_times) == (55568000, 59468000, False)
    assert "events are counted" in sentences(reading, "assumed")[0]
    (track,) = reading.tracks.values()
    assert max(value for value in track.known("allocated_bytes") if value is not None) == 59468000
    assert list(track.wall_s) == sorted(track.wall_s)
    assert all(holder.place.file != "??" for holder in told.holders_at_peak)


def test_a_failed_request_pools_and_two_devices() -> None:
    reading = read_case("snapshot-oom-event-pools-two-devices.pickle")
    first, second = allocators_of(reading)
    assert [told.reserved_bytes for told in (first, second)] == [1342177280, 20971520]
    assert [told.segments for told in (first, second)] == [2, 1]
    assert (first.allocated_bytes, second.active_bytes, second.awaiting_free_bytes) == (872415232, 20971520, 20971520)
    assert (first.private_pool_bytes, first.private_pool_inactive_bytes) == (268435456, 201326592)
    assert first.largest_free_block_bytes == 268435456
    assert first.rounding_bytes == 1000
    assert first.trace_peak_bytes == 1073741824  # a failed request is no allocation
    (moment,) = first.moments
    assert (moment.requested_bytes, moment.device_free_bytes) == (6442450944, 104857600)
    assert moment.time_s == pytest.approx(1700000000.00005)
    assert moment.place == PeakAt(op="backward", file="/proj/train.py", line=88)
    assert first.actions == {
        "segment_map": 1, "alloc": 3, "free_requested": 1, "free_completed": 1, "oom": 1, "snapshot": 1,
    }  # fmt: skip
    found = " ".join(sentences(reading, "finding"))
    assert "6144 MiB were asked for" in found
    assert "192 MiB lie unused in private pools" in found
    assert reading.zone_known
    assert "contradiction" not in {note.code for note in reading.notes}


def test_nothing_is_called() -> None:
    with pytest.raises(UsageError, match=r"wants to call os\.system .* Nothing of it was run"):
        read_case("snapshot-hostile-os-system.pickle")


def test_what_was_there_before_the_history_began_is_in_the_curve() -> None:
    trace = [entry("free_requested", 300, 9, 1_700_000_000_000_000), entry("alloc", 100, 1, 1_700_000_000_000_001)]
    (told,) = allocators_of(read_snapshot([segment([block(600)])], [trace]))
    assert told.peak_allocated_bytes == 600 - (100 - 300)
    assert told.trace_peak_bytes == 0


def test_the_line_that_holds_most_at_the_peak() -> None:
    own = [{"filename": "/site-packages/torch/nn/linear.py", "line": 5, "name": "forward"},
           {"filename": "/me/model.py", "line": 7, "name": "block"}]  # fmt: skip
    trace = [
        entry("alloc", 500, 1, frames=own),
        entry("alloc", 100, 2, frames=[{"filename": "/me/data.py", "line": 3, "name": "load"}]),
        entry("free_requested", 500, 1),
        entry("alloc", 50, 3),
    ]
    (told,) = allocators_of(read_snapshot([], [trace]))
    assert told.holders_at_peak[0].place == PeakAt(op="block", file="/me/model.py", line=7)
    assert [holder.bytes for holder in told.holders_at_peak] == [500, 100]


@pytest.mark.parametrize("name", ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"])
def test_a_setting_that_was_asked_for_and_is_not_in_force(name: str) -> None:
    settings = {name: "expandable_segments:True,max_split_size_mb:128", "expandable_segments": False}
    reading = read_snapshot([segment([block(10)])], allocator_settings=settings)
    assert "is not in force" in sentences(reading, "contradiction")[0]


def test_a_setting_that_says_it_is_in_force_and_made_no_segment() -> None:
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "expandable_segments": True}
    reading = read_snapshot([segment([block(10)])], allocator_settings=settings)
    assert sentences(reading, "contradiction")
    assert not sentences(
        read_snapshot([segment([block(10)], is_expandable=True)], allocator_settings=settings), "contradiction"
    )


def test_fragmentation_is_what_is_free_in_segments_in_use() -> None:
    reading = read_snapshot(
        [segment([block(10 * MIB), block(30 * MIB, "inactive")]), segment([block(60 * MIB, "inactive")])]
    )
    (told,) = allocators_of(reading)
    assert told.inactive_split_bytes == 30 * MIB
    assert "30 of 100 MiB" in sentences(reading, "finding")[0]


def test_segments_alone() -> None:
    (told,) = allocators_of(read(pickle.dumps([segment([block(10)])]), "s.pickle"))
    assert told.reserved_bytes == 10


def test_other_pickles_are_refused() -> None:
    for value in ({"weights": 1}, 7, "text", None):
        with pytest.raises(UsageError, match="no snapshot"):
            read(pickle.dumps(value), "x")


@pytest.mark.parametrize(
    "value", [None, 7, "x", [1, None, {}], {"a": 1}, [{"blocks": 5}], [{"device": "x", "total_size": -1}]]
)
def test_fields_of_any_type_break_nothing(value: Any) -> None:
    reading = read(pickle.dumps({"segments": value, "device_traces": value, "allocator_settings": value}), "x")
    assert reading.kind == "torch_memory_snapshot"
    read(pickle.dumps({"segments": [], "device_traces": [value, [value], [{"action": value, "size": value}]]}), "x")


def test_a_small_file_that_unfolds_into_billions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_fields, "MOST_ENTRIES", 10_000)
    one = segment([block(1)])
    one["blocks"] = [one["blocks"][0]] * 1000
    with pytest.raises(UsageError, match="it is refused"):
        read_snapshot([one] * 1000)
