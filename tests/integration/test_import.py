"""`gpuscope import`: a log becomes a session, the session a footprint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuscope.cli import main
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.session import open_session
from gpuscope.store.reader import SessionState

FOLDER = Path(__file__).parents[1] / "data" / "imports" / "nvidia_smi"
MIB = 1024**2


def test_a_log_becomes_a_session_with_a_footprint(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    session = tmp_path / "log.gpuscope"
    assert main(["import", str(FOLDER / "two-gpu-interleaved.csv"), "-o", str(session), "--json"]) == 0
    printed = capfd.readouterr()
    footprint = json.loads(printed.out)
    assert footprint["source"]["kind"] == "imported"
    assert [device["name"] for device in footprint["devices"]] == ["NVIDIA RTX A6000"]  # the other one did nothing
    assert footprint["memory"]["peak_device_bytes"]["mid"] == 25073 * MIB
    assert footprint["utilization"]["gpu"]["mean"] == pytest.approx(93.8, abs=0.1)
    assert footprint["steps"]["count"] is None
    assert "12 rows of 2 GPUs" in printed.err
    with open_session(session) as reader:
        assert reader.state() is SessionState.CLOSED
        assert [len(frame.gpus or ()) for _, frame in reader.frames()].count(2) >= 4
        assert not reader.notes


def test_what_was_lost_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    session = tmp_path / "log.gpuscope"
    assert main(["import", str(FOLDER / "last-row-cut.csv"), "-o", str(session)]) == 0
    assert "The last row is incomplete and was left out. (line 7)" in capfd.readouterr().err
    with open_session(session) as reader:
        peak = footprint_of(reader).memory.peak_device_bytes
        assert peak is not None
        assert (peak.low, peak.high) == ((17304 - 1123) * MIB, 17304 * MIB)


def test_a_file_of_another_kind_leaves_no_session(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "table.csv"
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    assert main(["import", str(other), "-o", str(tmp_path / "log.gpuscope")]) == 2
    assert "no kind that gpuscope reads" in capfd.readouterr().err
    assert not (tmp_path / "log.gpuscope").exists()


def test_files_of_one_run_become_one_session(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gpus, apps = tmp_path / "gpus.csv", tmp_path / "apps.csv"
    gpus.write_text(
        "timestamp, uuid, utilization.gpu [%]\n"
        "2026/07/14 09:00:40.000, GPU-1, 90 %\n2026/07/14 09:00:45.000, GPU-1, 91 %\n",
        encoding="utf-8",
    )
    apps.write_text(
        "timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
        "2026/07/14 09:00:44.000, GPU-1, 7, python, 10 MiB\n",
        encoding="utf-8",
    )
    session = tmp_path / "log.gpuscope"
    assert main(["import", str(gpus), str(apps), "-o", str(session)]) == 0
    capfd.readouterr()
    with open_session(session) as reader:
        frames = [frame for _, frame in reader.frames()]
        assert [device.uuid for device in reader.devices()] == ["GPU-1"]
    assert [frame.monotonic_s for frame in frames] == [0, 4, 5]
    (sample,) = frames[1].gpus or ()
    assert [(process.pid, process.gpu_memory_bytes) for process in sample.processes or ()] == [(7, 10 * MIB)]


def test_open_imports_a_log_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_SESSIONS_DIR", str(tmp_path / "sessions"))
    opened: list[list[str]] = []
    monkeypatch.setattr("gpuscope.ui.app.main", lambda arguments: opened.append(arguments) or 0)
    assert main(["open", str(FOLDER / "two-gpu-interleaved.csv")]) == 0
    ((session,),) = opened
    assert Path(session).parent == tmp_path / "sessions"
    with open_session(Path(session)) as reader:
        assert len(reader.devices()) == 2


def test_open_refuses_what_is_neither(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "letter.txt"
    other.write_text("Dear all,\n", encoding="utf-8")
    assert main(["open", str(other)]) == 2
    assert "no kind that gpuscope reads" in capfd.readouterr().err
