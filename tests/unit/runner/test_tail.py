"""Following files: torn lines, truncation, floods, offsets that are restored."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.base import to_msgpack
from gpuscope.runner import tail
from gpuscope.runner.tail import FileTail, JsonLinesTail


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_file_is_read_as_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "ö put.log"
    reader = FileTail(path)
    assert reader.read() == b""
    append(path, b"one\n")
    assert reader.read() == b"one\n"
    assert reader.read() == b""
    append(path, b"two")
    assert FileTail(path, reader.offset).read() == b"two"


def test_file_that_got_shorter_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_bytes(b"a long line\n")
    reader = FileTail(path)
    reader.read()
    path.write_bytes(b"new\n")
    assert reader.read() == b"new\n"


def test_flood_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    data = bytes(range(256)) * 10_000
    path.write_bytes(data)
    reader = FileTail(path)
    pieces = []
    while piece := reader.read():
        pieces.append(piece)
    assert max(map(len, pieces)) == tail.READ_LIMIT_BYTES
    assert b"".join(pieces) == data


def test_torn_last_line_is_held_back(tmp_path: Path) -> None:
    path = tmp_path / "probe-12.jsonl"
    reader = JsonLinesTail(tmp_path)
    assert reader.read() == []
    append(path, b'{"a": 1}\n{"a": ')
    assert reader.read() == [("probe:12", {"a": 1})]
    assert reader.read() == []
    append(path, b"2}\n")
    assert reader.read() == [("probe:12", {"a": 2})]


def test_torn_last_line_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "probe-1.jsonl").write_bytes(b'{"a": 1}\n{"a": 2}')
    (tmp_path / "probe-2.jsonl").write_bytes(b'{"b": 1}\n{"b')
    reader = JsonLinesTail(tmp_path)
    assert reader.read(final=True) == [("probe:1", {"a": 1}), ("probe:1", {"a": 2}), ("probe:2", {"b": 1})]
    assert reader.skipped_lines == 1
    assert reader.read(final=True) == []


def test_garbage_is_skipped_and_counted(tmp_path: Path) -> None:
    lines = [b'{"a": 1}', b"\x00\x00", b"[1]", b"", b"\xff{", b"[" * 100_000, b'{"loss": NaN}', b'{"a": 2}']
    (tmp_path / "probe-7.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    reader = JsonLinesTail(tmp_path)
    found = [data for _, data in reader.read()]
    assert found[0] == {"a": 1}
    assert found[-1] == {"a": 2}
    assert len(found) == 3
    assert reader.skipped_lines == 4


def test_offsets_are_restored(tmp_path: Path) -> None:
    path = tmp_path / "probe-3.jsonl"
    append(path, b'{"a": 1}\n{"a"')
    first = JsonLinesTail(tmp_path)
    first.read()
    append(path, b": 2}\n")
    append(tmp_path / "probe-4.jsonl", b'{"b": 1}\n')
    assert JsonLinesTail(tmp_path, offsets=first.offsets).read() == [("probe:3", {"a": 2}), ("probe:4", {"b": 1})]


def test_whole_numbers_beyond_what_a_session_holds_become_floats(tmp_path: Path) -> None:
    (tmp_path / "probe-1.jsonl").write_text(f'{{"a": {10**30}, "b": {10**400}, "c": {2**59}}}\n')
    [(_, data)] = JsonLinesTail(tmp_path).read()
    assert data == {"a": 1e30, "b": float("inf"), "c": 2**59}
    assert to_msgpack(data)


def test_too_long_a_line_is_skipped_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_LINE_BYTES", 64)
    append(tmp_path / "probe-1.jsonl", b'{"a": "' + b"x" * 500 + b'"}\n{"b": 1}\n')
    reader = JsonLinesTail(tmp_path)
    found = [record for _ in range(20) for record in reader.read()]
    assert found == [("probe:1", {"b": 1})]
    assert reader.skipped_lines == 1


def test_more_than_one_read_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_LINE_BYTES", 64)
    append(tmp_path / "probe-1.jsonl", b"".join(b'{"n": %d}\n' % n for n in range(50)))
    reader = JsonLinesTail(tmp_path)
    found = [data["n"] for _ in range(50) for _, data in reader.read()]
    assert found == list(range(50))


LINES = [b'{"n": 0}', b"garbage", b'{"text": "\xc3\xa9\\n"}', b"", b'{"n": 3}']
WHOLE = b"\n".join(LINES) + b"\n"


@given(cuts=st.lists(st.integers(0, len(WHOLE)), max_size=8))
def test_however_the_lines_arrive_they_are_the_same(cuts: list[int]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reader = JsonLinesTail(folder)
        found = []
        for start, end in pairwise([0, *sorted(cuts), len(WHOLE)]):
            append(folder / "probe-1.jsonl", WHOLE[start:end])
            found += [data for _, data in reader.read()]
        assert found == [{"n": 0}, {"text": "é\n"}, {"n": 3}]
        assert reader.skipped_lines == 1
