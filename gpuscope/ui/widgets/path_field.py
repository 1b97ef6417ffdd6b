"""A line for a path, with a button that asks for it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from gpuscope.ui.theme import GRID


class PathField(QWidget):
    """The focus goes to the line."""

    edited = Signal()
    submitted = Signal()
    """Return was pressed."""

    def __init__(self, button: str, ask: Callable[[], str], parent: QWidget | None = None) -> None:
        """Empty.

        Args:
            button: text of the button.
            ask: opens a dialog and returns the path; empty when the person thought better of it.
            parent: as always in Qt.
        """
        super().__init__(parent)
        self._ask = ask
        self._line = QLineEdit(self)
        self._button = QPushButton(button, self)
        self._line.textChanged.connect(lambda text: self._line.setToolTip(text))
        self._line.textChanged.connect(self.edited)
        self._line.returnPressed.connect(self.submitted)
        self._button.clicked.connect(self._on_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        row.addWidget(self._line, 1)
        row.addWidget(self._button)
        self.setFocusProxy(self._line)

    def text(self) -> str:
        """What the line holds."""
        return self._line.text()

    def set_text(self, text: str) -> None:
        """Replace what the line holds."""
        self._line.setText(text)

    def set_placeholder(self, text: str) -> None:
        """What the line says while it is empty."""
        self._line.setPlaceholderText(text)

    def set_choosable(self, choosable: bool) -> None:
        """Show the button or not."""
        self._button.setVisible(choosable)

    def _on_clicked(self) -> None:
        path = self._ask()
        if path:
            self.set_text(path)
