"""A part of a panel that folds away under its title."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.elided_label import ElidedLabel
from gpuscope.ui.widgets.focus import hide_without_passing_focus_on

# Quieter than a button: a title that can be clicked; underlined while it has the focus.
_STYLE = """
QToolButton { border: none; background: transparent; padding: 2px 0; font-weight: bold; }
QToolButton:focus { text-decoration: underline; }
"""


class Section(QWidget):
    """Title with an arrow; the content shows while it is open."""

    toggled = Signal(bool)

    def __init__(self, title: str, content: QWidget, *, is_open: bool = False, parent: QWidget | None = None) -> None:
        """Take over the content."""
        super().__init__(parent)
        self._content = content
        self._is_open = is_open
        self._button = QToolButton(self)
        self._button.setText(title)
        self._button.setStyleSheet(_STYLE)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._button.clicked.connect(lambda: self.set_open(not self._is_open))
        self._summary = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        set_role(self._summary, "muted")
        self.setFocusProxy(self._button)
        self._head = QHBoxLayout()
        self._head.setSpacing(GRID)
        self._head.addWidget(self._button)
        self._head.addWidget(self._summary, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addLayout(self._head)
        column.addWidget(content, 1)
        self._show_content()

    @property
    def is_open(self) -> bool:
        """Whether the content shows."""
        return self._is_open

    def set_open(self, is_open: bool) -> None:
        """Unfold or fold."""
        if is_open != self._is_open:
            self._is_open = is_open
            self._show_content()
            self.toggled.emit(is_open)

    def add_to_title(self, widget: QWidget) -> None:
        """Put something at the right end of the title, where it also stays while folded."""
        self._head.addWidget(widget)

    def set_summary(self, text: str) -> None:
        """A few words beside the title."""
        self._summary.set_full_text(text)

    def _show_content(self) -> None:
        if self._is_open:
            self._content.show()
        else:
            hide_without_passing_focus_on(self._content)
        self._button.setArrowType(Qt.ArrowType.DownArrow if self._is_open else Qt.ArrowType.RightArrow)
        self._button.setAccessibleDescription(self.tr("unfolded") if self._is_open else self.tr("folded"))
