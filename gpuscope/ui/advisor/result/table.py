"""The ranked candidates as a sortable table."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from gpuscope.domain.recommendation import Candidate, Recommendation
from gpuscope.ui.advisor.result.cells import Cell, Column, cell, header
from gpuscope.ui.advisor.result.money import Money
from gpuscope.ui.figures import DASH

CELL_ROLE = Qt.ItemDataRole.UserRole
"""The `Cell` behind an index."""
SCALE_ROLE = Qt.ItemDataRole.UserRole + 1
"""(low, high) of the scale on which a range is drawn, the same for all figures that can be compared."""
RECOMMENDED_ROLE = Qt.ItemDataRole.UserRole + 2
"""True in the row of the recommended candidate."""

BEST_CANDIDATES = 5
"""As many as are read at first."""

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


Rows = list[list[Cell]]
"""A line for each candidate, a cell for each column."""


def rows_of(recommendation: Recommendation) -> Rows:
    """The cells of all candidates: of hundreds this takes longer than a frame, so it is done beside the window."""
    money = Money.of(recommendation.constraints.economics)
    return [[cell(candidate, column, money) for column in Column] for candidate in recommendation.candidates]


class CandidateModel(QAbstractTableModel):
    """One row a candidate, in the advisor's order until a column is chosen to sort by."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Empty until `show` is called."""
        super().__init__(parent)
        self._candidates: tuple[Candidate, ...] = ()
        self._cells: list[list[Cell]] = []
        self._order: list[int] = []
        self._recommended: int | None = None
        self._scales: dict[tuple[str, Column], tuple[float, float]] = {}

    def show(self, recommendation: Recommendation, rows: Rows | None = None) -> None:
        """Replace all rows; `rows` are those of `rows_of`, where they have been worked out already."""
        self.beginResetModel()
        self._candidates = recommendation.candidates
        self._recommended = recommendation.recommended
        self._cells = rows_of(recommendation) if rows is None else rows
        self._order = list(range(len(self._candidates)))
        self._scales = self._common_scales()
        self.endResetModel()

    def candidate_number(self, row: int) -> int:
        """Index into the recommendation's candidates of what is shown in a row."""
        return self._order[row]

    def row_of(self, candidate_number: int) -> int:
        """The row in which a candidate is shown."""
        return self._order.index(candidate_number)

    def is_empty(self, column: Column) -> bool:
        """Whether a column says nothing of the best candidates."""
        return all(row[column].text == DASH for row in self._cells[:BEST_CANDIDATES])

    def longest(self, column: Column, count: int) -> list[Cell]:
        """The cells of a column that have the most characters: the widest is among them."""
        return sorted((row[column] for row in self._cells), key=_characters, reverse=True)[:count]

    def knows(self, column: Column) -> bool:
        """Whether a column says anything of any candidate."""
        return any(row[column].text != DASH for row in self._cells)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of candidates."""
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Number of columns, always the same."""
        return 0 if parent.isValid() else len(Column)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, tooltip, alignment and what the delegate draws."""
        if not index.isValid():
            return None
        candidate_number = self._order[index.row()]
        shown = self._cells[candidate_number][index.column()]
        recommended = candidate_number == self._recommended
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return shown.text if not shown.unit else f"{shown.text} {shown.unit}"
            case Qt.ItemDataRole.ToolTipRole:
                return shown.tooltip
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment(Column(index.column()))
            case Qt.ItemDataRole.FontRole if recommended and index.column() == Column.CONFIGURATION:
                font = QFont()
                font.setBold(True)
                return font
            case role if role == CELL_ROLE:
                return shown
            case role if role == SCALE_ROLE:
                return self._scales.get(self._scale_key(candidate_number, Column(index.column())))
            case role if role == RECOMMENDED_ROLE:
                return recommended
            case _:
                return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Titles and their meaning; rows are not numbered."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        title, meaning = header(Column(section))
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title
            case Qt.ItemDataRole.ToolTipRole:
                return meaning
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment(Column(section))
            case _:
                return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, unknown figures last either way; column −1 is the advisor's own order."""
        self.layoutAboutToBeChanged.emit()
        before = list(self._order)
        self._order = sorted(range(len(self._candidates)))
        if column >= 0:
            keys = {number: self._cells[number][column].sort_key for number in self._order}
            known = [number for number in self._order if keys[number] is not None]
            unknown = [number for number in self._order if keys[number] is None]
            known.sort(key=lambda number: keys[number], reverse=order is Qt.SortOrder.DescendingOrder)  # type: ignore[arg-type,return-value]  # one column's keys are of one type
            self._order = known + unknown
        for index in self.persistentIndexList():
            moved = self._order.index(before[index.row()])
            self.changePersistentIndex(index, self.index(moved, index.column()))
        self.layoutChanged.emit()

    def _scale_key(self, candidate_number: int, column: Column) -> tuple[str, Column]:
        """A purchase price and the rent for one job are not on one scale."""
        bought = column is Column.COST and self._candidates[candidate_number].acquisition == "buy"
        return "buy" if bought else "", column

    def _common_scales(self) -> dict[tuple[str, Column], tuple[float, float]]:
        scales: dict[tuple[str, Column], tuple[float, float]] = {}
        for number, row in enumerate(self._cells):
            for column in Column:
                value = row[column].range
                if value is not None:
                    key = self._scale_key(number, column)
                    scales[key] = (0.0, max(value.high, scales.get(key, (0.0, 0.0))[1]))
        return scales

    def as_tsv(self) -> str:
        """The whole table as tab-separated text with a header line, in the order shown; unknown is empty."""
        lines = ["\t".join(header(column)[0] for column in Column)]
        for number in self._order:
            row = self._cells[number]
            first = f"{row[0].text} ({row[0].note})" if row[0].note else row[0].text
            lines.append("\t".join([first, *(shown.plain for shown in row[1:])]))
        return "\n".join(lines) + "\n"


def _characters(shown: Cell) -> int:
    return max(len(shown.text) + len(shown.unit), len(shown.note))


def alignment(column: Column) -> Qt.AlignmentFlag:
    """Figures are right-aligned, words left-aligned."""
    words = column in {Column.CONFIGURATION, Column.CONFIDENCE}
    return (Qt.AlignmentFlag.AlignLeft if words else Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter
