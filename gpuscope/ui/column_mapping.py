"""A dialog for tables that nobody knows: what each column is taken for, to be corrected and confirmed."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpuscope.engine.unknown_tables import UnknownTable
from gpuscope.importers.by_index import INDEX_NAME
from gpuscope.importers.mapped_csv import FIELDS, IGNORED, SECONDS_NAME, TIME_NAME
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, set_role

translate = QCoreApplication.translate

START_SIZE = (760, 480)
_MOST_CHARACTERS = 200
"""Of a name or a value that is shown."""
_NAME, _VALUES, _MEANING = range(3)


class ColumnMappingDialog(QDialog):
    """Each column with its first values and what it is; `meanings` is what the person left or chose."""

    def __init__(self, table: UnknownTable, parent: QWidget | None = None) -> None:
        """Filled with what the columns are taken for."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("What are the columns? – gpuscope"))
        self.resize(*START_SIZE)
        self._names = table.names
        self.columns = QTableWidget(len(table.names), 3, self)
        self.columns.setHorizontalHeaderLabels([self.tr("Column"), self.tr("First values"), self.tr("What it is")])
        self.columns.setAccessibleName(self.tr("Columns of the table"))
        self.columns.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.columns.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.columns.setTabKeyNavigation(False)
        self.columns.verticalHeader().hide()
        header = self.columns.horizontalHeader()
        for section in (_NAME, _VALUES):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_MEANING, QHeaderView.ResizeMode.ResizeToContents)
        self.choices = [self._add_row(table, row) for row in range(len(table.names))]
        self.problem = QLabel(self.tr("Choose at least one column that is a figure of a GPU."), self)
        set_role(self.problem, "muted")
        self._lay_out(table)
        self._check()

    def meanings(self) -> dict[str, str]:
        """What each column is: a field, `time`, `seconds` or `ignore` (importers.mapped_csv)."""
        return {name: str(choice.currentData()) for name, choice in zip(self._names, self.choices, strict=True)}

    def _add_row(self, table: UnknownTable, row: int) -> QComboBox:
        values = ", ".join(cells[row] for cells in table.rows)
        for column, text in ((_NAME, table.names[row]), (_VALUES, values)):
            item = QTableWidgetItem(text[:_MOST_CHARACTERS])
            item.setFlags(Qt.ItemFlag.ItemIsEnabled)
            item.setToolTip(as_plain(text[:_MOST_CHARACTERS]))
            self.columns.setItem(row, column, item)
        choice = QComboBox(self.columns)
        for meaning, label in meaning_labels().items():
            choice.addItem(label, meaning)
        choice.setCurrentIndex(choice.findData(table.meanings[row]))
        choice.setAccessibleName(self.tr("What {0} is").format(table.names[row][:_MOST_CHARACTERS]))
        choice.currentIndexChanged.connect(self._check)
        self.columns.setCellWidget(row, _MEANING, choice)
        return choice

    def _lay_out(self, table: UnknownTable) -> None:
        sentence = self.tr(
            "gpuscope does not know the table {0}. Its columns were guessed: correct what is wrong. It is remembered "
            "for tables with the same columns."
        )
        label = QLabel(sentence.format(table.path.name), self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.import_button = self.buttons.addButton(self.tr("&Import"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.import_button.setDefault(True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[2 * GRID] * 4)
        layout.setSpacing(GRID)
        layout.addWidget(label)
        layout.addWidget(self.columns, 1)
        layout.addWidget(self.problem)
        layout.addWidget(self.buttons)

    def _check(self) -> None:
        """Without any figure of a GPU there is nothing to import."""
        has_figure = any(meaning in FIELDS for meaning in self.meanings().values())
        self.problem.setVisible(not has_figure)
        self.import_button.setEnabled(has_figure)


def meaning_labels() -> dict[str, str]:
    """What a column can be, in the order in which it is offered, in words."""
    labels = {
        IGNORED: translate("ColumnMapping", "not read"),
        TIME_NAME: translate("ColumnMapping", "date and time"),
        SECONDS_NAME: translate("ColumnMapping", "seconds since the beginning"),
        INDEX_NAME: translate("ColumnMapping", "number of the GPU"),
        "utilization_gpu_percent": translate("ColumnMapping", "GPU utilisation (%)"),
        "utilization_memory_percent": translate("ColumnMapping", "memory controller's utilisation (%)"),
        "memory_used_bytes": translate("ColumnMapping", "memory used"),
        "memory_total_bytes": translate("ColumnMapping", "memory in total"),
        "memory_free_bytes": translate("ColumnMapping", "memory free"),
        "power_w": translate("ColumnMapping", "power"),
        "power_limit_w": translate("ColumnMapping", "power limit"),
        "energy_j": translate("ColumnMapping", "energy (J)"),
        "temperature_c": translate("ColumnMapping", "temperature (°C)"),
        "temperature_memory_c": translate("ColumnMapping", "memory temperature (°C)"),
        "clock_sm_mhz": translate("ColumnMapping", "SM clock (MHz)"),
        "clock_memory_mhz": translate("ColumnMapping", "memory clock (MHz)"),
        "fan_percent": translate("ColumnMapping", "fan (%)"),
        "encoder_percent": translate("ColumnMapping", "encoder (%)"),
        "decoder_percent": translate("ColumnMapping", "decoder (%)"),
    }
    return {**labels, **{field: field for field in FIELDS if field not in labels}}
