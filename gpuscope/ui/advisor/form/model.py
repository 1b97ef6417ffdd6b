"""Type in a model instead of measuring one: parameters or dimensions, precision, stage, optimizer."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from gpuscope.advisor.job.number_formats import DTYPES
from gpuscope.advisor.job.optimizers import OPTIMIZERS
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.base import Value
from gpuscope.domain.units import parse_count
from gpuscope.errors import UsageError
from gpuscope.ui.theme import GRID
from gpuscope.ui.widgets.field_grid import FieldGrid
from gpuscope.ui.widgets.section import Section

TRAINING, INFERENCE = "training", "inference"


class EstimateInput(Value, frozen=True, kw_only=True):
    """A model as typed in."""

    parameters: int | None
    """None: as many as the dimensions make."""
    dtype: str
    stage: str
    optimizer: str | None
    """None for inference."""
    batch: int | None = None
    """Sequences in a step; None: not said."""
    sequence_length: int | None = None
    architecture: Architecture | None = None


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
        self._dimensions = FieldGrid()
        self._sizes: dict[str, QLineEdit] = {}
        for field, label, explanation in self._dimension_fields():
            self._sizes[field] = QLineEdit()
            self._dimensions.add(field, label, self._sizes[field], explanation=explanation)
        self._fold = Section(self.tr("Dimensions of a transformer"), self._dimensions)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self._grid)
        column.addWidget(self._fold)
        for line in (self._parameters, self._batch, self._sequence_length, *self._sizes.values()):
            line.textChanged.connect(self.changed)
        self._stage.currentIndexChanged.connect(self._on_stage)
        for combo in (self._dtype, self._stage, self._optimizer):
            combo.currentIndexChanged.connect(self.changed)

    def focus(self) -> None:
        """Put the cursor where typing begins."""
        self._parameters.setFocus()

    def is_empty(self) -> bool:
        """True before anything was typed that says how large the model is."""
        return not (self._parameters.text().strip() or any(line.text().strip() for line in self._sizes.values()))

    def read(self) -> EstimateInput | None:
        """The model; None when nothing was typed, or after showing what could not be understood."""
        if self.is_empty():
            self._grid.show_problems({})
            self._dimensions.show_problems({})
            return None
        problems: dict[str, str] = {}
        lines = {"parameters": self._parameters, "batch": self._batch, "sequence_length": self._sequence_length}
        counts = {name: self._count(name, line.text(), problems) for name, line in lines.items()}
        architecture = self._architecture(problems)
        if counts["parameters"] is None and architecture is not None and architecture.vocabulary_size is None:
            sentence = self.tr("Give the vocabulary, too, or the number of parameters.")
            problems.setdefault("vocabulary_size", sentence)
        self._grid.show_problems(problems)
        self._dimensions.show_problems(problems)
        if any(name in problems for name in self._sizes):
            self._fold.set_open(True)
        if problems:
            return None
        training = self._stage.currentData() == TRAINING
        return EstimateInput(
            parameters=counts["parameters"],
            dtype=self._dtype.currentData(),
            stage=self._stage.currentData(),
            optimizer=self._optimizer.currentData() if training else None,
            batch=counts["batch"],
            sequence_length=counts["sequence_length"],
            architecture=architecture,
        )

    def _architecture(self, problems: dict[str, str]) -> Architecture | None:
        """The dimensions; None when none was typed, or after noting what is missing."""
        sizes = {name: self._count(name, line.text(), problems) for name, line in self._sizes.items()}
        if not any(line.text().strip() for line in self._sizes.values()):
            return None
        layers, hidden_size = sizes.pop("layers"), sizes.pop("hidden_size")
        for name, size in (("layers", layers), ("hidden_size", hidden_size)):
            if size is None:
                problems.setdefault(name, self.tr("It is needed with the other dimensions."))
        if problems or layers is None or hidden_size is None:
            return None
        return Architecture(layers=layers, hidden_size=hidden_size, **sizes)  # type: ignore[arg-type]  # fields of counts

    def _dimension_fields(self) -> tuple[tuple[str, str, str], ...]:
        return (
            ("layers", self.tr("Layers"), self.tr("num_hidden_layers in the model's configuration file.")),
            ("hidden_size", self.tr("Width"), self.tr("hidden_size in the model's configuration file.")),
            ("attention_heads", self.tr("Attention heads"), self.tr("num_attention_heads.")),
            ("key_value_heads", self.tr("Key-value heads"),
             self.tr("num_key_value_heads: fewer than the heads with grouped-query attention.")),
            ("feed_forward_size", self.tr("Feed-forward width"), self.tr("intermediate_size.")),
            ("vocabulary_size", self.tr("Vocabulary"), self.tr("vocab_size: tokens that the model knows.")),
            ("experts", self.tr("Experts"), self.tr("Of a mixture of experts; empty: dense.")),
            ("experts_per_token", self.tr("Experts a token"), self.tr("Experts that each token passes through.")),
        )  # fmt: skip

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
