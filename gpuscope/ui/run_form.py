"""The form of the Run panel: what to run, with what, where."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from gpuscope.ui.interpreter_box import InterpreterBox
from gpuscope.ui.run_settings import COMMAND, MODULE, SCRIPT, RunSettings, problems, working_folder
from gpuscope.ui.theme import GRID
from gpuscope.ui.widgets.field_grid import FieldGrid
from gpuscope.ui.widgets.path_field import PathField
from gpuscope.ui.widgets.section import Section

ENVIRONMENT_LINES = 3
_PYTHON_SUFFIXES = {".py", ".pyw"}


class RunForm(QWidget):
    """Fields that are checked when the run is to start, and again while a mistake is being mended."""

    changed = Signal()
    submitted = Signal()
    """Return was pressed in a field."""

    def __init__(self, interpreters: InterpreterBox, parent: QWidget | None = None) -> None:
        """Empty; the interpreter box becomes part of the form."""
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._checked = False
        self._interpreters = interpreters
        self._kind = QComboBox()
        for text, value in ((self.tr("script"), SCRIPT), (self.tr("module"), MODULE), (self.tr("command"), COMMAND)):
            self._kind.addItem(text, value)
        self._target = PathField(self.tr("Choose…"), self._ask_for_script)
        self._arguments, self._total_steps = QLineEdit(), QLineEdit()
        self._folder = PathField(self.tr("Choose…"), self._ask_for_folder)
        self._environment = QPlainTextEdit()
        self._profile = QCheckBox(self.tr("Profile one step's operators"))
        self._first, self._more = FieldGrid(), FieldGrid()
        self._add_fields()
        self._section = Section(self.tr("More"), self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self._first)
        column.addWidget(self._section)
        self._connect()
        self._on_kind()

    def settings(self) -> RunSettings:
        """What the fields hold."""
        return RunSettings(
            kind=self._kind.currentData(),
            target=self._target.text(),
            arguments=self._arguments.text(),
            python=self._interpreters.path if self._kind.currentData() != COMMAND else "",
            folder=self._folder.text(),
            environment=self._environment.toPlainText(),
            total_steps=self._total_steps.text(),
            profile=self._profile.isChecked(),
        )

    def set_settings(self, settings: RunSettings) -> None:
        """Fill the fields."""
        self._kind.setCurrentIndex(max(self._kind.findData(settings.kind), 0))
        self._target.set_text(settings.target)
        self._arguments.setText(settings.arguments)
        self._interpreters.choose(settings.python)
        self._folder.set_text(settings.folder)
        self._environment.setPlainText(settings.environment)
        self._total_steps.setText(settings.total_steps)
        self._profile.setChecked(settings.profile)
        self._section.set_open(bool(settings.folder or settings.environment))
        self.show_problems({})

    def check(self) -> RunSettings | None:
        """The settings when a run can start with them; else the mistakes are shown and the first gets the focus."""
        settings = self.settings()
        found = problems(settings)
        self._checked = True
        self.show_problems(found)
        if not found:
            return settings
        if not self._first.focus_first_problem(found):
            self._section.set_open(True)
            self._more.focus_first_problem(found)
        return None

    def show_problems(self, found: dict[str, str]) -> None:
        """Show each sentence under its field."""
        self._first.show_problems(found)
        self._more.show_problems(found)

    def take_script(self, path: Path) -> None:
        """Run this script."""
        self._kind.setCurrentIndex(self._kind.findData(SCRIPT))
        self._target.set_text(str(path))
        self._target.setFocus()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Python files are welcome."""
        if _dropped_script(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the script that was dropped."""
        script = _dropped_script(event)
        if script is not None:
            self.take_script(script)
            event.acceptProposedAction()

    def _add_fields(self) -> None:
        self._arguments.setPlaceholderText(self.tr("as in a shell, such as --epochs 3"))
        self._folder.set_placeholder(self.tr("the script's folder"))
        self._total_steps.setPlaceholderText(self.tr("for progress, such as 5k"))
        self._environment.setPlaceholderText(self.tr("NAME=VALUE, one a line"))
        self._environment.setTabChangesFocus(True)
        line_px = self._environment.fontMetrics().lineSpacing()
        self._environment.setFixedHeight(line_px * ENVIRONMENT_LINES + 2 * GRID)
        self._profile.setChecked(True)
        self._profile.setToolTip(
            self.tr("One step is run slower and looked into; predictions for other GPUs rest on its operators.")
        )
        self._first.add("kind", self.tr("&Kind"), self._kind)
        self._first.add("total_steps", self.tr("S&teps in all"), self._total_steps)
        self._first.add("target", self.tr("Scr&ipt"), self._target, wide=True)
        self._first.add("arguments", self.tr("&Arguments"), self._arguments, wide=True)
        self._first.add("python", self.tr("Inter&preter"), self._interpreters, wide=True)
        self._more.add("folder", self.tr("&Folder"), self._folder, wide=True)
        self._more.add("environment", self.tr("E&nvironment"), self._environment, wide=True)
        self._more.add("profile", self.tr("Probe"), self._profile, wide=True)

    def _connect(self) -> None:
        self._kind.currentIndexChanged.connect(self._on_kind)
        for line in (self._target, self._folder):
            line.edited.connect(self._on_edited)
            line.submitted.connect(self.submitted)
        for edit in (self._arguments, self._total_steps):
            edit.textChanged.connect(self._on_edited)
            edit.returnPressed.connect(self.submitted)
        self._environment.textChanged.connect(self._on_edited)
        self._interpreters.chosen.connect(self._on_edited)
        self._profile.toggled.connect(self._on_edited)

    def _on_kind(self) -> None:
        kind = self._kind.currentData()
        label, hint = {
            SCRIPT: (self.tr("Scr&ipt"), self.tr("choose a Python file or drop it here")),
            MODULE: (self.tr("Module, as in python -m"), self.tr("package.train")),
            COMMAND: (self.tr("Command"), self.tr("torchrun, accelerate, a shell script")),
        }[kind]
        self._first.set_label("target", label)
        self._target.set_placeholder(hint)
        self._target.set_choosable(kind == SCRIPT)
        self._folder.set_placeholder(self.tr("the script's folder") if kind == SCRIPT else str(Path.cwd()))
        self._first.set_shown("python", shown=kind != COMMAND)
        self._on_edited()

    def _on_edited(self) -> None:
        if self._checked:
            self.show_problems(problems(self.settings()))
        self.changed.emit()

    def _ask_for_script(self) -> str:
        start = str(working_folder(self.settings()))
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Choose a script"), start, self.tr("Python (*.py *.pyw)"))
        return path

    def _ask_for_folder(self) -> str:
        start = str(working_folder(self.settings()))
        return QFileDialog.getExistingDirectory(self, self.tr("Choose the folder to run in"), start)


def _dropped_script(event: QDropEvent) -> Path | None:
    for url in event.mimeData().urls():
        path = Path(url.toLocalFile())
        if path.suffix.lower() in _PYTHON_SUFFIXES:
            return path
    return None
