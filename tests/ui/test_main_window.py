"""The window follows sessions, finished and growing, and says in words what happens to them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from gpuscope.engine import launch
from gpuscope.errors import RunError
from gpuscope.ui.main_window import MainWindow
from gpuscope.ui.panel_area import TABS_BELOW_PX
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import DARK, LIGHT, Mode, apply_theme, colours_of
from tests.ui import sessions
from tests.ui.plain_panels import PlainAdvisorPanel, PlainMonitorHandle, PlainRunPanel

WAIT_MS = 10_000


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


def _open(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start(path)


def _kinds(panel: PlainRunPanel | PlainAdvisorPanel) -> list[str]:
    return [kind for kind, _ in panel.heard]


def test_a_finished_session_is_shown_whole(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=30, gpus=2)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS) as ended:
        window.start(path)
    assert ended.args[0].sentence == "The run finished."
    header = window.header
    assert header.name.toolTip() == "train_gpt.py --epochs 3"
    assert (header.state.text(), header.elapsed.text()) == ("finished", "0:30")
    assert header.steps.text() == "step 229 of 600"
    assert header.report.isVisible()
    assert not header.stop.isVisible()
    assert "step 2 loss 3.05" in window.output_view.text.toPlainText()
    assert window.monitor_panel.view.window_s is None
    for panel in (window.run_panel, window.advisor_panel):
        assert _kinds(panel)[0] == "opened"
        assert _kinds(panel)[-1] == "ended"
    assert window.banners.sentences() == []
    assert not window.session.live


def test_a_growing_session_is_followed_to_its_end(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "run.gpuscope"
    created, go_on = threading.Event(), threading.Event()
    thread = threading.Thread(target=_write_slowly, args=(path, created, go_on))
    thread.start()
    assert created.wait(WAIT_MS / 1000)
    _open(qtbot, window, path)
    assert window.header.state.text() == "waiting for the first step"
    assert window.header.stop.isVisible()
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        go_on.set()
        qtbot.waitUntil(lambda: window.header.state.text() == "running", timeout=WAIT_MS)
    thread.join()
    assert window.header.steps.text() == "step 30 of 600"
    assert window.monitor_panel.model is not None
    assert window.monitor_panel.model.end_s == pytest.approx(5.9)
    assert window.output_view.text.toPlainText().splitlines()[-1] == "line 29"


def _write_slowly(path: Path, created: threading.Event, go_on: threading.Event) -> None:
    writer = sessions.start_session(path)
    created.set()
    go_on.wait()
    pause = threading.Event()
    for number in range(60):
        writer.add_frame(sessions.frame(number))
        if number % 2:
            step = number // 2 + 1
            sessions.add_steps(writer, step, step)
            writer.add_output(sessions.ZERO_S + number / 10, f"line {number // 2}\n".encode())
        writer.commit()
        pause.wait(0.01)
    writer.put_document("outcome", sessions.finished(6))
    writer.close()


def test_stop_asks_the_supervisor(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(launch, "request_stop", asked.append)
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    _open(qtbot, window, writer.path)
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


def test_the_live_view_says_what_is_missing_and_ends_with_the_window(
    qtbot: QtBot, window: MainWindow, live_view: PlainMonitorHandle
) -> None:
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start()
    monitor = window.monitor_panel
    monitor.redraw()
    assert monitor.problem.text() == sessions.NO_DRIVER
    assert window.header.state.text() == "live view"
    assert window.welcome.isVisible()
    assert window.run_panel.heard == []
    assert not window.header.report.isVisible()
    assert not live_view.stopped
    window.close()
    assert live_view.stopped


def test_a_failed_run_shows_its_last_words(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=5, outcome=sessions.failed(5))
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.start(path)
    assert window.header.state.text() == "failed"
    assert window.header.state.property("role") == "trouble"
    assert "data/train.bin" in window.banners.sentences()[0]


def test_what_is_not_a_session_is_one_sentence(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a session")
    with qtbot.waitSignal(window.session.failed, timeout=WAIT_MS):
        window.start(other)
    assert window.banners.sentences() == [f"{other} is not a gpuscope session."]
    assert window.session.path is None
    assert window.welcome.isVisible()


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
    _open(qtbot, window, writer.path)
    window.confirm_close = lambda: False
    window.close()
    assert window.isVisible()
    window.confirm_close = lambda: True
    window.close()
    assert not window.isVisible()
    writer.close()


def test_a_session_that_is_left_sends_nothing_more(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    first = sessions.write_session(tmp_path / "a.gpuscope", seconds=60)
    second = sessions.write_session(tmp_path / "b.gpuscope", seconds=2, gpus=0)
    window.start(first)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.session.open(second)
    assert window.session.path == second
    assert window.monitor_panel.model is not None
    assert window.monitor_panel.model.end_s == pytest.approx(2.0)


def test_narrow_windows_have_tabs_and_wide_ones_do_not(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(TABS_BELOW_PX - 100, 700)
    qtbot.waitUntil(lambda: window.panels.tabbed)
    assert len(window.panels.tabifiedDockWidgets(window.panels.monitor)) == 2
    window.resize(TABS_BELOW_PX + 200, 700)
    qtbot.waitUntil(lambda: not window.panels.tabbed)
    assert window.panels.tabifiedDockWidgets(window.panels.monitor) == []
    order = [dock.x() for dock in (window.panels.run, window.panels.monitor, window.panels.advisor)]
    assert order == sorted(order)


def test_look_and_panels_are_remembered(qtbot: QtBot, window: MainWindow) -> None:
    window.set_mode(Mode.DARK)
    assert colours_of(window) is DARK
    window.panels.advisor.hide()
    window.close()
    again = MainWindow(PlainRunPanel(), PlainAdvisorPanel(), WindowSettings())
    qtbot.addWidget(again)
    assert again.settings.mode is Mode.DARK
    assert again.panels.advisor.isHidden()
    assert not again.panels.run.isHidden()
    assert not again.panels.monitor.isHidden()
    again.set_mode(Mode.LIGHT)
    assert colours_of(again) is LIGHT


def test_every_key_does_one_thing(window: MainWindow) -> None:
    keys = [action.shortcut().toString() for action in window.actions_by_key()]
    assert len(keys) == len(set(keys))
    assert {"F1", "F5", "F6", "F7", "F8"} <= set(keys)


def test_a_copy_of_a_growing_session_can_be_saved(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    _open(qtbot, window, writer.path)
    target = tmp_path / "copy.gpuscope"
    dialog: Callable[..., tuple[str, str]] = lambda *_: (str(target), "")  # noqa: E731 - stands for a static method
    monkeypatch.setattr("gpuscope.ui.main_window.QFileDialog.getSaveFileName", dialog)
    window.save_copy_dialog()
    qtbot.waitUntil(lambda: str(target) in window.statusBar().currentMessage(), timeout=WAIT_MS)
    assert target.is_file()
    writer.close()


def test_zoom_to_the_steady_state(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.zoom_to_steady()
    assert "not enough steps" in window.statusBar().currentMessage()
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=30)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.start(path)
    window.zoom_to_steady()
    assert window.monitor_panel.view.span(0.0) == pytest.approx((2.0 + 10 * 0.12, 2.0 + 229 * 0.12))


def test_a_session_that_broke_off_is_told_and_can_be_looked_at_again(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    sessions.fill_session(writer, seconds=3, gpus=1)
    _open(qtbot, window, writer.path)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        writer.abandon()
    assert window.header.state.text() == "interrupted"
    qtbot.waitUntil(lambda: any("broke off" in sentence for sentence in window.banners.sentences()), timeout=WAIT_MS)
    note = next(banner for banner in window.banners.shown() if "broke off" in banner.sentence)
    assert note.action_button is not None
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        note.action_button.click()
    assert window.session.path == writer.path
    assert window.monitor_panel.model is not None
    assert window.monitor_panel.model.end_s == pytest.approx(3.0)


def test_a_live_view_that_ended_says_so_and_can_be_started_again(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    writer = sessions.start_session(tmp_path / "live.gpuscope", run=False)
    sessions.fill_session(writer, seconds=3, gpus=0, run=False)
    monkeypatch.setattr(launch, "start_monitor", lambda: PlainMonitorHandle(writer.path))
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start()
    assert window.header.state.text() == "live view"
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        writer.close()
    assert window.header.state.text() == "live view, ended"
    assert window.banners.sentences() == ["The live view has ended."]


def test_a_long_session_says_that_it_is_read_and_can_be_left(
    qtbot: QtBot, window: MainWindow, live_view: PlainMonitorHandle, tmp_path: Path
) -> None:
    path = sessions.write_session(tmp_path / "long.gpuscope", seconds=600)
    with qtbot.waitSignal(window.session.progress, timeout=WAIT_MS):
        window.start(path)
    assert window.header.state.text() == "reading"
    assert not window.header.stop.isVisible()
    assert window.header.live.text() == "Stop reading"
    window.header.live.click()
    qtbot.waitUntil(lambda: window.header.state.text() == "live view", timeout=WAIT_MS)
    assert window.session.path == live_view.path


def test_a_run_that_lost_its_recorder_is_offered_in_one_sentence(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    sessions.fill_session(writer, seconds=3, gpus=1)
    _open(qtbot, window, writer.path)
    run = launch.UnfinishedRun(path=writer.path, title="train.py", started_wall_s=0.0, live=False)
    monkeypatch.setattr(launch, "unfinished_sessions", lambda: [run])
    writer.abandon()
    qtbot.waitUntil(lambda: bool(window.banners.sentences()), timeout=WAIT_MS)
    assert window.banners.sentences() == ["train.py runs on without its recorder."]


def test_a_button_that_goes_away_does_not_pass_the_focus_on(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    sessions.fill_session(writer, seconds=3, gpus=1)
    _open(qtbot, window, writer.path)
    with qtbot.waitActive(window):
        window.activateWindow()
    window.header.stop.setFocus()
    assert window.header.stop.hasFocus()
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        writer.put_document("outcome", sessions.finished(3))
        writer.close()
    assert not window.header.stop.isVisible()
    assert not window.header.report.hasFocus()


def test_the_output_is_shown_once_and_stays_hidden_when_put_away(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    assert not window.panels.output.isVisible()
    first = sessions.write_session(tmp_path / "a.gpuscope", seconds=3)
    second = sessions.write_session(tmp_path / "b.gpuscope", seconds=3)
    _open(qtbot, window, first)
    assert window.panels.output.isVisible()
    window.panels.output.hide()
    _open(qtbot, window, second)
    assert not window.panels.output.isVisible()


@pytest.mark.parametrize("suffix", [".json", ".pdf"])
def test_the_report_is_written_beside_the_window(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=20)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.start(path)
    target = tmp_path / f"report{suffix}"
    monkeypatch.setattr("gpuscope.ui.report_export.QFileDialog.getSaveFileName", lambda *_: (str(target), ""))
    with qtbot.waitSignal(window.export.written, timeout=3 * WAIT_MS):
        qtbot.mouseClick(window.header.report, Qt.MouseButton.LeftButton)
    assert target.stat().st_size > 1000
    assert window.statusBar().currentMessage() == f"{target} is written."


def test_a_report_that_cannot_be_written_is_one_sentence(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=20)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.start(path)
    target = tmp_path / "no such folder" / "report.json"
    monkeypatch.setattr("gpuscope.ui.report_export.QFileDialog.getSaveFileName", lambda *_: (str(target), ""))
    with qtbot.waitSignal(window.export.failed, timeout=3 * WAIT_MS):
        window.export_report()
    assert len(window.banners.sentences()) == 1
    assert "report.json" in window.banners.sentences()[0]


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
    _open(qtbot, window, writer.path)
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
