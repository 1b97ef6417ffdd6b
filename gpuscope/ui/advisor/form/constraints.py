"""The guided form of the Advisor panel: what the answer has to keep to, in the order in which people think."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form import fields, money_fields
from gpuscope.ui.advisor.form.history import NOTE_MS, FormHistory
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.quotes import QuotesEditor
from gpuscope.ui.advisor.form.section import FormSection
from gpuscope.ui.advisor.form.texts import EPOCHS, INFERENCE, OWN_LOAD, STEPS, TRAINING, ConstraintTexts
from gpuscope.ui.advisor.form.tools import FormTools
from gpuscope.ui.advisor.form.understanding import shown_currency, understood
from gpuscope.ui.advisor.form.undo_keys import UndoKeys
from gpuscope.ui.theme import GRID
from gpuscope.ui.widgets.checklist_button import ChecklistButton
from gpuscope.ui.widgets.section import Section

_WHOLE = "needs"
"""Name of the fold around all sections, where it is remembered which are open."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the catalogue has, as (value, text)."""

    providers: list[tuple[str, str]]
    regions: list[tuple[str, str]]
    vendors: list[tuple[str, str]]
    gpus: list[tuple[str, str]]
    form_factors: list[tuple[str, str]]


class ConstraintsForm(QWidget):
    """Sections that unfold; a folded one says in its title what is set in it."""

    changed = Signal()
    """Something was typed or chosen."""
    failed = Signal(str)
    """A preset could not be kept; a sentence."""

    def __init__(self, store: PresetStore, parent: QWidget | None = None) -> None:
        """As it was left the last time."""
        super().__init__(parent)
        self._store = store
        self._suggested = ""
        self._measured_stage = ""
        self._setting = False
        self.tools = FormTools(store, self)
        self.sections = [
            FormSection(section, self._on_edited)
            for section in (
                fields.work_section(), fields.service_section(), fields.speed_section(), fields.machines_section(),
                fields.budget_section(), fields.limits_section(), money_fields.money_section(),
                money_fields.spot_section(), money_fields.quotes_section(),
            )
        ]  # fmt: skip
        self._editors = {name: editor for section in self.sections for name, editor in section.editors.items()}
        self._pause = QTimer(self, singleShot=True, interval=NOTE_MS)
        self._pause.timeout.connect(self._note)
        self._history = FormHistory(store.last)
        self._lay_out()
        self._fill(store.last)
        self._restore_open()
        self._connect_tools()
        self._follow()

    def offer(self, choices: Choices) -> None:
        """Fill the lists that come from the catalogue."""
        for name in ("providers", "regions", "vendors", "gpus", "form_factors"):
            checklist = self.editor_widget(name)
            if isinstance(checklist, ChecklistButton):
                checklist.offer(getattr(choices, name))
        self.quotes.offer_gpus(choices.gpus)
        self._follow()

    @property
    def quotes(self) -> QuotesEditor:
        """The table of quotes."""
        widget = self.editor_widget("quotes")
        assert isinstance(widget, QuotesEditor)
        return widget

    def editor_widget(self, name: str) -> QWidget:
        """The widget of a field."""
        return self._editors[name].widget

    def texts(self) -> ConstraintTexts:
        """What the fields hold."""
        return ConstraintTexts(**{name: editor.value() for name, editor in self._editors.items()})

    def set_texts(self, texts: ConstraintTexts) -> None:
        """Fill the fields; undo brings back what was there."""
        self._note()
        self._show(texts)
        self._note()

    def set_project(self, project: str) -> None:
        """Offer the presets of this project, which is a folder."""
        self.tools.set_project(project)

    def set_measured_stage(self, stage: str) -> None:
        """Stage of the job at hand: decides which questions are asked while none is chosen."""
        if stage != self._measured_stage:
            self._measured_stage = stage
            self._follow()

    def suggest_total_steps(self, steps: int | None) -> None:
        """Fill in how much work there is (None: it is not known), unless the person typed something else."""
        total, unit = self._editors["total"], self._editors["total_unit"]
        if total.value() in {"", self._suggested}:
            self._suggested = "" if steps is None else str(steps)
            total.set_value(self._suggested)
            if steps is not None:
                unit.set_value(STEPS)

    @property
    def total_is_suggested(self) -> bool:
        """Whether the amount of work is that of the run at hand, not one that the person typed."""
        return bool(self._suggested) and self._editors["total"].value() == self._suggested

    def read(self, now: datetime) -> Constraints | None:
        """The constraints; None after showing at each field what could not be understood."""
        texts = self.texts()
        constraints, problems = understood(texts, now)
        for section in self.sections:
            section.show_problems(problems)
        if problems:
            self.fold.set_open(True)
        self._keep(texts)
        return constraints

    def undo(self) -> None:
        """Go back one change."""
        self._note()
        self._show(self._history.undo())

    def redo(self) -> None:
        """Do again what was undone."""
        self._note()
        self._show(self._history.redo())

    def reset(self) -> None:
        """Empty all fields."""
        self.set_texts(ConstraintTexts(total=self._suggested))

    # -- construction ------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        body = QWidget()
        inside = QVBoxLayout(body)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(2)
        for section in self.sections:
            inside.addWidget(section)
        self.fold = Section(self.tr("Your needs"), body, is_open=True)
        self.fold.add_to_title(self.tools)
        column.addWidget(self.fold)
        UndoKeys((editor.widget for editor in self._editors.values()), self.undo, self.redo, self)

    def _connect_tools(self) -> None:
        self.tools.undo_requested.connect(self.undo)
        self.tools.redo_requested.connect(self.redo)
        self.tools.reset_requested.connect(self.reset)
        self.tools.preset_chosen.connect(self.set_texts)
        self.tools.save_requested.connect(lambda name: self.tools.save_as(name, self.texts()))
        self.tools.failed.connect(self.failed)

    def _restore_open(self) -> None:
        """As it was left the last time; from now on every change is remembered."""
        opened = self._store.open_sections
        for name, fold in self._folds().items():
            if opened is not None:
                fold.set_open(name in opened)
            fold.toggled.connect(self._keep_open)

    def _folds(self) -> dict[str, Section]:
        return {_WHOLE: self.fold, **{section.name: section.fold for section in self.sections}}

    def _keep_open(self) -> None:
        names = tuple(name for name, fold in self._folds().items() if fold.is_open)
        try:
            self._store.keep_open_sections(names)
        except UsageError as error:
            self.failed.emit(str(error))

    # -- changes -----------------------------------------------------------------------------------------------

    def _on_edited(self) -> None:
        if not self._setting:
            self._pause.start()
            self._follow()
            self.changed.emit()

    def _note(self) -> None:
        self._pause.stop()
        self._history.note(self.texts())
        self._say_possible()

    def _show(self, texts: ConstraintTexts) -> None:
        if texts != self.texts():
            self._fill(texts)
            self._follow()
            self.changed.emit()
        self._say_possible()

    def _fill(self, texts: ConstraintTexts) -> None:
        self._setting = True
        for name, editor in self._editors.items():
            value: Any = getattr(texts, name)
            editor.set_value(value)
        self._setting = False

    def _say_possible(self) -> None:
        self.tools.set_possible(undo=self._history.can_undo, redo=self._history.can_redo)

    def _follow(self) -> None:
        """Show the fields that the others ask for, and the summaries."""
        stage = self._editors["stage"].value() or self._measured_stage
        by_name = {section.name: section for section in self.sections}
        by_name["service"].setVisible(stage == INFERENCE)
        by_name["work"].set_shown("samples_per_epoch", shown=self._editors["total_unit"].value() == EPOCHS)
        by_name["work"].set_shown("keep_global_batch", shown=stage in {"", TRAINING})
        by_name["service"].set_shown("hourly_load", shown=self._editors["load_shape"].value() == OWN_LOAD)
        sign = shown_currency(self._editors["currency"].value())
        for section in self.sections:
            section.set_currency(sign)
            section.summarise()
        self._say_possible()

    def _keep(self, texts: ConstraintTexts) -> None:
        """Between starts all is remembered except the work of one run."""
        kept = msgspec.structs.replace(texts, total="") if texts.total == self._suggested else texts
        try:
            self._store.keep_last(kept)
        except UsageError as error:
            self.failed.emit(str(error))
