"""What the Advisor says while it has no answer: why, and what to do about it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

TEXT_WIDTH = 52 * GRID


class MessagePage(QWidget):
    """A title, a sentence, and at most one action."""

    so_far_requested = Signal()
    """Advise on what is known so far."""
    estimate_requested = Signal()
    """Type in a model."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until one of the `show_…` functions is called."""
        super().__init__(parent)
        self._title = WrappingLabel(self)
        set_role(self._title, "figure")
        self._text = WrappingLabel(self)
        for label in (self._title, self._text):
            label.setMaximumWidth(TEXT_WIDTH)
        self._so_far = QPushButton(self.tr("Advise on what is known so far"), self)
        self._estimate = QPushButton(self.tr("Type in a mode&l"), self)
        self._so_far.clicked.connect(self.so_far_requested)
        self._estimate.clicked.connect(self.estimate_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self._title)
        column.addWidget(self._text)
        for button in (self._so_far, self._estimate):
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            column.addWidget(button)
        column.addStretch(1)

    def show_nothing_yet(self) -> None:
        """There is no session and nothing is typed in."""
        self._show(
            self.tr("Nothing to advise on yet"),
            self.tr(
                "Advice rests on what a job really uses. Run a script in the Run panel or open a session; "
                "without either, type in a model and get a first estimate."
            ),
            estimate=True,
        )

    def show_running(self) -> None:
        """A session is still growing."""
        self._show(
            self.tr("The advice follows when the run has ended"),
            self.tr("After some steady steps the figures are good enough to advise on at once, with wider ranges."),
            so_far=True,
        )

    def show_working(self) -> None:
        """The run has ended; the answer is being worked out."""
        self._show(self.tr("Working out what to get…"), self.tr("This takes a moment."))

    def show_too_little(self, *, running: bool) -> None:
        """The session holds nothing of a job to advise on."""
        self._show(
            self.tr("Too little is known of the job"),
            self.tr("No step has been counted yet: try again after a few steps.")
            if running
            else self.tr("No step and no memory of it was measured. Run it for a few steps, or type in a model."),
            so_far=running,
            estimate=not running,
        )

    def show_typing_hint(self) -> None:
        """The estimate form is empty."""
        self._show(
            self.tr("How large is the model?"),
            self.tr(
                "Type the number of parameters. The estimate says how much memory the model needs; "
                "with the sequences in a step it also gives a rough time."
            ),
        )

    def show_jobs_hint(self) -> None:
        """There are no jobs in the table, or one of them has a mistake."""
        self._show(
            self.tr("Which jobs come again and again?"),
            self.tr(
                "Add sessions or footprints to the table and say how often a month each runs. The answer compares "
                "renting with machines that they share and with machines of their own."
            ),
        )

    def show_problem(self, sentence: str) -> None:
        """Something failed; the sentence says what to do."""
        self._show(self.tr("There is no advice"), sentence, estimate=True)

    def _show(self, title: str, text: str, *, so_far: bool = False, estimate: bool = False) -> None:
        self._title.setText(title)
        self._text.setText(text)
        self._so_far.setVisible(so_far)
        self._estimate.setVisible(estimate)
