"""Files that end early: what was before is read, and that something is lost is said."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.errors import GpuscopeError
from gpuscope.importers.monitors.vendor_json import AMD_DESCRIPTION
from gpuscope.importers.reading import Reading
from gpuscope.importers.recognise import READERS, read
from tests.fuzz.seeds import logs
from tests.fuzz.targets import recognises
from tests.unit.importers.pytorch_files import allocators_of
from tests.unit.importers.smi_logs import FOLDER

CUTS = 40
"""Of each file, evenly spread; each file of a kind is cut at other places."""
FILES = [(reader.description, data) for reader in READERS for data in logs() if recognises(reader, data)]
QUERY = (FOLDER / "two-gpu-interleaved.csv").read_bytes()


def _read_or_refused(data: bytes) -> Reading | None:
    """None where it is refused, in a sentence."""
    try:
        return read(data, "file")
    except GpuscopeError as refusal:
        if len(str(refusal)) < 20:
            raise AssertionError(str(refusal)) from refusal
        return None


def _amount(reading: Reading) -> int:
    return reading.rows + len(reading.processes)


@pytest.mark.parametrize(("kind", "data"), FILES, ids=[f"{kind} {number}" for number, (kind, _) in enumerate(FILES)])
def test_a_file_that_is_cut_anywhere_is_refused_or_says_what_is_lost(kind: str, data: bytes) -> None:
    whole = _read_or_refused(data)
    if whole is None:
        return  # a hostile one is refused whole, too
    for cut in range(1 + len(data) % 7, len(data), max(1, len(data) // CUTS)):
        reading = _read_or_refused(data[:cut])
        if reading is None:
            continue
        assert _amount(reading) <= _amount(whole), f"at byte {cut}"
        at_the_end_of_a_line = data[:cut].rstrip(b"\0").endswith((b"\n", b"\r"))  # then nothing tells of the cut
        behind_an_answer = kind == AMD_DESCRIPTION and data[:cut].endswith(b"]")  # of several in a row: the same
        if _amount(reading) < _amount(whole) and not (at_the_end_of_a_line or behind_an_answer):
            assert any(note.code == "lost" for note in reading.notes), f"at byte {cut}"


def _rows(text: bytes) -> list[bytes]:
    return text.rstrip(b"\n").split(b"\n")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_query_log_cut_within_a_row_gives_the_rows_before_it(data: st.DataObject) -> None:
    heading, *rows = _rows(QUERY)
    kept = data.draw(st.integers(1, len(rows) - 1))
    part = data.draw(st.integers(1, len(rows[kept]) - 1))
    before = b"\n".join([heading, *rows[:kept]]) + b"\n"
    reading, whole = read(before + rows[kept][:part], "cut.csv"), read(before, "whole.csv")
    assert reading.rows == whole.rows == kept
    assert {key: list(track.wall_s) for key, track in reading.tracks.items()} == {
        key: list(track.wall_s) for key, track in whole.tracks.items()
    }
    for key, track in whole.tracks.items():
        for name in track.columns:
            assert reading.tracks[key].known(name) == track.known(name)
    assert any(note.code == "lost" and note.line == kept + 2 for note in reading.notes), reading.notes


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rows_that_are_damaged_are_counted_and_the_others_read(data: st.DataObject) -> None:
    heading, *rows = _rows(QUERY)
    damaged = data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1, max_size=len(rows) - 2))
    lines = [heading, *(b"xx" if number in damaged else row for number, row in enumerate(rows))]
    reading = read(b"\n".join(lines) + b"\n", "damaged.csv")
    assert reading.rows == len(rows) - len(damaged)
    (note,) = [note for note in reading.notes if note.code == "lost"]
    assert (note.count, note.line) == (len(damaged), min(damaged) + 2)


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 200))
def test_the_first_rows_of_a_long_log(count: int) -> None:
    rows = [f"2026/11/02 10:{at // 60:02}:{at % 60:02}.000, 0, {at % 100} %" for at in range(200)]
    text = "\n".join(["timestamp, index, utilization.gpu [%]", *rows])
    cut = text[: text.index(rows[count - 1]) + len(rows[count - 1]) - 3]
    reading = read(cut.encode(), "cut.csv")
    (track,) = reading.tracks.values()
    assert track.known("utilization_gpu_percent") == [at % 100 for at in range(count - 1)]
    assert any(note.code == "lost" for note in reading.notes)


def test_the_bytes_of_a_trace_that_are_lost_are_said() -> None:
    trace = b'{"traceEvents": [' + b",\n".join(
        b'{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": %d, "dur": 5}' % (10 * number)
        for number in range(50)
    )
    reading = read(trace[:-20], "trace.json")
    assert any(note.code == "lost" and "bytes" in note.sentence for note in reading.notes), reading.notes


def test_a_snapshot_that_is_cut_gives_the_segments_before_the_cut() -> None:
    segments = [{"device": 0, "total_size": 2**21, "allocated_size": 2**20, "blocks": []} for _ in range(100)]
    data = pickle.dumps({"segments": segments, "device_traces": []}, 4)
    whole = read(data, "whole")
    reading = read(data[: len(data) * 2 // 3], "cut")
    (before,), (after,) = allocators_of(whole), allocators_of(reading)
    assert before.segments == 100
    assert 50 < (after.segments or 0) < 100
    assert after.reserved_bytes in {2**21 * (after.segments or 0), 2**21 * ((after.segments or 0) - 1)}
    assert any(note.code == "lost" and "cut off at byte" in note.sentence for note in reading.notes)
