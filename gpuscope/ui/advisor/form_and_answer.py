"""The Advisor's parts below each other in one column, or the form beside the answer where there is room."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID

SIDE_WIDTH = 44 * GRID
"""Of the form when it stands beside the answer."""
SIDE_BY_SIDE_FROM = 100 * GRID


@dataclass(frozen=True, slots=True)
class AdvisorParts:
    """What the panel consists of."""

    source: QWidget
    """What is advised on."""
    decision: QWidget
    """The answer in one sentence: seen at once, also where the form takes all the height."""
    form: QWidget
    answer: QWidget
    """The figures behind the decision."""


class FormAndAnswer(QWidget):
    """One scrolling column, or two columns that scroll on their own."""

    def __init__(self, parts: AdvisorParts, parent: QWidget | None = None) -> None:
        """Take over all parts."""
        super().__init__(parent)
        self._parts = parts
        self._beside: bool | None = None
        self._side, self._side_column = _scroll(self)
        self._side.setFixedWidth(SIDE_WIDTH)
        self._side_column.addStretch(1)
        main, self._column = _scroll(self)
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
        parts = self._parts
        source, decision, form, answer = parts.source, parts.decision, parts.form, parts.answer
        for column in (self._side_column, self._column):
            for part in (source, decision, form, answer):
                column.removeWidget(part)
        for row, part in enumerate((source, form) if beside else ()):
            self._side_column.insertWidget(row, part)  # above the stretch
        for part in (decision, answer) if beside else (source, decision, form, answer):
            self._column.addWidget(part, int(part is answer))
        tab_order = (source, form, decision, answer) if beside else (source, decision, form, answer)
        for before, after in pairwise(tab_order):
            QWidget.setTabOrder(before, after)
        self._side.setVisible(beside)


def _scroll(parent: QWidget) -> tuple[QScrollArea, QVBoxLayout]:
    scroll = QScrollArea(parent)
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it follows the focus of what is in it
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(GRID, GRID, GRID, GRID)
    column.setSpacing(GRID)
    scroll.setWidget(page)
    return scroll, column
