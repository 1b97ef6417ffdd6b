"""Choose the Python interpreter of a run, among those found on this machine or any other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget

from gpuscope.runner.interpreters import Interpreter
from gpuscope.ui.background import Newest
from gpuscope.ui.theme import GRID

_OTHER = "\0other"
"""Item data of the entry that opens a file dialog; no path holds a null character."""


class InterpreterBox(QComboBox):
    """The first entry leaves the choice to gpuscope, the last one asks for a file."""

    chosen = Signal()
    """The choice changed."""

    def __init__(self, find: Callable[[Path], list[Interpreter]], parent: QWidget | None = None) -> None:
        """Empty but for the first and the last entry until `look_around`.

        Args:
            find: gives the interpreters for a folder; called beside the window.
            parent: as always in Qt.
        """
        super().__init__(parent)
        self._find = find
        self._path = ""
        self._found: list[Interpreter] | None = None
        self._looking = Newest(self)
        self._looking.finished.connect(self._on_found)
        self._looking.failed.connect(lambda _sentence: self._on_found([]))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(10)
        self.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._fill()
        self.activated.connect(self._on_activated)

    @property
    def path(self) -> str:
        """The chosen interpreter; empty: gpuscope chooses."""
        return self._path

    @property
    def busy(self) -> bool:
        """True while interpreters are being looked for."""
        return self._looking.busy

    def choose(self, path: str) -> None:
        """Choose an interpreter by its path."""
        self._path = path
        self._fill()

    def look_around(self, folder: Path) -> None:
        """Look for the interpreters that suit a folder; the choice stays."""
        self._looking.submit(partial(self._find, folder))
        self._fill()

    def showPopup(self) -> None:
        """Open wide enough for whole entries."""
        width = self.view().sizeHintForColumn(0) + 4 * GRID
        self.view().setMinimumWidth(min(width, 75 * GRID))
        super().showPopup()

    def _on_found(self, found: list[Interpreter]) -> None:
        self._found = found
        self._fill()

    def _fill(self) -> None:
        blocked = QSignalBlocker(self)
        self.clear()
        first = self.tr("Looking for interpreters…") if self._looking.busy else self._automatic_text()
        self.addItem(first, "")
        for interpreter in self._found or []:
            self.addItem(interpreter_text(interpreter), interpreter.path)
            self.setItemData(self.count() - 1, interpreter.path, Qt.ItemDataRole.ToolTipRole)
        if self._path and self.findData(self._path) < 0:
            self.addItem(self._path, self._path)
        self.addItem(self.tr("Other…"), _OTHER)
        self.setCurrentIndex(max(self.findData(self._path), 0))
        self.setToolTip(self._path or self.tr("gpuscope takes the first interpreter that has what the script imports."))
        blocked.unblock()

    def _automatic_text(self) -> str:
        if self._found is None or any(interpreter.torch_version is not None for interpreter in self._found):
            return self.tr("Automatic")
        return self.tr("Automatic (none with torch was found)")

    def _on_activated(self, index: int) -> None:
        path = self.itemData(index)
        if path == _OTHER:
            path, _ = QFileDialog.getOpenFileName(self, self.tr("Choose a Python interpreter"))
            path = path or self._path
        self._path = path
        self._fill()
        self.chosen.emit()


def interpreter_text(interpreter: Interpreter) -> str:
    """`torch 2.13.0 · Python 3.11.9 · ~/project/.venv`: what matters first."""
    torch = f"torch {interpreter.torch_version}" if interpreter.torch_version else "no torch"
    return f"{torch} · Python {interpreter.version} · {_short(interpreter.path)}"


def _short(path: str) -> str:
    place = Path(path)
    folder = place.parent.parent if place.parent.name in {"bin", "Scripts"} else place.parent
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder)
