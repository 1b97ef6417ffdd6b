"""The window follows sessions, finished and growing, and says in words what happens to them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuscope.engine import follow, launch
from gpuscope.ui.main_window import MainWindow
from tests.ui import sessions
from tests.ui.main_window.opening import WAIT_MS, kinds_heard, open_session
from tests.ui.plain_panels import PlainMonitorHandle


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
        assert kinds_heard(panel)[0] == "opened"
        assert kinds_heard(panel)[-1] == "ended"
    assert window.banners.sentences() == []
    assert not window.session.live


def test_a_growing_session_is_followed_to_its_end(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "run.gpuscope"
    created, go_on = threading.Event(), threading.Event()
    thread = threading.Thread(target=_write_slowly, args=(path, created, go_on))
    thread.start()
    assert created.wait(WAIT_MS / 1000)
    open_session(qtbot, window, path)
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


def test_a_session_that_is_left_sends_nothing_more(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    first = sessions.write_session(tmp_path / "a.gpuscope", seconds=60)
    second = sessions.write_session(tmp_path / "b.gpuscope", seconds=2, gpus=0)
    window.start(first)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.session.open(second)
    assert window.session.path == second
    assert window.monitor_panel.model is not None
    assert window.monitor_panel.model.end_s == pytest.approx(2.0)


def test_a_session_that_broke_off_is_told_and_can_be_looked_at_again(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    sessions.fill_session(writer, seconds=3, gpus=1)
    open_session(qtbot, window, writer.path)
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
    qtbot: QtBot, window: MainWindow, live_view: PlainMonitorHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "FRAMES_A_POLL", 2)  # as if its last minute were hours: the older part comes at once
    path = sessions.write_session(tmp_path / "long.gpuscope", seconds=600)
    with qtbot.waitSignal(window.session.progress, timeout=WAIT_MS):
        window.start(path)
    assert window.header.state.text() == "reading"
    assert not window.header.stop.isVisible()
    assert window.header.live.text() == "Stop reading"
    window.header.live.click()
    qtbot.waitUntil(lambda: window.header.state.text() == "live view", timeout=WAIT_MS)
    assert window.session.path == live_view.path
