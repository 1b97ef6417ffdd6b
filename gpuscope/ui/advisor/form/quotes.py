"""Quotes that the person was offered: a small table to type in, with import from a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpuscope.advisor.cost.quotes import KINDS
from gpuscope.ui.advisor.form.texts import QuoteTexts
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

LIST_HEIGHT = 10 * GRID


class QuotesEditor(QWidget):
    """A list of quotes and the fields of the chosen one."""

    changed = Signal()
    import_requested = Signal(object)
    """Path of a file with quotes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No quotes."""
        super().__init__(parent)
        self._quotes: list[QuoteTexts] = []
        self._filling = False
        self._names: dict[str, str] = {}
        self.list = QListWidget(self)
        self.list.setFixedHeight(LIST_HEIGHT)
        self.list.setAccessibleName(self.tr("Quotes"))
        self.list.currentRowChanged.connect(self._on_row)
        self.add_button = QPushButton(self.tr("Add"), self)
        self.remove_button = QPushButton(self.tr("Remove"), self)
        self.import_button = QPushButton(self.tr("Import…"), self)
        self.import_button.setToolTip(self.tr("A CSV file with quotes, or a catalogue file of SkyPilot."))
        self.add_button.clicked.connect(self._add)
        self.remove_button.clicked.connect(self._remove)
        self.import_button.clicked.connect(self._ask_file)
        self.problem = WrappingLabel(self)
        set_role(self.problem, "trouble")
        self.problem.hide()
        self.changed.connect(self.problem.hide)
        self._make_fields()
        self._lay_out()
        self._on_row(-1)

    def offer_gpus(self, gpus: list[tuple[str, str]]) -> None:
        """The catalogue's GPUs as (id, name)."""
        self._filling = True
        chosen = self._gpu.currentData()
        self._names = dict(gpus)
        self._gpu.clear()
        for value, text in gpus:
            self._gpu.addItem(text, value)
        self._gpu.setCurrentIndex(self._gpu.findData(chosen))
        self._filling = False
        self._say()

    def quotes(self) -> tuple[QuoteTexts, ...]:
        """What was typed."""
        return tuple(self._quotes)

    def set_quotes(self, quotes: tuple[QuoteTexts, ...]) -> None:
        """Replace all; the same line stays chosen where there is one."""
        if tuple(self._quotes) == tuple(quotes):
            return
        row = self.list.currentRow()
        self._quotes = list(quotes)
        self._say()
        self.list.setCurrentRow(min(max(row, 0), len(quotes) - 1))
        self._on_row(self.list.currentRow())
        self.changed.emit()

    def add_quotes(self, quotes: tuple[QuoteTexts, ...]) -> None:
        """Append imported ones."""
        self.set_quotes((*self._quotes, *(quote for quote in quotes if quote not in self._quotes)))

    def show_problem(self, sentence: str) -> None:
        """Say why a file could not be imported, until something changes."""
        self.problem.setText(sentence)
        self.problem.show()

    def summary(self) -> str:
        """`2 quotes`, or nothing."""
        count = len(self._quotes)
        return "" if not count else self.tr("1 quote") if count == 1 else self.tr("{0} quotes").format(count)

    # -- construction ------------------------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self._gpu = QComboBox()
        self._kind = QComboBox()
        for kind, text in zip(
            KINDS, (self.tr("to buy"), self.tr("to rent, an hour"), self.tr("spot, an hour"),
                    self.tr("reserved, an hour")), strict=True,
        ):  # fmt: skip
            self._kind.addItem(text, kind)
        self._bare = QCheckBox(self.tr("without the machine around"))
        self._lines = {
            name: QLineEdit()
            for name in ("count", "price", "currency", "date", "valid_until", "vendor", "region", "note")
        }
        for line, hint in (("date", "2026-11-30"), ("valid_until", "2026-12-31"), ("currency", "USD"), ("count", "1")):
            self._lines[line].setPlaceholderText(hint)
        self._gpu.currentIndexChanged.connect(self._on_edited)
        self._kind.currentIndexChanged.connect(self._on_edited)
        self._bare.toggled.connect(self._on_edited)
        for line_edit in self._lines.values():
            line_edit.textEdited.connect(self._on_edited)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        for button in (self.add_button, self.remove_button, self.import_button):
            set_role(button, "compact")
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._fields = QWidget(self)
        form = QFormLayout(self._fields)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(GRID // 2)
        rows: tuple[tuple[str, QWidget], ...] = (
            (self.tr("GPU"), self._gpu), (self.tr("GPUs in it"), self._lines["count"]),
            (self.tr("What"), self._kind), (self.tr("Price"), self._lines["price"]),
            (self.tr("Currency"), self._lines["currency"]), (self.tr("Of the day"), self._lines["date"]),
            (self.tr("Valid until"), self._lines["valid_until"]), (self.tr("From"), self._lines["vendor"]),
            (self.tr("Region"), self._lines["region"]), (self.tr("Note"), self._lines["note"]),
        )  # fmt: skip
        for label, widget in rows:
            widget.setAccessibleName(label)
            widget.setMinimumWidth(4 * GRID)
            form.addRow(label, widget)
        form.addRow("", self._bare)
        self._gpu.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.list)
        column.addLayout(buttons)
        column.addWidget(self.problem)
        column.addWidget(self._fields)

    # -- what the person does ----------------------------------------------------------------------------------

    def _add(self) -> None:
        self._quotes.append(QuoteTexts(gpu=self._gpu.itemData(0) or ""))
        self._say()
        self.list.setCurrentRow(len(self._quotes) - 1)
        self._gpu.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def _remove(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._quotes):
            self.set_quotes(tuple(self._quotes[:row] + self._quotes[row + 1 :]))

    def _ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, self.tr("Import quotes"), "", self.tr("Tables (*.csv)"))
        if name:
            self.import_requested.emit(Path(name))

    def _on_edited(self) -> None:
        row = self.list.currentRow()
        if self._filling or not 0 <= row < len(self._quotes):
            return
        texts = {name: line.text() for name, line in self._lines.items()}
        self._quotes[row] = QuoteTexts(
            gpu=self._gpu.currentData() or self._quotes[row].gpu,
            kind=self._kind.currentData(),
            bare=self._bare.isChecked(),
            **texts,
        )
        self.list.item(row).setText(self._title(self._quotes[row]))
        self.changed.emit()

    def _on_row(self, row: int) -> None:
        there = 0 <= row < len(self._quotes)
        self._fields.setVisible(there)
        self.remove_button.setEnabled(there)
        if not there:
            return
        quote = self._quotes[row]
        self._filling = True
        self._gpu.setCurrentIndex(self._gpu.findData(quote.gpu))
        self._kind.setCurrentIndex(max(self._kind.findData(quote.kind), 0))
        self._bare.setChecked(quote.bare)
        for name, line in self._lines.items():
            line.setText(getattr(quote, name))
        self._filling = False

    def _say(self) -> None:
        self.list.blockSignals(True)  # noqa: FBT003 - Qt's own signature
        row = self.list.currentRow()
        self.list.clear()
        self.list.addItems([self._title(quote) for quote in self._quotes])
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)  # noqa: FBT003 - Qt's own signature

    def _title(self, quote: QuoteTexts) -> str:
        price = f"{quote.price} {quote.currency}".strip() if quote.price.strip() else self.tr("no price yet")
        name = self._names.get(quote.gpu, quote.gpu)
        parts = [f"{quote.count or 1} × {name}", self._kind.itemText(max(self._kind.findData(quote.kind), 0)), price]
        return " · ".join([*parts, *([quote.vendor] if quote.vendor else [])])
