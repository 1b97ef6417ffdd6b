"""Traces that are damaged, cut off or hostile: salvaged with what was lost said, or refused in bounded time."""

from __future__ import annotations

import gzip
import json
import time
import zlib

import pytest

from gpuscope.errors import UsageError
from gpuscope.importers import compressed
from gpuscope.importers.pytorch import json_stream, kineto
from gpuscope.importers.recognise import read
from tests.unit.importers.pytorch_files import event, kernel, operator, sentences, trace, trace_of

EVENTS = [operator(f"aten::op{number}", 10.0 * number, 5) for number in range(200)]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "PIECE_BYTES", 1000)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("indent", [None, 0, 2])
def test_events_are_the_same_however_they_are_cut_into_pieces(indent: int | None) -> None:
    data = json.dumps({"traceEvents": EVENTS, "deviceProperties": [{"id": 0, "name": "A"}] * 50}, indent=indent)
    told = trace_of(kineto.read(data.encode()))
    assert (told.events, told.operators, told.lost_events, told.cut) == (200, 200, 0, False)
    assert told.devices_listed == 1


@pytest.mark.usefixtures("small_pieces")
def test_one_bad_event_costs_one_event() -> None:
    lines = trace(EVENTS).split(b"\n")
    lines[100] = lines[100].replace(b'"ts": ', b'"ts": :')
    reading = read(b"\n".join(lines), "x")
    assert trace_of(reading).operators == 199
    (note,) = [note for note in reading.notes if note.code == "lost"]
    assert (note.count, "near byte" in note.sentence) == (1, True)


@pytest.mark.parametrize("share", [0.3, 0.62, 0.97])
def test_a_trace_that_ends_early(share: float) -> None:
    data = trace(EVENTS)
    reading = read(data[: int(len(data) * share)], "x")
    told = trace_of(reading)
    assert told.cut
    assert told.operators == pytest.approx(200 * share, abs=4)
    assert "cut off" in sentences(reading, "lost")[0]


def test_braces_in_names_and_in_lists_of_arguments() -> None:
    names = ["lambda()#1}, {lambda(int)", 'quote " } ] , {', "[{}]"]
    events = [event("cpu_op", name, 10.0 * at, 5, args={"list": [{"a": 1}, {"b": 2}]}) for at, name in enumerate(names)]
    told = trace_of(read(trace(events), "x"))
    assert (told.operators, told.lost_events) == (3, 0)


def test_numbers_that_are_no_json() -> None:
    data = trace([kernel("k", 0, 5, 1)]).replace(b'"stream": 7', b'"stream": 7, "bandwidth": inf, "b": [-nan, nan]')
    told = trace_of(read(data, "x"))
    assert (told.devices[0].kernels, told.lost_events) == (1, 0)


def test_bytes_that_are_no_utf_8_and_control_characters_in_names() -> None:
    data = trace([kernel("k\u00e9 z", 0, 5, 1)]).replace(b"\\u00e9", b"\xe9\x01")
    told = trace_of(read(data, "x"))
    assert told.devices[0].kernels == 1


def test_escapes_that_are_right_stay_as_they_are() -> None:
    told = trace_of(read(trace([event("python_function", 'a\\b "c"\td/é', 0, 5)]), "x"))
    assert told.functions[0].name == 'a\\b "c"\td/é'


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (rb"torch\nn\functional.py(3): relu", "torch\\nn\\functional.py(3): relu"),
        (rb"C:\new\train.py(12): <module>", "C:\\new\\train.py(12): <module>"),
        (rb"D:\users\beef\x.py(1): f", "D:\\users\\beef\\x.py(1): f"),
        (rb"C:\\escaped\\new.py(1): f", "C:\\escaped\\new.py(1): f"),
    ],
)
def test_paths_of_windows_however_they_are_written(written: bytes, meant: str) -> None:
    data = trace([event("python_function", "NAME", 0, 5), operator("aten::mm", 0, 1)]).replace(b"NAME", written)
    assert trace_of(read(data, "x")).functions[0].name == meant


@pytest.mark.parametrize(
    ("old", "new"), [(b"}\n],", b"},\n],"), (b"},\n{", b"}\n{"), (b"\n", b"\r\n"), (b"{", b"\xef\xbb\xbf{")]
)
def test_commas_too_many_or_missing_line_ends_and_a_byte_order_mark(old: bytes, new: bytes) -> None:
    data = trace(EVENTS)
    told = trace_of(read(data.replace(old, new, 1) if new[:1] == b"\xef" else data.replace(old, new), "x"))
    assert (told.operators, told.lost_events, told.cut) == (200, 0, False)


def test_a_trace_from_a_powershell_pipe() -> None:
    told = trace_of(read(trace(EVENTS).decode().encode("utf-16"), "x"))
    assert told.operators == 200


def test_compressed_members_one_behind_the_other() -> None:
    data = trace(EVENTS)
    half = len(data) // 2
    told = trace_of(read(gzip.compress(data[:half]) + gzip.compress(data[half:]), "x"))
    assert (told.operators, told.cut) == (200, False)


def test_times_that_are_nanoseconds_by_their_size() -> None:
    events = [operator("aten::mm", 1.7e18 + 1e6 * number, 5e5) for number in range(3)]
    reading = read(trace(events, displayTimeUnit="ns"), "x")
    assert trace_of(reading).span_s == pytest.approx(2.5e-3, abs=1e-6)
    assert "nanoseconds" in sentences(reading, "assumed")[0]


def test_display_unit_ns_changes_nothing() -> None:
    told = trace_of(read(trace([operator("aten::mm", 4e9, 5)], displayTimeUnit="ns"), "x"))
    assert told.span_s == pytest.approx(5e-6)


def test_events_without_times_are_counted_as_lost() -> None:
    broken = [{**EVENTS[0], "dur": None}, {**EVENTS[0], "dur": -5}, {**EVENTS[0], "ts": None}]
    reading = read(trace([*EVENTS, *broken]), "x")
    assert trace_of(reading).operators == 200
    assert [note.count for note in reading.notes if note.code == "lost"] == [3]


def test_progress_is_told_and_can_cancel() -> None:
    shares: list[float] = []
    read(trace(EVENTS), "x", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1

    def cancel(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(trace(EVENTS), "x", progress=cancel)


def test_traces_of_other_programs_are_refused() -> None:
    with pytest.raises(UsageError, match="of another program, or empty"):
        read(trace([event("blink", "paint", 0, 1)]), "x")
    with pytest.raises(UsageError, match="of another program, or empty"):
        read(b'{"traceEvents": []}', "x")


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"traceEvents": [{"ph": "X", "args": ' + b"[" * 100_000,
        b'{"traceEvents": [' + b'{"args":' * 100_000,
        b'{"traceEvents": [' + b"}{x" * 300_000,
        b'{"traceEvents": [' + b"}" + b" " * 3_000_000,
        b'{"traceEvents": [' + b"{" + b"}]" * 500_000,
        b'{"traceEvents": [{"ph": "' + b"\\" * 1_000_000,
        b'[{"ph": "X"' + b',"a' * 500_000,
    ],
    ids=["deep lists", "deep objects", "braces", "blanks", "ends", "backslashes", "keys"],
)
def test_hostile_json_is_refused_in_bounded_time(hostile: bytes) -> None:
    began_s = time.process_time()
    with pytest.raises(UsageError):
        read(hostile, "x")
    assert time.process_time() - began_s < 5


def test_one_event_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MOST_OBJECT_BYTES", 10_000)
    monkeypatch.setattr(compressed, "PIECE_BYTES", 1000)
    with pytest.raises(UsageError, match="goes on for more than"):
        read(b'{"traceEvents": [{"name": "' + b"x" * 20_000, "x")


def test_a_bomb_is_refused_before_it_has_swollen() -> None:
    packer = zlib.compressobj(9, wbits=31)
    event_text = b'{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1},' * 20_000
    packed = packer.compress(b'{"traceEvents": [')
    for _ in range(20):  # 20 MB
        packed += packer.compress(event_text)
    packed += packer.flush()
    began_s = time.process_time()
    with pytest.raises(UsageError, match="swells more than"):
        read(packed, "x")
    assert time.process_time() - began_s < 20
