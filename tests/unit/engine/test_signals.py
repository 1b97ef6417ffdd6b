"""Signals that come at any moment of a run or a recording end it properly."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from gpuscope.domain.run import OutcomeKind
from gpuscope.engine.profile import profile
from gpuscope.engine.record import record
from gpuscope.runner.command import plan_launch
from gpuscope.sources.client import SamplerClient
from gpuscope.store.reader import SessionReader, SessionState


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture(params=["start", "stop"])
def _interrupted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminate signal comes while the sampler is started, or stopped."""
    original = getattr(SamplerClient, request.param)

    def interrupted(client: SamplerClient) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        original(client)

    monkeypatch.setattr(SamplerClient, request.param, interrupted)


@pytest.mark.usefixtures("_interrupted")
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_a_signal_at_the_edge_of_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    assert record(path, seconds=0.2).kind is OutcomeKind.RECORDED
    with SessionReader(path) as reader:
        assert reader.state() is SessionState.CLOSED
    assert not list(tmp_path.glob("a.gpuscope.*"))


@pytest.mark.usefixtures("_interrupted")
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_a_signal_at_the_edge_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    outcome = profile(path, plan_launch(["sh", "-c", "trap '' TERM; sleep 0.3"], cwd=tmp_path))
    assert outcome.kind in {OutcomeKind.STOPPED, OutcomeKind.FINISHED}
    with SessionReader(path) as reader:
        assert reader.state() is SessionState.CLOSED
    assert not list(tmp_path.glob("a.gpuscope.*"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_workload_is_told_when_its_terminal_goes_away(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuscope"
    profile(path, plan_launch(["grep", "SigIgn", "/proc/self/status"], cwd=tmp_path))
    with SessionReader(path) as reader:
        (line,) = [piece for _, _, piece in reader.output()]
    ignored = int(line.split()[1], 16)
    assert not ignored & 1 << (signal.SIGHUP - 1)
