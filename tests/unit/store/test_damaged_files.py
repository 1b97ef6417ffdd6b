"""Files that lost parts, are something else, or mean harm."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.errors import SessionError
from gpuscope.store import compactor
from gpuscope.store.codec import Chunk, Kind, Payload, deflate, encode_blob
from gpuscope.store.compactor import BLOCK_ROWS
from gpuscope.store.figures import StoredDevice, StoredFigure
from gpuscope.store.reader import SessionReader
from gpuscope.store.schema import APPLICATION_ID
from gpuscope.store.writer import SessionWriter
from tests.unit.store.test_session_file import ZERO, frame, write

FRAMES = BLOCK_ROWS - 1
"""All of them rows."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "a.gpuscope"
    write(path, FRAMES).close()
    return path.read_bytes()


@contextlib.contextmanager
def opened_or_refused(path: Path) -> Iterator[None]:
    """Whatever happens is fine as long as it is a SessionError that names the file."""
    try:
        yield
    except SessionError as error:
        if str(path) not in str(error):
            raise AssertionError(f"{error} does not name the file") from error


def test_half_a_file_opens_with_what_is_left(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "half.gpuscope"
    path.write_bytes(whole[: len(whole) // 2])
    with SessionReader(path) as reader:
        frames = [f for _, f in reader.frames()]
        assert "cut off" in reader.notes[0]
        assert "50%" in reader.notes[0]
    assert 100 < len(frames) < FRAMES
    assert frames[0] == frame(0)
    assert path.read_bytes() == whole[: len(whole) // 2], "the file itself is not touched"
    assert [p.name for p in tmp_path.iterdir()] == ["half.gpuscope"]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_cut_opens_or_is_refused_in_a_sentence(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "cut.gpuscope"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with opened_or_refused(path), SessionReader(path) as reader:
        list(reader.frames())
        list(reader.events())
        list(reader.output())
        reader.devices()
        assert reader.notes


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_flipped_bytes_open_or_are_refused(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("flip") / "flip.gpuscope"
    torn = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 20))):
        torn[data.draw(st.integers(100, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(torn)
    with opened_or_refused(path), SessionReader(path) as reader:
        list(reader.frames())
        list(reader.events())
        reader.timeline()


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\x00" + bytes(2000), bytes(5000)])
def test_something_else_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.gpuscope"
    path.write_bytes(content)
    with pytest.raises(SessionError, match="is not a gpuscope session"):
        SessionReader(path)


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="There is no file"):
        SessionReader(tmp_path / "none.gpuscope")
    with pytest.raises(SessionError, match="cannot be read"):
        SessionReader(tmp_path)


def _tamper(whole: bytes, path: Path, sql: str) -> None:
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    connection.executescript(sql)
    connection.close()


def test_a_newer_format_is_refused(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.gpuscope"
    _tamper(whole, path, "PRAGMA user_version=99")
    with pytest.raises(SessionError, match="newer gpuscope"):
        SessionReader(path)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON frames BEGIN DELETE FROM frames; END",
        "CREATE VIEW v AS SELECT 1",
        "DROP TABLE output; CREATE VIEW output AS SELECT 1 AS seq, 1 AS t, randomblob(900000000) AS data",
    ],
)
def test_hidden_sql_is_refused(whole: bytes, tmp_path: Path, sql: str) -> None:
    path = tmp_path / "x.gpuscope"
    _tamper(whole, path, sql)
    with pytest.raises(SessionError):
        SessionReader(path)


def test_other_programs_sqlite_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.gpuscope"
    connection = sqlite3.connect(path)
    connection.executescript(f"PRAGMA application_id={APPLICATION_ID}; CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(SessionError, match="no table"):
        SessionReader(path)


def test_damage_in_the_name_of_a_table_is_damage(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    path.write_bytes(whole.replace(b"\x01\x81)tabledevicesdevices", b"\x01\x81)tablede\x80icesdevices", 1))
    assert path.read_bytes() != whole
    with pytest.raises(SessionError, match="Too little is left"):
        SessionReader(path)
    with pytest.raises(SessionError, match="cannot be written"):
        SessionWriter.adopt(path, finished=True)


def test_a_repair_for_which_there_is_no_room_leaves_nothing(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, temporary = tmp_path / "a.gpuscope", tmp_path / "temporary"
    path.write_bytes(whole[: len(whole) // 2])
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(SessionError, match="could not be copied for repair"):
        SessionReader(path)
    assert list(temporary.iterdir()) == []


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("compacted") / "a.gpuscope"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compactor, "BLOCK_ROWS", 50)
        write(path, 1000).close()
    return path.read_bytes()


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_blocks_with_flipped_bytes_or_cut_off_open_or_are_refused(
    compacted: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("flip") / "flip.gpuscope"
    torn = bytearray(compacted[: data.draw(st.integers(len(compacted) // 3, len(compacted)))])
    for _ in range(data.draw(st.integers(1, 20))):
        torn[data.draw(st.integers(100, len(torn) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(torn)
    with opened_or_refused(path), SessionReader(path) as reader:
        frames = [found for _, found in reader.frames()]
        assert all(found == frame(round((found.monotonic_s - ZERO) * 10)) for found in frames if found.gpus)
        reader.timeline().get("GPU-1", "power_w")
        reader.series("GPU-1", "power_w", 0.0, 100.0, 10)
        reader.past({"power_w"})


def test_a_damaged_block_costs_its_own_readings_and_is_said(compacted: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    _tamper(compacted, path, "UPDATE columns SET data=substr(data, 1, 20) WHERE device='GPU-1' AND block=3")
    with SessionReader(path) as reader:
        series = reader.timeline().get("GPU-1", "power_w")
        assert reader.notes == ["Some of columns could not be read."]
    assert len(series.t) == 950


def _bomb(claimed: int, packed: bytes) -> bytes:
    chunk = Chunk(Kind.OFFSETS, claimed, width=1, deflated=True, payload=Payload(packed))
    return encode_blob(StoredDevice(chunk, (StoredFigure("power_w", chunk, chunk, 1),), ()), 6)


@pytest.mark.parametrize("claimed", [50, 60_000, 4_000_000, 10**12])
def test_a_block_that_swells_is_damage(compacted: bytes, tmp_path: Path, claimed: int) -> None:
    path = tmp_path / "a.gpuscope"
    path.write_bytes(compacted)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        bomb = _bomb(claimed, deflate(bytes(50_000_000), 9))
        connection.execute("UPDATE columns SET data=? WHERE device='GPU-1' AND block=3", (bomb,))
        connection.commit()
    with SessionReader(path) as reader:
        tracemalloc.start()
        series = reader.timeline().get("GPU-1", "power_w")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert reader.notes == ["Some of columns could not be read."]
    assert len(series.t) == 950
    assert peak < 5_000_000
