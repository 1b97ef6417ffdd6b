"""Type in a model instead of measuring one: parameters, precision, stage, optimizer."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from gpuscope.advisor.job.number_formats import DTYPES
from gpuscope.advisor.job.optimizers import OPTIMIZERS
from gpuscope.domain.base import Value
from gpuscope.domain.units import parse_count
from gpuscope.errors import UsageError
from gpuscope.ui.widgets.field_grid import FieldGrid

TRAINING, INFERENCE = "training", "inference"


class EstimateInput(Value, frozen=True, kw_only=True):
    """A model as typed in."""

    parameters: int
    dtype: str
    stage: str
    optimizer: str | None
    """None for inference."""
    batch: int | None = None
    """Sequences in a step; None: not said."""
    sequence_length: int | None = None


class EstimateForm(QWidget):
    """Nothing is estimated until the number of parameters is there."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._grid = FieldGrid(self)
        self._parameters = QLineEdit()
        self._parameters.setPlaceholderText(self.tr("such as 7B or 350M"))
        self._dtype = _combo([(name, name) for name in DTYPES])
        self._stage = _combo([(self.tr("training"), TRAINING), (self.tr("inference"), INFERENCE)])
        self._optimizer = _combo([(name, name) for name in OPTIMIZERS])
        self._batch, self._sequence_length = QLineEdit(), QLineEdit()
        for line in (self._batch, self._sequence_length):
            line.setPlaceholderText(self.tr("not given"))
        self._grid.add("parameters", self.tr("Para&meters"), self._parameters)
        self._grid.add("dtype", self.tr("Stored as"), self._dtype)
        self._grid.add("stage", self.tr("Used for"), self._stage)
        self._grid.add("optimizer", self.tr("Optimi&zer"), self._optimizer)
        self._grid.add("batch", self.tr("Se&quences in a step"), self._batch)
        self._grid.add("sequence_length", self.tr("Tokens in a sequence"), self._sequence_length)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._grid)
        for line in (self._parameters, self._batch, self._sequence_length):
            line.textChanged.connect(self.changed)
        self._stage.currentIndexChanged.connect(self._on_stage)
        for combo in (self._dtype, self._stage, self._optimizer):
            combo.currentIndexChanged.connect(self.changed)

    def focus(self) -> None:
        """Put the cursor where typing begins."""
        self._parameters.setFocus()

    def is_empty(self) -> bool:
        """True before anything was typed."""
        return not self._parameters.text().strip()

    def read(self) -> EstimateInput | None:
        """The model; None when nothing was typed, or after showing what could not be understood."""
        if self.is_empty():
            self._grid.show_problems({})
            return None
        problems: dict[str, str] = {}
        lines = {"parameters": self._parameters, "batch": self._batch, "sequence_length": self._sequence_length}
        counts = {name: self._count(name, line.text(), problems) for name, line in lines.items()}
        self._grid.show_problems(problems)
        parameters = counts["parameters"]
        if problems or parameters is None:
            return None
        training = self._stage.currentData() == TRAINING
        return EstimateInput(
            parameters=parameters,
            dtype=self._dtype.currentData(),
            stage=self._stage.currentData(),
            optimizer=self._optimizer.currentData() if training else None,
            batch=counts["batch"],
            sequence_length=counts["sequence_length"],
        )

    def _count(self, name: str, text: str, problems: dict[str, str]) -> int | None:
        if not text.strip():
            return None
        try:
            count = parse_count(text)
            if count < 1:
                raise UsageError(self.tr("It must be at least 1."))
        except UsageError as error:
            problems[name] = str(error)
            return None
        return count

    def _on_stage(self) -> None:
        self._grid.set_shown("optimizer", shown=self._stage.currentData() == TRAINING)


def _combo(choices: list[tuple[str, str]]) -> QComboBox:
    combo = QComboBox()
    for text, value in choices:
        combo.addItem(text, value)
    return combo
