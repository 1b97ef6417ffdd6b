"""Following a session: nothing twice, nothing lost, and the end is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine import follow
from gpuscope.engine.follow import Follower
from gpuscope.store.compactor import BLOCK_ROWS
from gpuscope.store.reader import SessionState
from gpuscope.store.writer import SessionWriter
from tests.unit.store.test_session_file import ZERO, frame, manifest, write


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


def test_the_past_of_a_long_session_comes_as_curves_and_the_rest_frame_by_frame(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    count = 3 * BLOCK_ROWS
    for number in range(count):
        writer.add_frame(frame(number))
        if number % 100 == 0:
            writer.commit()
            while writer.compact():
                pass
    writer.commit()
    follower = Follower(path, {"power_w"})
    update = follower.poll()
    assert update.past is not None
    assert update.path == path
    assert update.past.curves.keys() == {("GPU-1", "power_w")}
    assert update.past.newest["GPU-1", "fan_percent"].reason is Reason.NOT_SUPPORTED
    covered = count - len(update.frames)
    assert update.frames == [frame(number) for number in range(covered, count)]
    curve = update.past.curves["GPU-1", "power_w"]
    assert (curve.low[0], curve.high[-1]) == (100.0, 100.0 + covered - 1)
    for number in range(count, count + 2000):
        writer.add_frame(frame(number))
    writer.close()
    later = [follower.poll() for _ in range(3)]
    follower.close()
    assert [each.past for each in later] == [None] * 3
    found = [each for polled in later for each in polled.frames]
    assert found == [frame(number) for number in range(count, count + 2000)]
    assert later[-1].state is SessionState.CLOSED


def test_another_programs_recording_comes_as_curves_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    writer = SessionWriter.create(path, manifest())
    writer.add_device(Device(uuid="GPU-1", index=0, name="L4"))
    writer.add_columns("GPU-1", np.arange(5000.0), {"power_w": np.arange(5000.0)}, {})
    writer.add_frame(frame(7))
    writer.close()
    follower = Follower(path, {"power_w"})
    update = follower.poll()
    follower.close()
    assert update.frames == [frame(7)]
    assert update.devices is not None
    assert update.past is not None
    assert update.past.curves["GPU-1", "power_w"].high[-1] == 4999.0
    assert update.past.newest["GPU-1", "power_w"] == (4999.0, 4999.0, None)
