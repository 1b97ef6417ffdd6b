"""A calm card about one device: how busy, how full, and a line of details."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.elided_label import ElidedLabel
from gpuscope.ui.widgets.figure_label import FigureLabel
from gpuscope.ui.widgets.memory_bar import MemoryBar
from gpuscope.ui.widgets.spark import Spark

LEAST_WIDTH_PX = 200
COMPACT_WIDTH_PX = 136


class DeviceCard(QFrame):
    """The parts of a card; `gpuscope.ui.cards` fills them.

    Attributes:
        key: the device that the card is about.
        details: small figures by name, in one line.
    """

    clicked = Signal(str)
    """The key."""

    def __init__(
        self, key: str, colour: QColor, memory_colour: QColor, details: dict[str, str], parent: QWidget | None = None
    ) -> None:
        """`details` maps names to the word before the figure."""
        super().__init__(parent)
        self.key = key
        set_role(self, "card")
        self.setMinimumWidth(LEAST_WIDTH_PX)
        self.name = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        set_role(self.name, "title")
        self.busy = FigureLabel(self, large=True)
        self.spark = Spark(colour, self)
        self.memory = FigureLabel(self, before=self.tr("memory"))
        self.memory_bar = MemoryBar(memory_colour, self)
        self.details = {name: FigureLabel(self, before=before) for name, before in details.items()}
        self.flag = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        self.flag.setAlignment(Qt.AlignmentFlag.AlignRight)
        set_role(self.flag, "flag")
        self._lay_out()

    def set_compact(self, *, compact: bool) -> None:
        """Leave out all but name, utilisation and the bar: many devices fit beside each other."""
        self.setMinimumWidth(COMPACT_WIDTH_PX if compact else LEAST_WIDTH_PX)
        for widget in (self.memory, self.flag, *self.details.values()):
            widget.setVisible(not compact)

    def set_selected(self, *, selected: bool) -> None:
        """Mark the device that the plots are about."""
        if self.property("selected") != selected:
            self.setProperty("selected", selected)
            set_role(self, "card")

    def show_flag(self, words: str, sentence: str) -> None:
        """A few words of warning beside the figures, with the whole sentence on hover; or nothing."""
        self.flag.set_full_text(words)
        self.flag.setToolTip(sentence)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose this device."""
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self.key)

    def _lay_out(self) -> None:
        busy = QHBoxLayout()
        self.busy.setMinimumWidth(8 * GRID)
        busy.addWidget(self.busy)
        busy.addWidget(self.spark, 1)
        details = QHBoxLayout()
        details.setSpacing(GRID)
        for label in self.details.values():
            details.addWidget(label)
        details.addWidget(self.flag, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GRID, GRID, GRID, GRID)
        layout.setSpacing(GRID // 2)
        layout.addWidget(self.name)
        layout.addLayout(busy)
        layout.addWidget(self.memory)
        layout.addWidget(self.memory_bar)
        layout.addLayout(details)
        layout.addStretch(1)
