"""Type in a model instead of measuring one: parameters, precision, stage, optimizer."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from gpuscope.domain.base import Value
from gpuscope.domain.units import parse_count
from gpuscope.errors import UsageError
from gpuscope.ui.widgets.field_grid import FieldGrid

TRAINING, INFERENCE = "training", "inference"
DTYPES = ("float32", "bfloat16", "float16")
OPTIMIZERS = ("adamw", "adam", "sgd")


class EstimateInput(Value, frozen=True, kw_only=True):
    """A model as typed in."""

    parameters: int
    dtype: str
    stage: str
    optimizer: str | None
    """None for inference."""


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
        self._grid.add("parameters", self.tr("Para&meters"), self._parameters)
        self._grid.add("dtype", self.tr("St&ored as"), self._dtype)
        self._grid.add("stage", self.tr("&Used for"), self._stage)
        self._grid.add("optimizer", self.tr("Optimi&zer"), self._optimizer)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._grid)
        self._parameters.textChanged.connect(self.changed)
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
        try:
            parameters = parse_count(self._parameters.text())
            if parameters < 1:
                raise UsageError(self.tr("A model has at least one parameter."))
        except UsageError as error:
            self._grid.show_problems({"parameters": str(error)})
            return None
        self._grid.show_problems({})
        training = self._stage.currentData() == TRAINING
        return EstimateInput(
            parameters=parameters,
            dtype=self._dtype.currentData(),
            stage=self._stage.currentData(),
            optimizer=self._optimizer.currentData() if training else None,
        )

    def _on_stage(self) -> None:
        self._grid.set_shown("optimizer", shown=self._stage.currentData() == TRAINING)


def _combo(choices: list[tuple[str, str]]) -> QComboBox:
    combo = QComboBox()
    for text, value in choices:
        combo.addItem(text, value)
    return combo
