"""Writing a session and reading it back: growing, closed, copied, adopted."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import threading
import time
from pathlib import Path

import msgspec
import pytest

from gpuscope.domain.device import Device, Host
from gpuscope.domain.reasons import Reason
from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome, RunSpec
from gpuscope.domain.sample import Frame, GpuSample, HostSample
from gpuscope.errors import SessionError
from gpuscope.store.lock import SessionLock, is_being_written
from gpuscope.store.reader import SessionReader, SessionState
from gpuscope.store.schema import run_folder
from gpuscope.store.writer import SessionWriter, put_document

ZERO = 1000.0


def manifest() -> Manifest:
    return Manifest(
        session_id="s",
        kind="record",
        created_wall_s=1.7e9,
        created_monotonic_s=ZERO,
        gpuscope_version="0",
        host=Host(hostname="h", os="Linux"),
        interval_s=0.1,
    )


def frame(number: int) -> Frame:
    gpu = GpuSample(uuid="GPU-1", power_w=100.0 + number, unavailable={"fan_percent": Reason.NOT_SUPPORTED})
    return Frame(
        monotonic_s=ZERO + number / 10, wall_s=1.7e9 + number / 10, gpus=(gpu,), host=HostSample(cpu_percent=0.0)
    )


def write(path: Path, count: int) -> SessionWriter:
    writer = SessionWriter.create(path, manifest())
    for number in range(count):
        writer.add_frame(frame(number))
        writer.commit()
    return writer


def test_everything_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 20)
    device = Device(uuid="GPU-1", index=0, name="NVIDIA L4")
    outcome = RunOutcome(kind=OutcomeKind.RECORDED, sentence="done")
    writer.add_device(device)
    writer.add_event(ZERO + 1, "step", {"n": 1, "duration_s": None}, "probe:5")
    writer.add_output(ZERO + 1, b"\xff\x00hello")
    writer.put_document("outcome", outcome)
    writer.close()
    with SessionReader(path) as reader:
        assert reader.notes == []
        assert reader.last_frame_s() == pytest.approx(1.9)
        assert reader.manifest == manifest()
        assert [f for _, f in reader.frames()] == [frame(n) for n in range(20)]
        assert reader.devices() == [device]
        event = next(reader.events())
        assert (event.t, event.source, event.kind, event.data) == (1.0, "probe:5", "step", {"n": 1, "duration_s": None})
        assert [(t, data) for _, t, data in reader.output()] == [(1.0, b"\xff\x00hello")]
        assert reader.document("outcome", RunOutcome) == outcome
        assert reader.document("footprint", RunOutcome) is None


def test_timeline_keeps_zero_and_missing_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    write(path, 5).close()
    with SessionReader(path) as reader:
        timeline = reader.timeline()
    assert timeline.get("host", "cpu_percent").values.tolist() == [0.0] * 5
    assert len(timeline.get("GPU-1", "fan_percent").known) == 0
    assert timeline.reason("GPU-1", "fan_percent") is Reason.NOT_SUPPORTED
    assert timeline.get("GPU-1", "power_w").t == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])


def test_a_closed_session_is_one_plain_private_file(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    write(path, 5).close()
    assert [p.name for p in tmp_path.iterdir()] == ["a.gpuscope"]
    assert path.read_bytes()[18:20] == b"\x01\x01"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_growing_session_is_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 5)
    with SessionReader(path) as reader:
        assert reader.state() is SessionState.LIVE
        assert len(list(reader.frames())) == 5
        writer.add_frame(frame(5))
        assert len(list(reader.frames())) == 5, "only what is on disk is seen"
        writer.commit()
        assert [seq for seq, _ in reader.frames(after=5)] == [6]
    writer.close()


def test_closing_waits_for_a_reader_and_a_later_reader_tidies_up(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 5)
    reader = SessionReader(path)
    list(reader.frames())
    writer.close()
    assert reader.state() is SessionState.CLOSED
    assert len(list(reader.frames())) == 5
    reader.close()
    with SessionReader(path) as again:
        assert len(list(again.frames())) == 5
    assert path.read_bytes()[18:20] == b"\x01\x01"


def test_an_abandoned_session_is_adopted(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 5)
    writer.put_meta("output_offset", 77)
    writer.abandon()
    with SessionReader(path) as reader:
        assert reader.state() is SessionState.INTERRUPTED
        assert "not closed" in reader.notes[0]
    again = SessionWriter.adopt(path)
    assert again.get_meta("output_offset") == 77
    again.add_frame(frame(5))
    again.close()
    with SessionReader(path) as reader:
        assert len(list(reader.frames())) == 6
        assert reader.state() is SessionState.CLOSED


def test_two_writers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 1)
    with pytest.raises(SessionError, match="being written"):
        SessionWriter.adopt(path)
    with pytest.raises(SessionError, match="being written"):
        SessionWriter.create(path, manifest())
    writer.close()
    with pytest.raises(SessionError, match="exists already"):
        SessionWriter.create(path, manifest())
    assert not is_being_written(path)


def test_a_document_is_added_to_a_finished_session_only(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    outcome = RunOutcome(kind=OutcomeKind.RECORDED, sentence="done")
    writer = write(path, 1)
    with pytest.raises(SessionError):
        put_document(path, "outcome", outcome)
    writer.abandon()
    with pytest.raises(SessionError, match="not finished"):
        put_document(path, "outcome", outcome)
    with SessionReader(path) as reader:
        assert reader.state() is SessionState.INTERRUPTED, "asking must not close it"
    SessionWriter.adopt(path).close()
    put_document(path, "outcome", outcome)
    with SessionReader(path) as reader:
        assert reader.document("outcome", RunOutcome) == outcome
    assert [p.name for p in tmp_path.iterdir()] == ["a.gpuscope"]


def test_a_copy_without_its_wal_opens_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 5)
    copy = tmp_path / "copy.gpuscope"
    shutil.copy(path, copy)
    writer.close()
    with SessionReader(copy) as reader:
        assert reader.manifest == manifest()
        assert "-wal" in reader.notes[0]
    assert {p.name for p in tmp_path.iterdir()} == {"a.gpuscope", "copy.gpuscope"}


def test_save_a_copy_of_a_growing_session(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 5)
    with SessionReader(path) as reader:
        reader.save_copy(tmp_path / "copy.gpuscope")
        with pytest.raises(SessionError, match="exists already"):
            reader.save_copy(tmp_path / "copy.gpuscope")
    writer.close()
    with SessionReader(tmp_path / "copy.gpuscope") as reader:
        assert len(list(reader.frames())) == 5


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be written"):
        SessionWriter.create(tmp_path / "no" / "a.gpuscope", manifest())


def fill(writer: SessionWriter) -> None:
    for _ in range(50):
        writer.add_output(time.monotonic(), os.urandom(4000))
        writer.commit()


def test_a_full_disk_is_a_sentence_and_the_file_opens(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 3)
    writer._connection.execute("PRAGMA max_page_count=9").fetchone()
    with pytest.raises(SessionError, match="the disk is full"):
        fill(writer)
    writer.abandon()
    with SessionReader(path) as reader:
        assert len(list(reader.frames())) == 3


def test_the_run_folder_is_there_only_while_the_session_is_open(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 1)
    assert run_folder(path).is_dir()
    writer.close()
    assert not run_folder(path).exists()


def test_refusing_an_existing_file_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    write(path, 1).close()
    with pytest.raises(SessionError, match="exists already"):
        SessionWriter.create(path, manifest())
    assert [p.name for p in tmp_path.iterdir()] == ["a.gpuscope"]


def test_a_session_that_cannot_be_begun_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuscope.store.writer.DDL", "CREATE TABLE meta (; no SQL")
    with pytest.raises(SessionError, match="cannot be written"):
        SessionWriter.create(tmp_path / "a.gpuscope", manifest())
    assert list(tmp_path.iterdir()) == []


def test_a_finished_session_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    write(path, 1).close()
    before = path.read_bytes()
    with pytest.raises(SessionError, match="finished already"):
        SessionWriter.adopt(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.gpuscope"]


def test_what_is_no_session_is_refused_without_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE something (x)")
    with pytest.raises(SessionError, match="no table"):
        SessionWriter.adopt(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.gpuscope"]


def test_a_lock_whose_file_was_removed_by_its_holder_guards_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    first = SessionLock(path)
    second: list[SessionLock] = []
    waiting = threading.Thread(target=lambda: second.append(SessionLock(path)))
    waiting.start()
    time.sleep(0.1)  # it has the file open and tries to lock it
    first.discard()
    waiting.join()
    assert is_being_written(path), "the second holds a lock that others can see"
    second[0].discard()
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_unicode_are_written_out(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    path = folder / "a.gpuscope"
    run = RunSpec(argv=("python", "caf\udce9.py"), cwd=str(folder), target="script", display="caf\udce9.py")
    writer = SessionWriter.create(path, msgspec.structs.replace(manifest(), run=run))
    writer.add_event(ZERO, "exception", {"message": "no caf\udce9", "half \ud83d": [b"\xe9", 1.5]})
    writer.close()
    with SessionReader(path) as reader:
        assert reader.manifest.run is not None
        assert reader.manifest.run.display == "caf\\xe9.py"
        (event,) = reader.events()
    assert event.data == {"message": "no caf\\xe9", "half \\ud83d": [b"\xe9", 1.5]}


def test_the_fingerprint_is_that_of_the_evidence(tmp_path: Path) -> None:
    path, other = tmp_path / "a.gpuscope", tmp_path / "b.gpuscope"
    write(path, 5).close()
    write(other, 6).close()

    def fingerprint(session: Path) -> str:
        with SessionReader(session) as reader:
            return reader.evidence_sha256()

    before = fingerprint(path)
    assert before != fingerprint(other)
    put_document(path, "recommendation", RunOutcome(kind=OutcomeKind.RECORDED, sentence="advice of another day"))
    assert fingerprint(path) == before, "advice is no evidence"
    with SessionReader(path) as reader:
        reader.save_copy(tmp_path / "copy.gpuscope")
    assert fingerprint(tmp_path / "copy.gpuscope") == before
    put_document(path, "outcome", RunOutcome(kind=OutcomeKind.FINISHED, sentence="something else"))
    assert fingerprint(path) != before
