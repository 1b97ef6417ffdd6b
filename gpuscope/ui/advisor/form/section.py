"""One section of the guided form: a title that unfolds, its fields, and while folded what is set in them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.ui.advisor.form.editors import Editor, make_editor
from gpuscope.ui.advisor.form.fields import Kind, SectionFields
from gpuscope.ui.widgets.field_grid import FieldGrid
from gpuscope.ui.widgets.section import Section


class FormSection(QWidget):
    """Opens by itself when one of its fields has a mistake."""

    def __init__(self, section: SectionFields, changed: Callable[[], object], parent: QWidget | None = None) -> None:
        """Empty fields; `changed` is called when one changes."""
        super().__init__(parent)
        self.name = section.name
        self.editors: dict[str, Editor] = {}
        self._grid = FieldGrid()
        self._of_money = [field for field in section.fields if "{0}" in field.label]
        for field in section.fields:
            editor = make_editor(field, changed)
            self.editors[field.name] = editor
            switch = field.kind is Kind.SWITCH  # its label is its own
            self._grid.add(
                field.name,
                "" if switch else field.label,
                editor.widget,
                wide=field.wide or switch,
                explanation=field.explanation,
            )
            editor.widget.setAccessibleName(field.label.replace("&", ""))
        self.set_currency("$")
        self.fold = Section(section.title, self._grid, is_open=section.is_open)
        self.fold.toggled.connect(lambda _open: self.summarise())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.fold)

    def set_shown(self, name: str, *, shown: bool) -> None:
        """Show or hide a field."""
        self._grid.set_shown(name, shown=shown)

    def set_currency(self, sign: str) -> None:
        """Say at each amount of money which currency it is in."""
        for field in self._of_money:
            self._grid.set_label(field.name, field.label.format(sign))

    def show_problems(self, problems: dict[str, str]) -> None:
        """Say at each field what could not be understood."""
        self._grid.show_problems(problems)
        if any(name in problems for name in self.editors):
            self.fold.set_open(True)

    def summarise(self) -> None:
        """While folded, the title says what is set."""
        parts = [] if self.fold.is_open else [editor.shown() for editor in self.editors.values()]
        self.fold.set_summary(" · ".join(part for part in parts if part))
