"""Kill -9 of each process at random moments: every session opens, nothing seen is missing, who dies with whom."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine.follow import Follower
from gpuscope.engine.session import open_session
from gpuscope.errors import SessionError
from gpuscope.runner.process import read_workload_note, workload_alive
from gpuscope.store.reader import SessionReader, SessionState
from gpuscope.store.schema import run_folder
from tests.integration.jobs import COUNTING, environment, start, wait_for

LINES = 60
"""Of the job's output, one each 20 ms."""
LINES_FOR_A_REPLACEMENT = 160
KILLS_OF_EACH = 13
"""Four kinds of victims: 52 kills."""


class Watched:
    """A run under way, with a viewer that remembers all it was shown."""

    def __init__(self, folder: Path, supervisor: subprocess.Popen[bytes], path: Path) -> None:
        self.folder = folder
        self.supervisor = supervisor
        self.path = path
        self.follower = Follower(path)
        self.frames: list[float] = []
        self.output = b""

    def look(self) -> None:
        update = self.follower.poll()
        self.frames += [frame.monotonic_s for frame in update.frames]
        self.output += update.output

    def look_for(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.look()
            time.sleep(0.03)

    def sampler(self) -> psutil.Process | None:
        for child in psutil.Process(self.supervisor.pid).children():
            if "_sampler" in child.cmdline():
                return child
        return None

    def end(self) -> RunOutcome:
        """Wait for the end, look once more, and check that nothing seen is missing from the session."""
        wait_for(lambda: _state(self.path) is SessionState.CLOSED)
        self.follower.close()
        with SessionReader(self.path) as reader:
            assert reader.notes == []
            stored = {frame.monotonic_s for _, frame in reader.frames()}
            assert set(self.frames) <= stored
            assert b"".join(piece for _, _, piece in reader.output()).startswith(self.output)
            outcome = reader.document("outcome", RunOutcome)
        assert outcome is not None
        wait_for(lambda: not run_folder(self.path).exists(), 5.0)
        return outcome


def _state(path: Path) -> SessionState | None:
    try:
        with SessionReader(path) as reader:
            return reader.state()
    except SessionError:
        return None


@contextmanager
def watched_run(folder: Path, lines: int = LINES) -> Iterator[Watched]:
    script = folder / "job.py"
    script.write_text(COUNTING)
    path = folder / "job.gpuscope"
    supervisor = start("run", "-o", path, "--interval", "0.05", "--", script, str(lines), cwd=folder)
    try:
        wait_for(lambda: _state(path))
        yield Watched(folder, supervisor, path)
    finally:
        note = read_workload_note(run_folder(path)) if run_folder(path).exists() else None
        supervisor.kill()
        supervisor.wait()
        if note is not None and workload_alive(note):
            os.kill(note.pid, signal.SIGKILL)


@pytest.mark.parametrize("seed", range(KILLS_OF_EACH))
def test_the_workload_is_killed(tmp_path: Path, seed: int) -> None:
    with watched_run(tmp_path) as run:
        note = wait_for(lambda: read_workload_note(run_folder(run.path)))
        run.look_for(random.Random(seed).uniform(0, 1.0))
        os.kill(note.pid, signal.SIGKILL)
        run.look()
        outcome = run.end()
        assert run.supervisor.wait(10) == 128 + signal.SIGKILL
    assert outcome.kind is OutcomeKind.KILLED
    assert "SIGKILL" in outcome.sentence


@pytest.mark.parametrize("seed", range(KILLS_OF_EACH))
def test_the_sampler_is_killed(tmp_path: Path, seed: int) -> None:
    with watched_run(tmp_path, LINES_FOR_A_REPLACEMENT) as run:
        sampler = wait_for(run.sampler)
        run.look_for(random.Random(seed).uniform(0, 0.5))
        sampler.kill()
        run.look_for(0.2)
        outcome = run.end()
        assert run.supervisor.wait(10) == 0
    assert outcome.kind is OutcomeKind.FINISHED
    with SessionReader(run.path) as reader:
        assert any(event.kind == "sampler_replaced" for event in reader.events())
        assert b"".join(piece for _, _, piece in reader.output()).endswith(b"end\n")


@pytest.mark.parametrize("seed", range(KILLS_OF_EACH))
def test_the_supervisor_is_killed(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched_run(tmp_path) as run:
        run.look_for(random.Random(seed).uniform(0, 1.2))
        sampler = run.sampler()
        run.supervisor.kill()
        run.supervisor.wait()
        run.look()
        if sampler is not None:
            wait_for(lambda: not sampler.is_running() or sampler.status() == psutil.STATUS_ZOMBIE, 5.0)
        with SessionReader(run.path) as reader:
            assert reader.state() is SessionState.INTERRUPTED
            assert "not closed" in reader.notes[0]
        note = read_workload_note(run_folder(run.path))
        if note is not None and workload_alive(note):
            adopter = start("_adopt", run.path, cwd=tmp_path)
            assert adopter.wait(30) == 0
        for name, value in environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        with open_session(run.path) as reader:
            assert reader.state() is SessionState.CLOSED
            kinds = [event.kind for event in reader.events()]
            output = b"".join(piece for _, _, piece in reader.output())
        outcome = run.end()
    if note is None:
        assert outcome.kind is OutcomeKind.NOT_STARTED
    else:
        assert outcome.kind in {OutcomeKind.FINISHED, OutcomeKind.UNKNOWN}
        assert "supervisor_adopted" in kinds or "note" in kinds
        assert output.endswith(b"end\n")


@pytest.mark.parametrize("seed", range(KILLS_OF_EACH))
def test_the_window_is_killed(tmp_path: Path, seed: int) -> None:
    with watched_run(tmp_path) as run:
        window = start("open", run.path, cwd=tmp_path)
        run.look_for(random.Random(seed).uniform(0, 1.2))
        window.kill()
        window.wait()
        outcome = run.end()
        assert run.supervisor.wait(10) == 0
    assert outcome.kind is OutcomeKind.FINISHED
    with SessionReader(run.path) as reader:
        assert b"".join(piece for _, _, piece in reader.output()).endswith(b"end\n")


def test_a_monitor_only_recording_dies_with_its_window(tmp_path: Path) -> None:
    path = tmp_path / "live.gpuscope"
    window = subprocess.Popen(["sleep", "60"])
    recorder = start("record", "-o", path, "--parent", str(window.pid), cwd=tmp_path)
    wait_for(lambda: _state(path))
    window.kill()
    window.wait()
    assert recorder.wait(10) == 0
    assert _state(path) is SessionState.CLOSED
