"""The Advisor's two halves: the form above the answer, or beside it where there is room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID

SIDE_WIDTH = 44 * GRID
"""Of the form when it stands beside the answer."""
SIDE_BY_SIDE_FROM = 100 * GRID


class FormAndAnswer(QWidget):
    """One scrolling column, or two columns that scroll on their own."""

    def __init__(self, form: QWidget, answer: QWidget, parent: QWidget | None = None) -> None:
        """Take over both halves."""
        super().__init__(parent)
        self._form = form
        self._beside: bool | None = None
        page = QWidget()
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(GRID, GRID, GRID, GRID)
        self._column.setSpacing(GRID)
        self._column.addWidget(answer, 1)
        self._side = _scroll(self)
        self._side.setFixedWidth(SIDE_WIDTH)
        main = _scroll(self)
        main.setWidget(page)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._side)
        row.addWidget(main, 1)
        self._place(beside=False)

    @property
    def beside(self) -> bool:
        """Whether the form stands beside the answer."""
        return bool(self._beside)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Change between the two ways."""
        super().resizeEvent(event)
        self._place(beside=event.size().width() >= SIDE_BY_SIDE_FROM)

    def _place(self, *, beside: bool) -> None:
        if beside == self._beside:
            return
        self._beside = beside
        if beside:
            self._column.removeWidget(self._form)
            self._form.setContentsMargins(GRID, GRID, GRID, GRID)
            self._side.setWidget(self._form)
        else:
            self._side.takeWidget()
            self._form.setContentsMargins(0, 0, 0, 0)
            self._column.insertWidget(0, self._form)
        self._form.show()
        self._side.setVisible(beside)


def _scroll(parent: QWidget) -> QScrollArea:
    scroll = QScrollArea(parent)
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return scroll
