"""Sessions that this user made: what a window lists, and what it may delete."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpuscope.domain.run import LIVE_VIEW
from gpuscope.engine import launch, registry
from gpuscope.store.writer import SessionWriter
from tests.unit.store.test_session_file import frame, manifest


def remembered(path: Path, kind: str, session_id: str) -> SessionWriter:
    own = msgspec.structs.replace(manifest(), kind=kind, session_id=session_id)
    writer = SessionWriter.create(path, own)
    writer.add_frame(frame(0))
    registry.remember(path, own)
    return writer


@pytest.fixture(autouse=True)
def _own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))


def test_only_stale_live_views_are_deleted_whatever_their_names(tmp_path: Path) -> None:
    mine = tmp_path / "live-demo.gpuscope"
    remembered(mine, "record", "1").close()
    stale, killed, open_view = (tmp_path / f"{name}.gpuscope" for name in ("stale", "killed", "open"))
    remembered(stale, LIVE_VIEW, "2").close()
    remembered(killed, LIVE_VIEW, "3").abandon()
    writer = remembered(open_view, LIVE_VIEW, "4")
    launch.clean_live_views()
    assert mine.exists(), "a recording that a person asked for"
    assert not stale.exists()
    assert not killed.exists()
    assert open_view.exists(), "another window's"
    writer.close()


def test_live_views_are_not_among_the_recent_sessions(tmp_path: Path) -> None:
    remembered(tmp_path / "live-demo.gpuscope", "record", "1").close()
    remembered(tmp_path / "view.gpuscope", LIVE_VIEW, "2").close()
    assert [summary.title for summary in launch.recent_sessions()] == ["live-demo"]


def test_a_live_run_is_unfinished_and_a_closed_one_is_not(tmp_path: Path) -> None:
    remembered(tmp_path / "done.gpuscope", "run", "1").close()
    remembered(tmp_path / "dead.gpuscope", "run", "2").abandon()
    writer = remembered(tmp_path / "live.gpuscope", "run", "3")
    assert [(run.path.name, run.live) for run in launch.unfinished_sessions()] == [("live.gpuscope", True)]
    writer.close()
