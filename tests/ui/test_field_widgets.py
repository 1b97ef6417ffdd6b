"""The small parts that the forms and the status are made of."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpuscope.ui.widgets.checklist_button import ChecklistButton
from gpuscope.ui.widgets.field_grid import FieldGrid
from gpuscope.ui.widgets.parts_bar import Part, PartsBar
from gpuscope.ui.widgets.path_field import PathField
from gpuscope.ui.widgets.section import Section
from gpuscope.ui.widgets.wrapping_label import WrappingLabel


def grid_of(qtbot: QtBot, names: str) -> tuple[FieldGrid, dict[str, QLineEdit]]:
    grid = FieldGrid()
    qtbot.addWidget(grid)
    lines = {name: QLineEdit() for name in names}
    for name, line in lines.items():
        grid.add(name, f"&{name}", line)
    with qtbot.waitActive(grid):
        grid.show()
        grid.activateWindow()
    return grid, lines


def columns_of(grid: FieldGrid, lines: dict[str, QLineEdit]) -> int:
    return len({line.mapTo(grid, line.rect().topLeft()).x() for line in lines.values() if line.isVisible()})


def test_fields_share_the_width_evenly(qtbot: QtBot, qapp: QApplication) -> None:
    grid, lines = grid_of(qtbot, "abcdef")
    for width, columns in ((130, 1), (300, 2), (700, 3), (1000, 6)):
        grid.resize(width, 300)
        qtbot.waitUntil(lambda columns=columns: columns_of(grid, lines) == columns)


def test_a_section_that_folds_away_passes_no_focus_on(qtbot: QtBot, qapp: QApplication) -> None:
    window, line, button = QWidget(), QLineEdit(), QPushButton("next")
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    section = Section("title", line, is_open=True)
    column.addWidget(section)
    column.addWidget(button)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    line.setFocus()
    assert line.hasFocus()
    section.set_open(False)
    assert not button.hasFocus()
    assert not line.isVisible()


def test_a_hidden_field_leaves_no_hole(qtbot: QtBot, qapp: QApplication) -> None:
    grid, lines = grid_of(qtbot, "abc")
    grid.resize(130, 300)
    grid.set_shown("b", shown=False)
    grid.resize(130, grid.sizeHint().height())
    qtbot.wait(20)
    assert not lines["b"].isVisible()
    gap = (
        lines["c"].mapTo(grid, lines["c"].rect().topLeft()).y()
        - lines["a"].mapTo(grid, lines["a"].rect().bottomLeft()).y()
    )
    assert gap < 2 * lines["a"].height()


def test_a_problem_is_shown_and_read_aloud(qtbot: QtBot, qapp: QApplication) -> None:
    grid, lines = grid_of(qtbot, "ab")
    grid.show_problems({"b": "Type a number.", "elsewhere": "not ours"})
    assert lines["b"].accessibleDescription() == "Type a number."
    assert grid.focus_first_problem({"b": "Type a number."})
    assert QApplication.focusWidget() is lines["b"]
    assert not grid.focus_first_problem({"elsewhere": "not ours"})
    grid.show_problems({})
    assert lines["b"].accessibleDescription() == ""


def test_a_checklist_says_what_is_ticked(qtbot: QtBot, qapp: QApplication) -> None:
    button = ChecklistButton()
    qtbot.addWidget(button)
    button.offer([("a", "Alpha"), ("b", "Beta"), ("c", "Gamma")])
    assert button.text() == "any"
    with qtbot.waitSignal(button.changed):
        button.tick(("a", "c"))
    assert button.values() == ("a", "c")
    assert button.text() == "Alpha, Gamma"
    button.offer([("c", "Gamma"), ("d", "Delta")])
    assert button.values() == ("c", "a"), "what is no longer offered stays, to be unticked"


def test_a_section_folds_by_key(qtbot: QtBot, qapp: QApplication) -> None:
    content = QLabel("inside")
    section = Section("Title", content)
    qtbot.addWidget(section)
    section.show()
    assert not content.isVisible()
    assert section.focusProxy() is section._button
    with qtbot.waitSignal(section.toggled):
        qtbot.keyClick(section._button, Qt.Key.Key_Space)
    assert content.isVisible()


def test_parts_are_in_proportion_and_change_in_place(qtbot: QtBot, qapp: QApplication) -> None:
    bar = PartsBar()
    qtbot.addWidget(bar)
    bar.resize(200, 100)
    bar.show()
    bar.show_parts((Part("blue", 3 * 1024**3, "#0000ff"), Part("red", 1024**3, "#ff0000")))
    qtbot.wait(20)
    image = bar._bar.grab().toImage()
    assert image.pixelColor(100, 5).name() == "#0000ff"
    assert image.pixelColor(180, 5).name() == "#ff0000"
    assert bar.accessibleName() == "blue 3 GiB, red 1 GiB"
    bar.show_parts((Part("blue", 1024**3, "#0000ff"), Part("red", 3 * 1024**3, "#ff0000")))
    assert bar._bar.grab().toImage().pixelColor(100, 5).name() == "#ff0000"
    bar.show_parts(())
    assert bar.accessibleName() == ""


def test_thinking_better_of_a_dialog_keeps_the_path(qtbot: QtBot, qapp: QApplication) -> None:
    answers = ["/new/path", ""]
    field = PathField("Choose…", lambda: answers.pop(0))
    qtbot.addWidget(field)
    field.set_text("/old")
    field._button.click()
    assert field.text() == "/new/path"
    field._button.click()
    assert field.text() == "/new/path"


def test_a_wrapping_label_asks_for_no_more_than_it_needs(qtbot: QtBot, qapp: QApplication) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    label = WrappingLabel(holder)
    label.setText("some words that need a line or two " * 3)
    label.resize(2000, 20)
    one_line = label.minimumSizeHint().height()
    label.resize(100, 20)
    assert label.minimumSizeHint().height() > 3 * one_line
