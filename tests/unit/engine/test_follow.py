"""Following a session: nothing twice, nothing lost, and the end is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine import follow
from gpuscope.engine.follow import Follower
from gpuscope.store.reader import SessionState
from gpuscope.store.writer import SessionWriter
from tests.unit.store.test_session_file import ZERO, frame, write


def test_a_growing_session(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = write(path, 3)
    follower = Follower(path)
    assert [f.monotonic_s for f in follower.poll().frames] == [frame(n).monotonic_s for n in range(3)]
    assert follower.poll().frames == []
    writer.add_frame(frame(3))
    writer.add_output(ZERO, b"hello ")
    writer.add_output(ZERO, b"world")
    writer.add_event(ZERO, "step", {"n": 1}, "probe:1")
    writer.commit()
    update = follower.poll()
    assert (len(update.frames), update.output, [e.kind for e in update.events]) == (1, b"hello world", ["step"])
    assert update.state is SessionState.LIVE
    outcome = RunOutcome(kind=OutcomeKind.FINISHED, sentence="done")
    writer.add_frame(frame(4))
    writer.put_document("outcome", outcome)
    writer.close()
    updates = [follower.poll() for _ in range(4)]
    follower.close()
    assert sum(len(update.frames) for update in updates) == 1
    assert [update.outcome for update in updates if update.outcome] == [outcome], "told once"
    assert updates[-1].state is SessionState.CLOSED


def test_a_long_session_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "FRAMES_A_POLL", 10)
    path = tmp_path / "a.gpuscope"
    write(path, 25).close()
    follower = Follower(path)
    sizes = []
    while (update := follower.poll()).more:
        sizes.append(len(update.frames))
        assert update.outcome is None
    follower.close()
    assert sizes == [10, 10]
    assert len(update.frames) == 5


def test_a_session_that_is_adopted_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    write(path, 2).abandon()
    follower = Follower(path)
    follower.poll()
    assert follower.poll().state is SessionState.INTERRUPTED
    writer = SessionWriter.adopt(path)
    assert follower.poll().state is SessionState.LIVE
    outcome = RunOutcome(kind=OutcomeKind.FINISHED, sentence="done")
    writer.add_frame(frame(2))
    writer.put_document("outcome", outcome)
    writer.close()
    updates = [follower.poll() for _ in range(4)]
    follower.close()
    assert sum(len(update.frames) for update in updates) == 1
    assert [update.outcome for update in updates if update.outcome] == [outcome]
