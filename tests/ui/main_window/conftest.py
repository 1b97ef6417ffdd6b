"""The window with plain panels, and a live view of a machine without a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.engine import launch
from gpuscope.ui.main_window import MainWindow
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import Mode, apply_theme
from tests.ui import sessions
from tests.ui.plain_panels import PlainAdvisorPanel, PlainMonitorHandle, PlainRunPanel


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GPUSCOPE_SESSIONS_DIR", str(tmp_path / "sessions"))


@pytest.fixture
def live_view(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PlainMonitorHandle]:
    """The live view of a machine without a GPU, written by the test."""
    path = tmp_path / "live.gpuscope"
    writer = sessions.start_session(path, run=False)
    sessions.fill_session(writer, seconds=12, gpus=0, run=False)
    handle = PlainMonitorHandle(path)
    monkeypatch.setattr(launch, "start_monitor", lambda: handle)
    yield handle
    writer.close()


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    apply_theme(QApplication.instance(), Mode.LIGHT)
    made = MainWindow(PlainRunPanel(), PlainAdvisorPanel(), WindowSettings())
    made.confirm_close = lambda: True
    made.show()
    yield made
    made.close()
    made.deleteLater()
