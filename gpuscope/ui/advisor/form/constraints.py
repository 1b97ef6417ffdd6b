"""The form of the Advisor panel: what the answer has to keep to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from gpuscope.domain.recommendation import Constraints
from gpuscope.ui.advisor.form.texts import EPOCHS, SAMPLES, STEPS, ConstraintTexts, understood
from gpuscope.ui.theme import GRID
from gpuscope.ui.widgets.checklist_button import ChecklistButton
from gpuscope.ui.widgets.field_grid import FieldGrid
from gpuscope.ui.widgets.section import Section

PRECISIONS = ("float32", "tf32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the catalogue has, as (value, text)."""

    providers: list[tuple[str, str]]
    regions: list[tuple[str, str]]
    vendors: list[tuple[str, str]]
    gpus: list[tuple[str, str]]


class ConstraintsForm(QWidget):
    """The most asked fields are always there, the others fold away."""

    changed = Signal()
    """Something was typed or chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No limits."""
        super().__init__(parent)
        self._suggested = ""
        self._lines: dict[str, QLineEdit] = {}
        self._combos: dict[str, QComboBox] = {}
        self._checklists: dict[str, ChecklistButton] = {}
        self._first = FieldGrid()
        self._more = FieldGrid()
        self._add_first_fields()
        self._add_more_fields()
        self._section = Section(self.tr("More limits"), self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self._first)
        column.addWidget(self._section)
        QWidget.setTabOrder(self._lines["budget_per_hour"], self._section)

    def offer(self, choices: Choices) -> None:
        """Fill the lists that come from the catalogue."""
        self._checklists["providers"].offer(choices.providers)
        self._checklists["regions"].offer(choices.regions)
        self._checklists["vendors"].offer(choices.vendors)
        self._checklists["gpus"].offer(choices.gpus)

    def texts(self) -> ConstraintTexts:
        """What the fields hold."""
        fields: dict[str, object] = {name: line.text() for name, line in self._lines.items()}
        fields |= {name: combo.currentData() for name, combo in self._combos.items()}
        fields |= {name: checklist.values() for name, checklist in self._checklists.items()}
        return ConstraintTexts(**fields)  # type: ignore[arg-type]  # each widget holds its field's type

    def set_texts(self, texts: ConstraintTexts) -> None:
        """Fill the fields."""
        for name, line in self._lines.items():
            line.setText(getattr(texts, name))
        for name, combo in self._combos.items():
            combo.setCurrentIndex(max(combo.findData(getattr(texts, name)), 0))
        for name, checklist in self._checklists.items():
            checklist.tick(getattr(texts, name))

    def suggest_total_steps(self, steps: int | None) -> None:
        """Fill in how much work there is (None: it is not known), unless the person typed something else."""
        line, unit = self._lines["total"], self._combos["total_unit"]
        if line.text() in {"", self._suggested}:
            self._suggested = "" if steps is None else str(steps)
            line.setText(self._suggested)
            if steps is not None:
                unit.setCurrentIndex(unit.findData(STEPS))

    def read(self, now: datetime) -> Constraints | None:
        """The constraints; None after showing under each field what could not be understood."""
        constraints, problems = understood(self.texts(), now)
        self._first.show_problems(problems)
        self._more.show_problems(problems)
        if any(name in problems for name in ("counts", "power_limit")):
            self._section.set_open(True)
        return constraints

    def _add_first_fields(self) -> None:
        grid = self._first
        deadline = self._line("deadline", self.tr("any time"))
        deadline.setToolTip(self.tr("36h, or a moment such as Fri 18:00 or 2026-12-04 18:00"))
        grid.add(
            "deadline",
            self.tr("&Done within, or by"),
            deadline,
            explanation=self.tr(
                "A length of time such as 36h or 2d, a number of hours, or a moment such as Fri 18:00."
            ),
        )
        grid.add(
            "total",
            self.tr("&Work in all"),
            self._line("total", self.tr("not given")),
            explanation=self.tr("How much there is to do; without it there is no time and no cost of the whole work."),
        )
        units = [(self.tr("steps"), STEPS), (self.tr("samples"), SAMPLES), (self.tr("epochs"), EPOCHS)]
        grid.add("total_unit", self.tr("&Counted in"), self._combo("total_unit", units))
        grid.add("samples_per_epoch", self.tr("Samples an &epoch"), self._line("samples_per_epoch", ""))
        grid.set_shown("samples_per_epoch", shown=False)
        self._combos["total_unit"].currentIndexChanged.connect(self._show_epoch_field)
        ways = [(self.tr("rent or buy"), ""), (self.tr("rent"), "rent"), (self.tr("buy"), "buy")]
        grid.add("acquisition", self.tr("&Get it by"), self._combo("acquisition", ways))
        grid.add(
            "budget",
            self.tr("&Budget in all, $"),
            self._line("budget", self.tr("any")),
            explanation=self.tr("For renting: the whole work. For buying: the purchase price of the GPUs."),
        )
        grid.add("budget_per_hour", self.tr("Budget an h&our, $"), self._line("budget_per_hour", self.tr("any")))

    def _add_more_fields(self) -> None:
        grid = self._more
        stages = [
            (self.tr("as measured"), ""), (self.tr("training"), "training"), (self.tr("inference"), "inference"),
        ]  # fmt: skip
        grid.add("stage", self.tr("Stage"), self._combo("stage", stages))
        precisions = [(self.tr("as measured"), ""), *((name, name) for name in PRECISIONS)]
        grid.add("precision", self.tr("Precision"), self._combo("precision", precisions))
        grid.add("counts", self.tr("Numbers of GPUs"), self._line("counts", self.tr("any, such as 1, 2, 4-8")))
        grid.add("gpus", self.tr("GP&Us"), self._checklist("gpus"))
        grid.add("vendors", self.tr("Vendors"), self._checklist("vendors"))
        grid.add("providers", self.tr("Providers"), self._checklist("providers"))
        grid.add("regions", self.tr("Regions"), self._checklist("regions"))
        grid.add(
            "power_limit",
            self.tr("Power, all GPUs, W"),
            self._line("power_limit", self.tr("any")),
            explanation=self.tr("What the room or the socket gives, such as 1.4kW, for all GPUs together."),
        )

    def _line(self, name: str, placeholder: str) -> QLineEdit:
        line = QLineEdit()
        line.setPlaceholderText(placeholder)
        line.textChanged.connect(self.changed)
        self._lines[name] = line
        return line

    def _combo(self, name: str, choices: list[tuple[str, str]]) -> QComboBox:
        combo = QComboBox()
        for text, value in choices:
            combo.addItem(text, value)
        combo.currentIndexChanged.connect(self.changed)
        self._combos[name] = combo
        return combo

    def _checklist(self, name: str) -> ChecklistButton:
        checklist = ChecklistButton()
        checklist.changed.connect(self.changed)
        self._checklists[name] = checklist
        return checklist

    def _show_epoch_field(self) -> None:
        self._first.set_shown("samples_per_epoch", shown=self._combos["total_unit"].currentData() == EPOCHS)
