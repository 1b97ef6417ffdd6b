"""A session that is taken away during its run, or whose disk fills up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine.listener import Listener
from gpuscope.engine.profile import STARTED, adopt, profile
from gpuscope.engine.record import record
from gpuscope.engine.supervisor import Supervisor
from gpuscope.errors import SessionError, SourceError
from gpuscope.runner.command import plan_launch
from gpuscope.store.reader import SessionReader, SessionState


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))


def run(path: Path, script: str, at_first_output: Callable[[], object]) -> RunOutcome:
    waiting = [at_first_output]

    def heard(_piece: bytes) -> None:
        while waiting:
            waiting.pop()()

    return profile(path, plan_launch(["sh", "-c", script], cwd=path.parent), listener=Listener(on_output=heard))


def test_a_session_that_was_moved_is_complete_where_it_is(tmp_path: Path) -> None:
    path, moved = tmp_path / "a.gpuscope", tmp_path / "b.gpuscope"
    outcome = run(path, "echo one; sleep 0.3; echo two; exit 4", lambda: path.rename(moved))
    assert (outcome.kind, outcome.exit_status) == (OutcomeKind.FAILED, 4)
    with SessionReader(moved) as reader:
        assert reader.state() is SessionState.CLOSED
        assert b"".join(piece for _, _, piece in reader.output()) == b"one\ntwo\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.gpuscope", "state"]


def test_a_deleted_session_leaves_nothing_and_keeps_the_status(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    assert run(path, "echo one; sleep 0.3; exit 4", path.unlink).exit_status == 4
    assert [p.name for p in tmp_path.iterdir()] == ["state"]


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")  # so it is: that is the test
def test_a_run_outlives_a_disk_that_is_full_and_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.gpuscope"

    def full(_supervisor: Supervisor, _now: float) -> None:
        raise SessionError(f"{path} cannot be written: the disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(Supervisor, "tick", full)
        with pytest.raises(SessionError, match=r"disk is full\. The run \(process \d+\) goes on unrecorded"):
            profile(path, plan_launch(["sh", "-c", "sleep 1; echo late"], cwd=tmp_path))
    outcome = adopt(path)
    assert outcome.kind is OutcomeKind.UNKNOWN
    with SessionReader(path) as reader:
        assert outcome.started_s == reader.meta(STARTED), "when it was started, not when it was taken over"
        assert [piece for _, _, piece in reader.output()] == [b"late\n"]
    for child in psutil.Process().children():  # of a real supervisor, which has ended, the system does this
        child.wait(5)


def test_a_sampler_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuscope.paths.app_command", lambda: [str(tmp_path / "not-here")])
    path = tmp_path / "a.gpuscope"
    with pytest.raises(SourceError, match="cannot be started"):
        profile(path, plan_launch(["sh", "-c", "echo never"], cwd=tmp_path))
    with SessionReader(path) as reader:
        assert reader.state() is SessionState.CLOSED
        outcome = reader.document("outcome", RunOutcome)
        assert outcome is not None
        assert outcome.kind is OutcomeKind.NOT_STARTED
    with pytest.raises(SourceError, match="cannot be started"):
        record(tmp_path / "b.gpuscope", seconds=0.1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.gpuscope", "state"]
