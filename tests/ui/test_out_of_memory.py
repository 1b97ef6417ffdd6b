"""A pasted out-of-memory message is explained, can be copied, and a log file works as well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from gpuscope.ui.out_of_memory import MOST_SHOWN, OutOfMemoryDialog, as_text
from gpuscope.ui.theme import Mode, apply_theme
from tests.ui.panel_pictures import save_picture

WAIT_MS = 10_000
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 23.64 GiB "
    "of which 3.50 GiB is free. Including non-PyTorch memory, this process has 20.13 GiB memory in use. Of the "
    "allocated memory 19.50 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated."
)


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[OutOfMemoryDialog]:
    made = OutOfMemoryDialog()
    made.show()
    yield made
    made.close()
    made.deleteLater()


def _answer(qtbot: QtBot, dialog: OutOfMemoryDialog) -> str:
    qtbot.waitUntil(lambda: not dialog.busy, timeout=WAIT_MS)
    return dialog.answer.toPlainText()


def test_a_pasted_message_gets_verdict_remedies_and_cards(qtbot: QtBot, dialog: OutOfMemoryDialog) -> None:
    assert not dialog.copy_button.isEnabled()
    dialog.text.setPlainText("noise\n" + MESSAGE)
    answer = _answer(qtbot, dialog)
    assert "Line 2: pytorch · cuda · device 0" in answer
    assert "Try, in this order:" in answer
    assert "the smallest GPUs with that:" in answer
    dialog.copy_button.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Line 2: pytorch")
    assert "\n  1. " in copied
    dialog.text.clear()
    assert _answer(qtbot, dialog) == ""
    assert not dialog.copy_button.isEnabled()


def test_a_text_without_a_message_says_what_to_paste(qtbot: QtBot, dialog: OutOfMemoryDialog) -> None:
    dialog.text.setPlainText("<b>all</b> is \x1b[31mwell")
    assert "paste the lines of the error itself" in _answer(qtbot, dialog)


def test_what_a_log_holds_is_shown_as_it_is(qtbot: QtBot) -> None:
    dialog = OutOfMemoryDialog(read=lambda text: [("title", text), ("remedy", "<i>a</i>"), ("remedy", "b & c")])
    qtbot.addWidget(dialog)
    dialog.text.setPlainText("<h1>big</h1>")
    assert _answer(qtbot, dialog).splitlines()[0] == "<h1>big</h1>"
    assert "<i>a</i>" in dialog.answer.toPlainText()
    assert "b & c" in dialog.answer.toPlainText()


def test_a_log_is_read_from_a_file_and_a_long_one_to_its_beginning(
    qtbot: QtBot, dialog: OutOfMemoryDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "train.log"
    log.write_text(MESSAGE + "\n" + "epoch\n" * MOST_SHOWN, encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_args, **_more: (str(log), ""))
    dialog.open_button.click()
    assert "Line 1: pytorch" in _answer(qtbot, dialog)
    assert len(dialog.text.toPlainText()) <= MOST_SHOWN
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_args, **_more: (str(tmp_path / "none.log"), ""))
    dialog.open_button.click()
    assert "cannot be read" in _answer(qtbot, dialog)


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_picture(qtbot: QtBot, dialog: OutOfMemoryDialog, tmp_path: Path, mode: Mode) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    apply_theme(application, mode)
    dialog.show_text(MESSAGE)
    assert _answer(qtbot, dialog)
    save_picture(dialog, f"out-of-memory-{mode.value}", tmp_path)


def test_numbers_of_remedies_begin_anew() -> None:
    lines = [("title", "A"), ("remedy", "a"), ("remedy", "b"), ("title", "B"), ("remedy", "c")]
    assert as_text(lines) == "A\n  1. a\n  2. b\n\nB\n  1. c"
