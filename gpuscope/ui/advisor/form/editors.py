"""Widgets for the kinds of fields, all with the same way to read and to set them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from gpuscope.ui.advisor.form.fields import Field, Kind
from gpuscope.ui.advisor.form.quotes import QuotesEditor
from gpuscope.ui.widgets.checklist_button import ChecklistButton


@dataclass(frozen=True, slots=True)
class Editor:
    """A field's widget."""

    widget: QWidget
    value: Callable[[], Any]
    set_value: Callable[[Any], None]
    shown: Callable[[], str]
    """The value in a few words, empty for the default."""


def make_editor(field: Field, changed: Callable[[], object]) -> Editor:
    """A widget for a field; `changed` is called whenever its value changes."""
    return _MAKERS[field.kind](field, changed)


def _line(field: Field, changed: Callable[[], object]) -> Editor:
    line = QLineEdit()
    line.setPlaceholderText(field.placeholder)
    line.textChanged.connect(lambda _text: changed())

    def set_value(text: str) -> None:
        if line.text() != text:
            line.setText(text)

    return Editor(line, line.text, set_value, lambda: line.text().strip())


def _choice(field: Field, changed: Callable[[], object]) -> Editor:
    combo = QComboBox()
    for value, text in field.choices:
        combo.addItem(text, value)
    combo.currentIndexChanged.connect(lambda _index: changed())

    def set_value(value: str) -> None:
        combo.setCurrentIndex(max(combo.findData(value), 0))

    return Editor(combo, combo.currentData, set_value, lambda: combo.currentText() if combo.currentIndex() > 0 else "")


def _checklist(field: Field, changed: Callable[[], object]) -> Editor:
    checklist = ChecklistButton()
    if field.choices:
        checklist.offer(list(field.choices))
    checklist.changed.connect(changed)
    return Editor(checklist, checklist.values, checklist.tick, lambda: checklist.text() if checklist.values() else "")


def _switch(field: Field, changed: Callable[[], object]) -> Editor:
    box = QCheckBox(field.label)
    box.toggled.connect(lambda _on: changed())
    return Editor(box, box.isChecked, box.setChecked, lambda: field.label if box.isChecked() else "")


def _quotes(_field: Field, changed: Callable[[], object]) -> Editor:
    table = QuotesEditor()
    table.changed.connect(changed)
    return Editor(table, table.quotes, table.set_quotes, table.summary)


_MAKERS: dict[Kind, Callable[[Field, Callable[[], object]], Editor]] = {
    Kind.LINE: _line,
    Kind.CHOICE: _choice,
    Kind.CHECKLIST: _checklist,
    Kind.SWITCH: _switch,
    Kind.QUOTES: _quotes,
}
