"""The window starts, stops and finds runs, and never loses one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from gpuscope.engine import launch
from gpuscope.errors import RunError
from gpuscope.ui.main_window import MainWindow
from tests.ui import sessions
from tests.ui.main_window.opening import WAIT_MS, open_session
from tests.ui.plain_panels import PlainMonitorHandle


def test_stop_asks_the_supervisor(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(launch, "request_stop", asked.append)
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    open_session(qtbot, window, writer.path)
    qtbot.mouseClick(window.header.stop, Qt.MouseButton.LeftButton)
    assert asked == [writer.path]
    assert window.statusBar().currentMessage() == "Stopping the run…"
    window.run_panel.stop_requested.emit()
    assert len(asked) == 2
    writer.close()


def test_a_run_is_started_and_followed(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_view: PlainMonitorHandle
) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=5)
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start()
    monkeypatch.setattr(launch, "start_run", lambda _request: path)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.run_panel.run_requested.emit(launch.RunRequest(target="script", args=("train.py",)))
    assert window.session.path == path
    assert not window.session.monitor_only
    qtbot.waitUntil(lambda: live_view.stopped, timeout=WAIT_MS)
    assert not window.welcome.isVisible()


def test_a_run_that_cannot_start_is_one_sentence(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_request: launch.RunRequest) -> Path:
        raise RunError("There is no script train.py in /tmp: check the path.")

    monkeypatch.setattr(launch, "start_run", refuse)
    with qtbot.waitSignal(window.session.failed, timeout=WAIT_MS):
        window.run_panel.run_requested.emit(launch.RunRequest(target="script", args=("train.py",)))
    assert window.banners.sentences() == ["There is no script train.py in /tmp: check the path."]


def test_runs_that_still_go_on_are_offered(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_view: PlainMonitorHandle
) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=5)
    adopted: list[Path] = []
    run = launch.UnfinishedRun(path=path, title="train.py", started_wall_s=0.0, live=False)
    monkeypatch.setattr(launch, "unfinished_sessions", lambda: [run])
    monkeypatch.setattr(launch, "adopt_detached", adopted.append)
    window.start()
    qtbot.waitUntil(lambda: "train.py runs on without its recorder." in window.banners.sentences(), timeout=WAIT_MS)
    banner = window.banners.shown()[0]
    assert banner.action_button is not None
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        banner.action_button.click()
    assert adopted == [path]
    assert window.session.path == path


def test_closing_during_a_run_asks_first_and_the_person_may_stay(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    open_session(qtbot, window, writer.path)
    window.confirm_close = lambda: False
    window.close()
    assert window.isVisible()
    window.confirm_close = lambda: True
    window.close()
    assert not window.isVisible()
    writer.close()


def test_a_run_that_lost_its_recorder_is_offered_in_one_sentence(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    sessions.fill_session(writer, seconds=3, gpus=1)
    open_session(qtbot, window, writer.path)
    run = launch.UnfinishedRun(path=writer.path, title="train.py", started_wall_s=0.0, live=False)
    monkeypatch.setattr(launch, "unfinished_sessions", lambda: [run])
    writer.abandon()
    qtbot.waitUntil(lambda: bool(window.banners.sentences()), timeout=WAIT_MS)
    assert window.banners.sentences() == ["train.py runs on without its recorder."]


def test_the_question_on_closing_says_that_the_run_goes_on(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def choose(place: int) -> Callable[[QMessageBox], int]:
        def click(box: QMessageBox) -> int:
            asked.append(box.text())
            box.show()
            box.buttons()[place].click()
            return 0

        return click

    monkeypatch.setattr(QMessageBox, "exec", choose(0))
    assert MainWindow.confirm_close(window)
    monkeypatch.setattr(QMessageBox, "exec", choose(1))
    assert not MainWindow.confirm_close(window)
    assert "goes on without the window" in asked[0]


def test_leaving_a_run_for_the_live_view_offers_it_again(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_view: PlainMonitorHandle
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    open_session(qtbot, window, writer.path)
    run = launch.UnfinishedRun(path=writer.path, title="train.py", started_wall_s=0.0, live=True)
    monkeypatch.setattr(launch, "unfinished_sessions", lambda: [run])
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.show_live()
    qtbot.waitUntil(lambda: window.banners.sentences() == ["train.py is still running."], timeout=WAIT_MS)
    button = window.banners.shown()[0].action_button
    assert button is not None
    with qtbot.waitSignal(window.session.opened, timeout=WAIT_MS):
        button.click()
    assert window.session.path == writer.path
    assert window.session.run_is_live
    writer.close()
