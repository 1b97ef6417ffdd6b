"""What the window offers while no session is open: three large actions."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from gpuscope.ui.theme import GRID, set_role


class Welcome(QWidget):
    """Run a script, try it without a GPU, open a session."""

    run_chosen = Signal()
    estimate_chosen = Signal()
    open_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Three buttons, each with a line about what comes of it."""
        super().__init__(parent)
        layout = QGridLayout(self)
        layout.setContentsMargins(GRID, GRID // 2, GRID, GRID)
        layout.setHorizontalSpacing(2 * GRID)
        layout.setVerticalSpacing(GRID // 2)
        self.run = QPushButton(self.tr("Run a training script"), self)
        self.estimate = QPushButton(self.tr("Estimate without a GPU"), self)
        self.open = QPushButton(self.tr("Open a session"), self)
        explained = (
            (self.run, self.tr("Measures what it really uses, then says what to get."), self.run_chosen),
            (self.estimate, self.tr("From the number of parameters alone, by formulas."), self.estimate_chosen),
            (self.open, self.tr("A finished run, or one that is still going."), self.open_chosen),
        )
        for column, (button, text, signal) in enumerate(explained):
            set_role(button, "large")
            button.clicked.connect(signal)
            label = QLabel(text, self)
            label.setWordWrap(True)
            set_role(label, "muted")
            layout.addWidget(button, 0, column)
            layout.addWidget(label, 1, column)
            layout.setColumnStretch(column, 1)
