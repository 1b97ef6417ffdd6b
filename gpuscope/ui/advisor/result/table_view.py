"""The table of candidates as a view: sorting, choosing a row, copying, fewer columns where there is less room."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from gpuscope.domain.recommendation import Recommendation
from gpuscope.ui.advisor.result.cells import SERVICE_COLUMNS, Column
from gpuscope.ui.advisor.result.range_delegate import ROW_HEIGHT, RangeDelegate, cell_width
from gpuscope.ui.advisor.result.table import CandidateModel, Rows
from gpuscope.ui.theme import GRID

CONFIGURATION_WIDTHS = (19 * GRID, 28 * GRID)
FIGURE_MINIMUM_WIDTH = 9 * GRID
_FIRST_SHOWN = (
    Column.CONFIGURATION,
    Column.TIME,
    *SERVICE_COLUMNS,
    Column.COST,
    Column.FIT,
    Column.STEP_TIME,
    Column.COST_PER_HOUR,
    Column.ENERGY,
    Column.CONFIDENCE,
)
"""Columns in the order in which they get room; one that says nothing of the best comes after the others."""
_WORK_COLUMNS = (Column.TIME, Column.STEP_TIME, Column.ENERGY)
"""They say nothing of a service that has no end."""
_MEASURED_CELLS = 12
"""Measuring texts takes time: the widest of a column is among those with the most characters."""


class CandidateTable(QTableView):
    """Shows a recommendation's candidates; columns that have no room are hidden, the explanation still has them."""

    chosen = Signal(int)
    """Number of the candidate in the row that was chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_recommendation`."""
        super().__init__(parent)
        self._figure_widths: dict[Column, int] = {}
        self._by_importance: tuple[Column, ...] = tuple(
            column for column in _FIRST_SHOWN if column not in SERVICE_COLUMNS
        )
        self.candidates = CandidateModel(self)
        self.setModel(self.candidates)
        self.setItemDelegate(RangeDelegate(self))
        self.setAccessibleName(self.tr("Ranked configurations"))
        self.setWhatsThis(
            self.tr(
                "The configurations that come into question, the best first; the recommended one has a coloured edge. "
                "Bars are ranges in which the true value lies 9 times in 10, with a mark at the middle. "
                "Click a title to sort; once more for the other way, once more for the order of the ranking. "
                "Ctrl+C copies the whole table."
            )
        )
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        head = self.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head.setHighlightSections(False)
        head.setSortIndicatorClearable(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self.selectionModel().selectionChanged.connect(self._report_choice)
        copy = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self.copy_all)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)

    def show_recommendation(self, recommendation: Recommendation, rows: Rows | None = None) -> None:
        """Replace the rows, keep the sorting; `rows` are those of `rows_of`, where they are there already."""
        self.candidates.show(recommendation, rows)
        head = self.horizontalHeader()
        self.candidates.sort(head.sortIndicatorSection(), head.sortIndicatorOrder())
        self._figure_widths = {column: self._figure_width(column) for column in Column}
        self._by_importance = tuple(sorted(self._of_use(), key=self.candidates.is_empty))
        self._share_width()

    def choose(self, candidate_number: int) -> None:
        """Select a candidate's row and scroll to it."""
        row = self.candidates.row_of(candidate_number)
        self.selectRow(row)
        self.scrollTo(self.candidates.index(row, 0))

    def copy_all(self) -> None:
        """Put the whole table on the clipboard as tab-separated text."""
        QGuiApplication.clipboard().setText(self.candidates.as_tsv())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out again."""
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        """Columns get room in the order of their importance; what is left over goes to the first."""
        free = self.viewport().width()
        widths: dict[Column, int] = {}
        for column in self._by_importance:
            width = self._wanted_width(column)
            if widths and width > free:
                break
            widths[column] = width
            free -= width
        for column in Column:
            self.setColumnHidden(column, column not in widths)
            if column in widths:
                extra = max(free, 0) if column is Column.CONFIGURATION else 0
                self.setColumnWidth(column, widths[column] + extra)

    def _of_use(self) -> list[Column]:
        """Columns that belong to this kind of answer: of a service, or of work with an end."""
        knows = self.candidates.knows
        if any(knows(column) for column in SERVICE_COLUMNS):
            return [column for column in _FIRST_SHOWN if column not in _WORK_COLUMNS or knows(column)]
        return [column for column in _FIRST_SHOWN if column not in SERVICE_COLUMNS]

    def _wanted_width(self, column: Column) -> int:
        if column is Column.CONFIGURATION:
            least, most = CONFIGURATION_WIDTHS
            return min(max(least, self.viewport().width() * 3 // 10), most)
        return self._figure_widths.get(column, FIGURE_MINIMUM_WIDTH)

    def _figure_width(self, column: Column) -> int:
        """Looks at every row, so once for each recommendation, not for each resize."""
        head = self.horizontalHeader().sectionSizeHint(column)
        return max(FIGURE_MINIMUM_WIDTH, cell_width(self.candidates.longest(column, _MEASURED_CELLS)), head)

    def _report_choice(self, selected: QItemSelection) -> None:
        rows = selected.indexes()
        if rows:
            self.chosen.emit(self.candidates.candidate_number(rows[0].row()))

    def _show_menu(self, position: object) -> None:
        menu = QMenu(self)
        menu.addAction(self.tr("&Copy table"), self.copy_all)
        menu.exec(self.viewport().mapToGlobal(position))  # type: ignore[call-overload]  # Qt's signal hands over a QPoint
        menu.deleteLater()
