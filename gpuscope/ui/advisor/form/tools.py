"""The row above the form: undo, redo, reset, presets."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QInputDialog, QMenu, QPushButton, QToolButton, QWidget

from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.texts import ConstraintTexts
from gpuscope.ui.theme import set_role

MOST_SHOWN = 50
"""Characters of a preset's name in the menu."""


class FormTools(QWidget):
    """Small buttons; the presets are those of the project that the session belongs to."""

    undo_requested = Signal()
    redo_requested = Signal()
    reset_requested = Signal()
    preset_chosen = Signal(object)
    """The preset's `ConstraintTexts`."""
    save_requested = Signal(str)
    """Name to save the form under."""
    failed = Signal(str)
    """A sentence."""

    def __init__(self, store: PresetStore, parent: QWidget | None = None) -> None:
        """Presets of no project until `set_project`."""
        super().__init__(parent)
        self._store = store
        self._project = ""
        self.undo = self._button("↶", self.tr("Undo the last change of the form (Ctrl+Z)"))
        self.redo = self._button("↷", self.tr("Do again what was undone (Ctrl+Shift+Z)"))
        self.reset = self._button("⟲", self.tr("Reset: empty all fields; undo brings them back"))
        self.presets = QPushButton(self.tr("Presets"), self)
        self.presets.setToolTip(self.tr("Fill in the form as it was saved for this project, or save it."))
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.presets.setMenu(self._menu)
        set_role(self.presets, "segment")
        self.undo.clicked.connect(self.undo_requested)
        self.redo.clicked.connect(self.redo_requested)
        self.reset.clicked.connect(self.reset_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self.undo)
        row.addWidget(self.redo)
        row.addWidget(self.reset)
        row.addWidget(self.presets)

    def set_project(self, project: str) -> None:
        """Folder of the project whose presets are offered; empty: none."""
        self._project = project

    def set_possible(self, *, undo: bool, redo: bool) -> None:
        """Which way there is something to go."""
        self.undo.setEnabled(undo)
        self.redo.setEnabled(redo)

    def save_as(self, name: str, texts: ConstraintTexts) -> None:
        """Save the form as a preset of the project."""
        try:
            self._store.keep(self._project, name, texts)
        except UsageError as error:
            self.failed.emit(str(error))

    def _button(self, text: str, tooltip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tooltip)
        button.setAccessibleName(tooltip)
        button.setAutoRaise(True)
        return button

    def _fill_menu(self) -> None:
        self._menu.clear()
        names = self._store.names(self._project)
        for name in names:
            self._menu.addAction(_entry(name)).triggered.connect(
                lambda _checked=False, name=name: self.preset_chosen.emit(self._store.preset(self._project, name))
            )
        if not names:
            nothing = QAction(self.tr("None saved for this project yet"), self._menu)
            nothing.setEnabled(False)
            self._menu.addAction(nothing)
        self._menu.addSeparator()
        self._menu.addAction(self.tr("&Save as…"), self._ask_name)
        if names:
            delete = self._menu.addMenu(self.tr("&Delete"))
            for name in names:
                delete.addAction(_entry(name)).triggered.connect(lambda _checked=False, name=name: self._forget(name))

    def _ask_name(self) -> None:
        name, accepted = QInputDialog.getText(self, self.tr("Save the form"), self.tr("Name of the preset:"))
        if accepted and name.strip():
            self.save_requested.emit(name.strip())

    def _forget(self, name: str) -> None:
        try:
            self._store.forget(self._project, name)
        except UsageError as error:
            self.failed.emit(str(error))


def _entry(name: str) -> str:
    """A name as the text of a menu's entry, shortened where it would be wider than the window."""
    return (name if len(name) <= MOST_SHOWN else name[:MOST_SHOWN] + "…").replace("&", "&&")
