"""What the window looks like and remembers; copies and reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpuscope.ui.main_window import MainWindow
from gpuscope.ui.panel_area import TABS_BELOW_PX
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import DARK, LIGHT, Mode, colours_of
from tests.ui import sessions
from tests.ui.main_window.opening import WAIT_MS, open_session
from tests.ui.plain_panels import PlainAdvisorPanel, PlainRunPanel


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


def test_zoom_to_the_steady_state(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.zoom_to_steady()
    assert "not enough steps" in window.statusBar().currentMessage()
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=30)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.start(path)
    window.zoom_to_steady()
    assert window.monitor_panel.view.span(0.0) == pytest.approx((2.0 + 10 * 0.12, 2.0 + 229 * 0.12))


def test_a_button_that_goes_away_does_not_pass_the_focus_on(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    sessions.fill_session(writer, seconds=3, gpus=1)
    open_session(qtbot, window, writer.path)
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
    open_session(qtbot, window, first)
    assert window.panels.output.isVisible()
    window.panels.output.hide()
    open_session(qtbot, window, second)
    assert not window.panels.output.isVisible()


def test_a_copy_of_a_growing_session_can_be_saved(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sessions.start_session(tmp_path / "run.gpuscope")
    open_session(qtbot, window, writer.path)
    target = tmp_path / "copy.gpuscope"
    dialog: Callable[..., tuple[str, str]] = lambda *_args, **_options: (str(target), "")  # noqa: E731 - stands for a static method
    monkeypatch.setattr("gpuscope.ui.main_window.QFileDialog.getSaveFileName", dialog)
    window.save_copy_dialog()
    qtbot.waitUntil(lambda: str(target) in window.statusBar().currentMessage(), timeout=WAIT_MS)
    assert target.is_file()
    writer.close()


@pytest.mark.parametrize("suffix", [".json", ".pdf"])
def test_the_report_is_written_beside_the_window(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=20)
    with qtbot.waitSignal(window.session.ended, timeout=WAIT_MS):
        window.start(path)
    target = tmp_path / f"report{suffix}"
    typed = str(target.with_suffix("")), f"Report (*{suffix})"
    monkeypatch.setattr("gpuscope.ui.report_export.QFileDialog.getSaveFileName", lambda *_args, **_options: typed)
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
    monkeypatch.setattr(
        "gpuscope.ui.report_export.QFileDialog.getSaveFileName", lambda *_args, **_options: (str(target), "")
    )
    with qtbot.waitSignal(window.export.failed, timeout=3 * WAIT_MS):
        window.export_report()
    assert len(window.banners.sentences()) == 1
    assert "report.json" in window.banners.sentences()[0]
