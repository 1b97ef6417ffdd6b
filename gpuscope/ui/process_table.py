"""The processes on the GPUs and of the workload, as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gpuscope.domain.reasons import REASON_SENTENCES
from gpuscope.domain.sample import ProcessSample
from gpuscope.ui import figures
from gpuscope.ui.theme import GRID, Size, font

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
SORT_ROLE = Qt.ItemDataRole.UserRole
SHOWN_ROWS = 6
"""Rows to make room for at most; more scroll."""
ROW_HEIGHT_PX = 3 * GRID
NAME_COLUMN = 1
NAME_WIDTH_PX = 12 * GRID
SM_COLUMN = 9
GPU_MEMORY_COLUMN = 4
_BY_IMPORTANCE = (0, NAME_COLUMN, 5, 6, GPU_MEMORY_COLUMN, SM_COLUMN, 3, 2, 7, 8, 11, 10)
"""Columns in the order in which they get room."""


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    text: Callable[[ProcessSample], str]
    order: Callable[[ProcessSample], float | str | None]
    field: str
    numeric: bool = True
    meaning: str = ""


class ProcessModel(QAbstractTableModel):
    """One row a process; rows keep their place while the same processes are there."""

    def __init__(self, parent: QObject | None = None) -> None:
        """No processes."""
        super().__init__(parent)
        self._rows: list[ProcessSample] = []
        self._places: dict[int, str] = {}
        self._columns = [
            _Column(self.tr("PID"), lambda p: str(p.pid), lambda p: p.pid, "pid"),
            _Column(self.tr("Name"), lambda p: p.name or figures.DASH, lambda p: p.name, "name", numeric=False),
            _Column(self.tr("User"), lambda p: p.user or figures.DASH, lambda p: p.user, "user", numeric=False),
            _Column(self.tr("GPU"), self._place, self._place, "gpu", numeric=False),
            _Column(
                self.tr("GPU memory"),
                lambda p: _text(figures.memory(p.gpu_memory_bytes)),
                lambda p: p.gpu_memory_bytes,
                "gpu_memory_bytes",
            ),
            _Column(
                self.tr("CPU"), lambda p: _text(figures.percent(p.cpu_percent)), lambda p: p.cpu_percent, "cpu_percent"
            ),
            _Column(
                self.tr("Memory"), lambda p: _text(figures.memory(p.rss_bytes)), lambda p: p.rss_bytes, "rss_bytes"
            ),
            _Column(
                self.tr("Reads"),
                lambda p: _text(figures.rate(p.read_bytes_per_s)),
                lambda p: p.read_bytes_per_s,
                "read_bytes_per_s",
            ),
            _Column(
                self.tr("Writes"),
                lambda p: _text(figures.rate(p.write_bytes_per_s)),
                lambda p: p.write_bytes_per_s,
                "write_bytes_per_s",
            ),
            *self._driver_columns(),
        ]

    def _driver_columns(self) -> list[_Column]:
        return [
            _Column(
                self.tr("GPU share"),
                lambda p: _text(figures.percent(p.sm_percent)),
                lambda p: p.sm_percent,
                "sm_percent",
                meaning=self.tr(
                    "Share of a GPU's time in which kernels of the process ran, over the driver's own window; on "
                    "several GPUs added up. Processes that take turns can add up to less than the GPU's utilisation."
                ),
            ),
            _Column(
                self.tr("Started"),
                lambda p: _moment(p.started_wall_s),
                lambda p: p.started_wall_s,
                "started_wall_s",
                meaning=self.tr("When the process began, in this computer's time zone."),
            ),
            _Column(
                self.tr("Kind"),
                lambda p: p.kind or figures.DASH,
                lambda p: p.kind,
                "kind",
                numeric=False,
                meaning=self.tr(
                    "compute: has a CUDA context on the GPU; graphics: draws on it; workload: a member of the run's "
                    "own process tree."
                ),
            ),
        ]

    def show_processes(self, processes: list[tuple[ProcessSample, str]]) -> None:
        """Replace the rows; each process comes with the GPUs it is on, as text."""
        rows = [process for process, _ in processes]
        places = {process.pid: place for process, place in processes}
        if [row.pid for row in rows] != [row.pid for row in self._rows]:
            self.beginResetModel()
            self._rows, self._places = rows, places
            self.endResetModel()
        elif (rows, places) != (self._rows, self._places):
            self._rows, self._places = rows, places
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(self._columns) - 1))

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Processes."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Column titles, aligned like the column."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].title
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._columns[section].meaning or None
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, sort key, alignment, and as tooltip why a figure is unknown."""
        process, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(process)
        if role == SORT_ROLE:
            value = column.order(process)
            return value if value is not None else (-1.0 if column.numeric else "")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            reason = process.unavailable.get(column.field)
            return REASON_SENTENCES[reason] if reason is not None else None
        return None

    def _place(self, process: ProcessSample) -> str:
        return self._places.get(process.pid) or figures.DASH

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self._columns[column].numeric else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


class ProcessTable(QTableView):
    """Sorted by GPU memory at first; a click on a title sorts by that column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self.processes = ProcessModel(self)
        proxy = QSortFilterProxyModel(self)
        proxy.setSourceModel(self.processes)
        proxy.setSortRole(SORT_ROLE)
        proxy.setDynamicSortFilter(True)
        self.setModel(proxy)
        self.setSortingEnabled(True)
        self.sortByColumn(GPU_MEMORY_COLUMN, Qt.SortOrder.DescendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)  # Tab leaves the table instead of going round in it
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT_PX)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(NAME_COLUMN, QHeaderView.ResizeMode.Stretch)
        header.moveSection(SM_COLUMN, GPU_MEMORY_COLUMN + 1)
        self.setFont(font(Size.SMALL))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        proxy.modelReset.connect(self._fit_rows)
        self._fit_rows()
        self.setWhatsThis(
            self.tr(
                "Processes that the driver sees on the GPUs, and the workload's own tree. CPU is percent of one core; "
                "rates are since the last reading."
            )
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the columns that have no room."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        free = self.viewport().width()
        for column in _BY_IMPORTANCE:
            self.showColumn(column)  # a hidden one would ask for no width
        for place, column in enumerate(_BY_IMPORTANCE):
            title = self.horizontalHeader().sectionSizeHint(column)
            free -= NAME_WIDTH_PX if column == NAME_COLUMN else max(title, self.sizeHintForColumn(column))
            self.setColumnHidden(column, place > 1 and free < 0)

    def _fit_rows(self) -> None:
        self._fit_columns()
        rows = min(SHOWN_ROWS, max(1, self.processes.rowCount()))
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + rows * ROW_HEIGHT_PX + 4)


def _moment(wall_s: float | None) -> str:
    """`14:05` today, else with the day before it: `03-21 14:05`."""
    if wall_s is None:
        return figures.DASH
    moment = datetime.fromtimestamp(wall_s)  # noqa: DTZ006 - a person reads it, in this computer's time zone
    today = moment.date() == datetime.now().date()  # noqa: DTZ005 - likewise
    return f"{moment:%H:%M}" if today else f"{moment:%m-%d %H:%M}"


def _text(figure: figures.Figure) -> str:
    return f"{figure.number} {figure.unit}".strip()
