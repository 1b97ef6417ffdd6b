"""A part of a panel that folds away under its title."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID


class Section(QWidget):
    """Title with an arrow; the content shows while it is open."""

    toggled = Signal(bool)

    def __init__(self, title: str, content: QWidget, *, is_open: bool = False, parent: QWidget | None = None) -> None:
        """Take over the content."""
        super().__init__(parent)
        self._content = content
        self._button = QToolButton(self)
        self._button.setText(title)
        self._button.setCheckable(True)
        self._button.setAutoRaise(True)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._button.toggled.connect(self._show_content)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self._button)
        column.addWidget(content)
        self._button.setChecked(is_open)
        self._show_content(is_open)

    def set_title(self, title: str) -> None:
        """Change the title."""
        self._button.setText(title)

    def set_open(self, is_open: bool) -> None:
        """Unfold or fold."""
        self._button.setChecked(is_open)

    @property
    def is_open(self) -> bool:
        """Whether the content shows."""
        return self._button.isChecked()

    def _show_content(self, is_open: bool) -> None:
        self._content.setVisible(is_open)
        self._button.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self.toggled.emit(is_open)
