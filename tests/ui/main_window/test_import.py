"""Logs of other programs are imported beside the window and opened; out-of-memory texts are explained."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from gpuscope.engine.import_files import ImportProgress
from gpuscope.engine.session import open_session as open_finished
from gpuscope.engine.unknown_tables import unknown_table
from gpuscope.ui.log_import import LogImport, OutOfMemoryText, read_files
from gpuscope.ui.main_window import MainWindow
from tests.ui import sessions
from tests.ui.main_window.opening import WAIT_MS, open_session
from tests.ui.panel_pictures import save_picture
from tests.ui.test_out_of_memory import MESSAGE

HEADING = "timestamp, name, utilization.gpu [%], memory.used [MiB]\n"
ROWS = "".join(f"2026/11/30 12:00:{second:02d}.000, NVIDIA L4, 91 %, 5120 MiB\n" for second in range(20))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "gpu.csv"
    path.write_text(HEADING + ROWS + "garbage\n", encoding="utf-8")
    return path


def _tell_nobody(_path: Path | None, _share: float) -> None:
    """Progress that nobody looks at."""


def _drop(window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(5, 5), copy, data, left, keys))
    QApplication.sendEvent(window, QDropEvent(QPointF(5, 5), copy, data, left, keys))


def test_a_dropped_log_becomes_a_session_with_its_notes(qtbot: QtBot, window: MainWindow, log: Path) -> None:
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        _drop(window, log)
        assert window.statusBar().currentMessage() == "Reading gpu.csv…"
    assert window.session.path is not None
    assert window.session.path.suffix == ".gpuscope"
    assert not window.session.monitor_only
    note = next(sentence for sentence in window.banners.sentences() if sentence.startswith("Imported: "))
    assert "20 rows" in note
    assert [device.name for device in window.monitor_panel.model.devices] == ["NVIDIA L4"]


def test_the_menu_asks_for_logs(qtbot: QtBot, window: MainWindow, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args, **_more: ([str(log)], ""))
    entry = next(action for action in window.actions_by_key() if action.text() == "&Import a log…")
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        entry.trigger()


def test_a_file_of_no_known_kind_is_one_sentence_and_the_session_stays(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=5)
    open_session(qtbot, window, path)
    strange = tmp_path / "notes.txt"
    strange.write_text("buy milk\n", encoding="utf-8")
    with qtbot.waitSignal(window.log_import.failed, timeout=WAIT_MS):
        _drop(window, strange)
    assert "notes.txt is of no kind that gpuscope reads" in window.banners.sentences()[-1]
    assert window.session.path == path
    assert window.statusBar().currentMessage() == ""


def test_a_text_with_an_out_of_memory_message_is_explained(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    text = tmp_path / "train.log"
    text.write_text(MESSAGE, encoding="utf-8")
    with qtbot.waitSignal(window.log_import.out_of_memory, timeout=WAIT_MS):
        _drop(window, text)
    dialog = window.advice.out_of_memory
    assert dialog is not None
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: "Line 1: pytorch" in dialog.answer.toPlainText(), timeout=WAIT_MS)
    window.close()
    assert not dialog.isVisible()


def test_what_the_person_opens_meanwhile_stays(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=5)

    def slow(_files: Sequence[Path], _looked_at: frozenset[Path], _progress: ImportProgress) -> Path:
        return tmp_path / "other.gpuscope"

    window.log_import._read = slow
    open_session(qtbot, window, path)
    window.log_import.take([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert window.statusBar().currentMessage() == "Reading 2 files…"
    window.log_import.forget()
    assert not window.log_import.busy
    assert window.session.path == path


def test_a_session_under_another_name_is_opened_as_it_is(tmp_path: Path) -> None:
    path = sessions.write_session(tmp_path / "run.gpuscope", seconds=5)
    renamed = path.rename(tmp_path / "run.db")
    assert read_files([renamed], frozenset(), _tell_nobody) == renamed


def test_a_text_is_told_from_a_recording(tmp_path: Path) -> None:
    text = tmp_path / "out.log"
    text.write_text(MESSAGE, encoding="utf-8")
    assert read_files([text], frozenset(), _tell_nobody) == OutOfMemoryText(MESSAGE)


def test_nothing_chosen_imports_nothing(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args, **_more: ([], ""))
    importing = LogImport(window)
    importing.ask()
    assert not importing.busy


def test_what_takes_long_has_a_bar_and_can_be_cancelled(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    ended, path = threading.Event(), tmp_path / "week.csv"

    def slow(_files: Sequence[Path], _looked_at: frozenset[Path], progress: ImportProgress) -> Path:
        try:
            while not ended.wait(0.005):
                progress(path, 0.25)
        finally:
            ended.set()
        return path

    window.log_import._read = slow
    window.log_import._wait.setInterval(1)
    bar = window.log_import.bar
    assert bar.isHidden()
    try:
        _drop(window, path)
        qtbot.waitUntil(lambda: bar.isVisible() and bar.bar.value() == 250, timeout=WAIT_MS)
        assert bar.label.text() == "Reading week.csv"
        save_picture(window, "import-progress", tmp_path)
        qtbot.mouseClick(bar.cancel_button, Qt.MouseButton.LeftButton)
        assert bar.isHidden()
        assert not window.log_import.busy
        assert window.statusBar().currentMessage() == "The import was cancelled: nothing was written."
        assert ended.wait(WAIT_MS / 1000)  # the reading itself stops, too
    finally:
        ended.set()


def test_an_unknown_table_is_asked_about_and_remembered(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    rows = "".join(f"{second},{50 + second % 3},{3_000_000_000 + second},a\n" for second in range(20))
    table.write_text("n,busy,held,note\n" + rows, encoding="utf-8")
    _drop(window, table)
    qtbot.waitUntil(lambda: window.log_import.dialog is not None, timeout=WAIT_MS)
    dialog = window.log_import.dialog
    assert dialog is not None
    for row, meaning in enumerate(("seconds", "utilization_gpu_percent", "memory_used_bytes", "ignore")):
        dialog.choices[row].setCurrentIndex(dialog.choices[row].findData(meaning))
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        dialog.import_button.click()
    assert window.log_import.dialog is None
    again = unknown_table(table)
    assert again is not None
    assert again.meanings == ("seconds", "utilization_gpu_percent", "memory_used_bytes", "ignore")
    with open_finished(window.session.path) as reader:
        assert reader.timeline().get("GPU 0", "utilization_gpu_percent").values.tolist()[:4] == [50, 51, 52, 50]


def test_a_table_that_is_not_confirmed_is_not_imported(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text("t,gpu0 load\n1,5\n2,6\n", encoding="utf-8")
    _drop(window, table)
    qtbot.waitUntil(lambda: window.log_import.dialog is not None, timeout=WAIT_MS)
    assert window.log_import.dialog is not None
    window.log_import.dialog.reject()
    assert window.log_import.dialog is None
    assert not window.log_import.busy
    assert not list((tmp_path / "sessions").glob("own*"))


def test_a_pasted_log_becomes_a_session(qtbot: QtBot, window: MainWindow, log: Path) -> None:
    QApplication.clipboard().setText(log.read_text(encoding="utf-8"))
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        qtbot.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert [device.name for device in window.monitor_panel.model.devices] == ["NVIDIA L4"]


def test_pasted_files_are_taken_as_if_they_were_dropped_and_nothing_is_nothing(
    qtbot: QtBot, window: MainWindow, log: Path
) -> None:
    QApplication.clipboard().clear()
    qtbot.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert not window.log_import.busy
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(log))])
    QApplication.clipboard().setMimeData(data)
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        qtbot.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
