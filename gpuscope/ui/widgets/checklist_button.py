"""A button that opens a list of things to tick; it says what is ticked."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
    QWidgetAction,
)

from gpuscope.ui.theme import GRID

LIST_HEIGHT = 40 * GRID
LIST_WIDTH = 36 * GRID


class ChecklistButton(QPushButton):
    """Nothing ticked means anything goes."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """The list is empty until `offer`."""
        super().__init__(parent)
        self._absent: tuple[str, ...] = ()
        self._list = QListWidget()
        self._list.setAlternatingRowColors(False)
        self._list.itemChanged.connect(self._on_item_changed)
        menu = QMenu(self)
        action = QWidgetAction(menu)
        action.setDefaultWidget(self._list)
        menu.addAction(action)
        menu.aboutToShow.connect(self._list.setFocus)
        self.setMenu(menu)
        self._say()

    def offer(self, choices: list[tuple[str, str]]) -> None:
        """Set the choices as (value, text).

        What is ticked stays ticked; where it is no choice any more it is shown as its value, to be unticked.
        """
        known = {value for value, _ in choices}
        ticked = set(self.values())
        choices = [*choices, *((value, value) for value in self.values() if value not in known)]
        self._absent = ()
        blocked = QSignalBlocker(self._list)
        self._list.clear()
        for value, text in choices:
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, value)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable)
            item.setCheckState(Qt.CheckState.Checked if value in ticked else Qt.CheckState.Unchecked)
            self._list.addItem(item)
        blocked.unblock()
        row = max(self._list.sizeHintForRow(0), 1)
        self._list.setFixedSize(LIST_WIDTH, min(row * max(len(choices), 1) + 4, LIST_HEIGHT))
        self._say()

    def values(self) -> tuple[str, ...]:
        """What is ticked, in the list's order."""
        items = [self._list.item(row) for row in range(self._list.count())]
        ticked = [item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked]
        return (*ticked, *self._absent)

    def tick(self, values: tuple[str, ...]) -> None:
        """Tick exactly these; those that are not offered yet are ticked when they are."""
        known = {self._list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(self._list.count())}
        self._absent = tuple(value for value in values if value not in known)
        for row in range(self._list.count()):
            item = self._list.item(row)
            wanted = item.data(Qt.ItemDataRole.UserRole) in values
            item.setCheckState(Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)
        self._say()

    def minimumSizeHint(self) -> QSize:
        """The text is elided, so a little width is enough."""
        return QSize(10 * GRID, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the button with its text elided and to the left."""
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        room = self.rect().adjusted(GRID, 0, -3 * GRID, 0)
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        self.style().drawItemText(painter, room, int(Qt.AlignmentFlag.AlignVCenter), self.palette(), self.isEnabled(),
                                  text)  # fmt: skip

    def _on_item_changed(self, _item: QListWidgetItem) -> None:
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        items = [self._list.item(row) for row in range(self._list.count())]
        ticked = [item.text() for item in items if item.checkState() is Qt.CheckState.Checked] + list(self._absent)
        self.setText(", ".join(ticked) if ticked else self.tr("any"))
        self.setToolTip("\n".join(ticked))  # empty: that of the field around it shows
