"""The dialog about a table's columns: the guess is there, corrections count, nothing is imported without a figure."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.engine.unknown_tables import UnknownTable, say_what_it_is, unknown_table
from gpuscope.errors import UsageError
from gpuscope.importers.mapped_csv import MEANINGS
from gpuscope.ui.column_mapping import ColumnMappingDialog, meaning_labels
from gpuscope.ui.theme import Mode, apply_theme
from tests.ui.panel_pictures import colours_in, save_picture

TABLE = (
    "time,gpu0 util (%),gpu0 mem used [MB],loss,\x1b[31mnote\n"
    "2024-01-02 10:00:00,5,100,2.31,a\n2024-01-02 10:00:01,50,1000,2.29,b\n"
)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UnknownTable:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    path = tmp_path / "metrics.csv"
    path.write_text(TABLE, encoding="utf-8")
    found = unknown_table(path)
    assert found is not None
    return found


def test_the_guess_is_there_and_corrections_count(qtbot: QtBot, table: UnknownTable) -> None:
    dialog = ColumnMappingDialog(table)
    qtbot.addWidget(dialog)
    assert list(dialog.meanings().values()) == [
        "time",
        "utilization_gpu_percent",
        "memory_used_bytes",
        "ignore",
        "ignore",
    ]
    dialog.choices[1].setCurrentIndex(dialog.choices[1].findData("power_w"))
    assert dialog.meanings()["gpu0 util (%)"] == "power_w"
    item = dialog.columns.item(1, 1)
    assert item is not None
    assert item.text() == "5, 50"


def test_without_a_figure_of_a_gpu_nothing_can_be_imported(qtbot: QtBot, table: UnknownTable) -> None:
    dialog = ColumnMappingDialog(table)
    qtbot.addWidget(dialog)
    for row in (1, 2):
        assert dialog.import_button.isEnabled()
        dialog.choices[row].setCurrentIndex(dialog.choices[row].findData("ignore"))
    assert not dialog.import_button.isEnabled()
    assert not dialog.problem.isHidden()


def test_every_meaning_has_words() -> None:
    assert set(meaning_labels()) == set(MEANINGS)
    assert all(key != label for key, label in meaning_labels().items())


def test_the_persons_word_is_what_the_next_one_begins_with(table: UnknownTable) -> None:
    say_what_it_is(table, {**dict(zip(table.names, table.meanings, strict=True)), "loss": "power_w"})
    again = unknown_table(table.path)
    assert again is not None
    assert again.meanings[3] == "power_w"
    with pytest.raises(UsageError, match="no column 'speed'"):
        say_what_it_is(table, {"speed": "power_w"})


@pytest.mark.parametrize(
    "text",
    [
        "timestamp, index, power.draw [W]\n2026/01/01 00:00:00.000, 0, 7 W\n",
        "Dear all,\nhello,\n",
        "a,b\nx,y\n",
        "a,b\n",
    ],
)
def test_known_logs_and_what_is_no_table_are_not_asked_about(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    assert unknown_table(path) is None


def test_a_picture_of_it(qtbot: QtBot, qapp: QApplication, table: UnknownTable, tmp_path: Path) -> None:
    apply_theme(qapp, Mode.DARK)
    dialog = ColumnMappingDialog(table)
    qtbot.addWidget(dialog)
    dialog.show()
    assert colours_in(save_picture(dialog, "column-mapping", tmp_path)) > 10
