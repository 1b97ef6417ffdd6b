"""Type in a model instead of measuring one: parameters or dimensions, precision, stage, optimizer."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from gpuscope.advisor.job.number_formats import DTYPES
from gpuscope.advisor.job.optimizers import OPTIMIZERS
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.base import Value
from gpuscope.domain.units import parse_count
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form.history import NOTE_MS, FormHistory
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.texts import ModelTexts
from gpuscope.ui.advisor.form.undo_keys import UndoKeys
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
    """Nothing is estimated until the number of parameters is there; Ctrl+Z undoes, as in the form of the needs."""

    changed = Signal()
    failed = Signal(str)
    """What was typed could not be kept; a sentence."""

    def __init__(self, store: PresetStore, parent: QWidget | None = None) -> None:
        """As it was left the last time."""
        super().__init__(parent)
        self._store = store
        self._setting = False
        self._grid = FieldGrid(self)
        self._parameters = QLineEdit()
        self._parameters.setPlaceholderText(self.tr("such as 7B or 350M"))
        self._dtype = _combo([(name, name) for name in DTYPES])
        self._stage = _combo([(self.tr("training"), TRAINING), (self.tr("inference"), INFERENCE)])
        self._optimizer = _combo([(name, name) for name in OPTIMIZERS])
        self._batch, self._sequence_length = QLineEdit(), QLineEdit()
        for line in (self._batch, self._sequence_length):
            line.setPlaceholderText(self.tr("not given"))
        self._lay_out()
        counts = {"parameters": self._parameters, "batch": self._batch, "sequence_length": self._sequence_length}
        self._lines = {**counts, **self._sizes}
        self._combos = {"dtype": self._dtype, "stage": self._stage, "optimizer": self._optimizer}
        self._fill(store.model)
        self._history = FormHistory(self.texts())
        self._pause = QTimer(self, singleShot=True, interval=NOTE_MS)
        self._pause.timeout.connect(self._note)
        self._follow()

    def _lay_out(self) -> None:
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

    def texts(self) -> ModelTexts:
        """What the fields hold."""
        lines = {name: line.text() for name, line in self._lines.items()}
        return ModelTexts(**lines, **{name: combo.currentData() for name, combo in self._combos.items()})

    def undo(self) -> None:
        """Go back one change."""
        self._note()
        self._show(self._history.undo())

    def redo(self) -> None:
        """Do again what was undone."""
        self._note()
        self._show(self._history.redo())

    def focus(self) -> None:
        """Put the cursor where typing begins."""
        self._parameters.setFocus()

    def is_empty(self) -> bool:
        """True before anything was typed that says how large the model is."""
        return not (self._parameters.text().strip() or any(line.text().strip() for line in self._sizes.values()))

    def read(self) -> EstimateInput | None:
        """The model; None when nothing was typed, or after showing what could not be understood."""
        self._keep()
        if self.is_empty():
            self._grid.show_problems({})
            self._dimensions.show_problems({})
            return None
        problems: dict[str, str] = {}
        names = ("parameters", "batch", "sequence_length")
        counts = {name: self._count(name, self._lines[name].text(), problems) for name in names}
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

    def _follow(self) -> None:
        """From now on every change is one of the person's."""
        for line in self._lines.values():
            line.textChanged.connect(self._on_edited)
        self._stage.currentIndexChanged.connect(self._on_stage)
        for combo in self._combos.values():
            combo.currentIndexChanged.connect(self._on_edited)
        UndoKeys((*self._lines.values(), *self._combos.values()), self.undo, self.redo, self)
        self._on_stage()

    def _on_edited(self) -> None:
        if not self._setting:
            self._pause.start()
            self.changed.emit()

    def _note(self) -> None:
        self._pause.stop()
        self._history.note(self.texts())

    def _show(self, texts: ModelTexts) -> None:
        if texts != self.texts():
            self._fill(texts)
            self.changed.emit()

    def _fill(self, texts: ModelTexts) -> None:
        self._setting = True
        for name, line in self._lines.items():
            line.setText(getattr(texts, name))
        for name, combo in self._combos.items():
            combo.setCurrentIndex(max(0, combo.findData(getattr(texts, name))))
        self._setting = False

    def _keep(self) -> None:
        try:
            self._store.keep_model(self.texts())
        except UsageError as error:
            self.failed.emit(str(error))

    def _on_stage(self) -> None:
        self._grid.set_shown("optimizer", shown=self._stage.currentData() == TRAINING)


def _combo(choices: list[tuple[str, str]]) -> QComboBox:
    combo = QComboBox()
    for text, value in choices:
        combo.addItem(text, value)
    return combo
