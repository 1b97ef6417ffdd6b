"""Cards in rows: as many side by side as there is room for, all of one width."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from gpuscope.ui.theme import GRID
from gpuscope.ui.widgets.device_card import LEAST_WIDTH_PX, DeviceCard


class CardGrid(QWidget):
    """Places cards again when its width asks for another number of columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No cards."""
        super().__init__(parent)
        self._cards: list[DeviceCard] = []
        self._columns = 0
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GRID)

    def show_cards(self, cards: Sequence[DeviceCard]) -> None:
        """Replace the cards; those that are no longer shown are hidden."""
        for card in self._cards:
            self._layout.removeWidget(card)
            card.setVisible(card in cards)
        self._cards = list(cards)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may fit another number of columns."""
        super().resizeEvent(event)
        if self._fitting_columns() != self._columns:
            self._place()

    def _fitting_columns(self) -> int:
        least = max((card.minimumWidth() for card in self._cards), default=LEAST_WIDTH_PX)
        most = max(1, (self.width() + GRID) // (least + GRID))
        rows = -(-len(self._cards) // most) or 1
        return max(1, -(-len(self._cards) // rows))

    def _place(self) -> None:
        for column in range(self._columns):
            self._layout.setColumnStretch(column, 0)
        self._columns = self._fitting_columns()
        for number, card in enumerate(self._cards):
            self._layout.addWidget(card, number // self._columns, number % self._columns)
            card.show()
        for column in range(self._columns):
            self._layout.setColumnStretch(column, 1)
