"""The model that is typed in: remembered between starts, and every change can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpuscope.ui.advisor.form.model import EstimateForm
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.texts import ConstraintTexts, ModelTexts

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def store(tmp_path: Path) -> PresetStore:
    return PresetStore(tmp_path / "form.json")


@pytest.fixture
def form(qtbot: QtBot, store: PresetStore) -> EstimateForm:
    form = EstimateForm(store)
    qtbot.addWidget(form)
    form.show()
    return form


def test_it_comes_back_as_it_was_left(qtbot: QtBot, tmp_path: Path, form: EstimateForm) -> None:
    form._parameters.setText("7B")
    form._stage.setCurrentIndex(form._stage.findData("inference"))
    form._sizes["layers"].setText("32")
    form._sizes["hidden_size"].setText("4096")
    assert form.read() is not None
    again = EstimateForm(PresetStore(tmp_path / "form.json"))
    qtbot.addWidget(again)
    assert again.texts() == form.texts()
    assert again.read() == form.read()
    assert again._optimizer.isVisibleTo(again) is form._optimizer.isVisibleTo(form)


def test_a_mistake_is_kept_as_it_was_typed(form: EstimateForm, store: PresetStore) -> None:
    form._parameters.setText("seven")
    assert form.read() is None
    assert store.model.parameters == "seven"


def test_what_is_kept_of_the_model_leaves_the_rest(store: PresetStore, tmp_path: Path) -> None:
    store.keep_last(ConstraintTexts(deadline="2d"))
    store.keep_model(ModelTexts(parameters="7B"))
    again = PresetStore(tmp_path / "form.json")
    assert (again.last.deadline, again.model.parameters) == ("2d", "7B")


def test_changes_are_undone_and_done_again_by_keys(qtbot: QtBot, form: EstimateForm) -> None:
    qtbot.keyClicks(form._parameters, "7B")
    form._note()
    form._stage.setCurrentIndex(form._stage.findData("inference"))
    form._note()
    with qtbot.waitSignal(form.changed):
        qtbot.keyClick(form._parameters, Qt.Key.Key_Z, CONTROL)
    assert form._stage.currentData() == "training"
    qtbot.keyClick(form._parameters, Qt.Key.Key_Z, CONTROL)
    assert form._parameters.text() == ""
    qtbot.keyClick(form._parameters, Qt.Key.Key_Z, CONTROL | SHIFT)
    qtbot.keyClick(form._parameters, Qt.Key.Key_Z, CONTROL | SHIFT)
    assert (form._parameters.text(), form._stage.currentData()) == ("7B", "inference")


def test_typing_in_one_go_is_undone_in_one_go(qtbot: QtBot, form: EstimateForm) -> None:
    qtbot.keyClicks(form._parameters, "350M")
    form.undo()
    assert form.is_empty()
    form.redo()
    assert form._parameters.text() == "350M"


def test_a_state_folder_that_cannot_be_written_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    form = EstimateForm(PresetStore(tmp_path / "file" / "form.json"))
    qtbot.addWidget(form)
    form._parameters.setText("7B")
    with qtbot.waitSignal(form.failed) as said:
        form.read()
    assert "cannot be kept" in said.args[0]
