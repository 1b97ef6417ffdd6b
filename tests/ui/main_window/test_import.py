"""Logs of other programs are imported beside the window and opened; out-of-memory texts are explained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from gpuscope.ui.log_import import LogImport, OutOfMemoryText, read_files
from gpuscope.ui.main_window import MainWindow
from tests.ui import sessions
from tests.ui.main_window.opening import WAIT_MS, open_session
from tests.ui.test_out_of_memory import MESSAGE

HEADING = "timestamp, name, utilization.gpu [%], memory.used [MiB]\n"
ROWS = "".join(f"2026/11/30 12:00:{second:02d}.000, NVIDIA L4, 91 %, 5120 MiB\n" for second in range(20))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "gpu.csv"
    path.write_text(HEADING + ROWS + "garbage\n", encoding="utf-8")
    return path


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

    def slow(_files: Sequence[Path]) -> Path:
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
    assert read_files([renamed]) == renamed


def test_a_text_is_told_from_a_recording(tmp_path: Path) -> None:
    text = tmp_path / "out.log"
    text.write_text(MESSAGE, encoding="utf-8")
    assert read_files([text]) == OutOfMemoryText(MESSAGE)


def test_nothing_chosen_imports_nothing(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args, **_more: ([], ""))
    importing = LogImport(window)
    importing.ask()
    assert not importing.busy
