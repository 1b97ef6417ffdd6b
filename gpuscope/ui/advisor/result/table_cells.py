"""Plain read-only tables of figures, for the pages beside the ranked table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from gpuscope.ui import theme
from gpuscope.ui.figures import DASH
from gpuscope.ui.plain_text import as_plain


@dataclass(frozen=True, slots=True)
class Text:
    """What stands in a cell."""

    text: str
    tooltip: str = ""
    bold: bool = False


class FigureTable(QTableWidget):
    """Words to the left, figures to the right; Ctrl+C copies all of it as tab-separated text."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Empty; `name` is for screen readers."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(3 * theme.GRID)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        copy = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self.copy_all)

    def show_rows(self, titles: Sequence[Text], rows: Sequence[Sequence[Text]], *, stretched: int = 0) -> None:
        """Replace everything; the column `stretched` takes what room is left."""
        self.clear()
        self.setColumnCount(len(titles))
        self.setRowCount(len(rows))
        for column, title in enumerate(titles):
            item = QTableWidgetItem(title.text)
            item.setToolTip(title.tooltip)
            item.setTextAlignment(_alignment(column))
            self.setHorizontalHeaderItem(column, item)
        for number, row in enumerate(rows):
            for column, shown in enumerate(row):
                self.setItem(number, column, self._item(shown, column))
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        for column in range(len(titles)):
            stretch = column == stretched
            mode = QHeaderView.ResizeMode.Stretch if stretch else QHeaderView.ResizeMode.ResizeToContents
            head.setSectionResizeMode(column, mode)
        head.setMinimumSectionSize(6 * theme.GRID)

    def fit_height(self) -> None:
        """As high as its rows."""
        rows = sum(self.rowHeight(row) for row in range(self.rowCount()))
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + rows + bar + 4)

    def copy_all(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(self.as_tsv())

    def as_tsv(self) -> str:
        """Tab-separated text with a header line."""
        columns = range(self.columnCount())
        rows = [[self.horizontalHeaderItem(column) for column in columns]]
        rows += [[self.item(row, column) for column in columns] for row in range(self.rowCount())]
        lines = ["\t".join("" if cell is None else cell.text() for cell in row) for row in rows]
        return "\n".join(lines) + "\n"

    def _item(self, shown: Text, column: int) -> QTableWidgetItem:
        item = QTableWidgetItem(shown.text)
        item.setToolTip(as_plain(shown.tooltip))
        item.setTextAlignment(_alignment(column))
        if shown.text == DASH:
            item.setForeground(QColor(theme.colours_of(self).muted))
        if shown.bold:
            font = item.font()
            font.setBold(True)
            item.setFont(font)
        return item


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
