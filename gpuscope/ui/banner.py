"""Sentences above the panels that the person should read: each with what can be done about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.focus import hide_without_passing_focus_on

MOST_BANNERS = 4
"""More than this at once is not read; the oldest make room."""


class Banner(QFrame):
    """One sentence, an optional action, and a button to put it away."""

    def __init__(self, sentence: str, action: str, on_action: Callable[[], None] | None, parent: QWidget) -> None:
        """`action` is the button's text; without `on_action` there is no button."""
        super().__init__(parent)
        set_role(self, "banner")
        self.sentence = sentence
        self.lasting = False
        label = QLabel(sentence, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(GRID, GRID // 2, GRID // 2, GRID // 2)
        layout.addWidget(label, 1)
        self.action_button: QPushButton | None = None
        if on_action is not None:
            self.action_button = QPushButton(action, self)
            self.action_button.clicked.connect(on_action)
            self.action_button.clicked.connect(self._put_away)
            layout.addWidget(self.action_button)
        self.close_button = QPushButton("×", self)
        set_role(self.close_button, "segment")
        self.close_button.setAccessibleName(self.tr("Put away"))
        self.close_button.setToolTip(self.tr("Put this note away"))
        self.close_button.clicked.connect(self._put_away)
        layout.addWidget(self.close_button)

    def _put_away(self) -> None:
        hide_without_passing_focus_on(self)
        self.deleteLater()


class Banners(QWidget):
    """The notes that are up now; the same sentence is never up twice."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """None yet."""
        super().__init__(parent)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(GRID, 0, GRID, 0)
        self._layout.setSpacing(GRID // 2)

    def show_note(
        self, sentence: str, action: str = "", on_action: Callable[[], None] | None = None, *, lasting: bool = False
    ) -> None:
        """Put a sentence up, with a button when there is something to do; `clear` leaves lasting ones."""
        if not sentence or sentence in self.sentences():
            return
        shown = self.shown()
        if len(shown) >= MOST_BANNERS:
            shown[0].close_button.click()
        banner = Banner(sentence, action, on_action, self)
        banner.lasting = lasting
        self._layout.addWidget(banner)
        banner.show()

    def sentences(self) -> list[str]:
        """What is up now."""
        return [banner.sentence for banner in self.shown()]

    def clear(self) -> None:
        """Put all away but the lasting ones: another session is opened."""
        for banner in self.shown():
            if not banner.lasting:
                banner.close_button.click()

    def shown(self) -> list[Banner]:
        """The notes that are up now, oldest first."""
        found = self.findChildren(Banner, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return [banner for banner in found if not banner.isHidden()]
