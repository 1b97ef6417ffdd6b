"""A form whose fields stand side by side as the width allows, each with its label above and its mistake below."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

CELL_MINIMUM_WIDTH = 16 * GRID


@dataclass(slots=True)
class _Field:
    cell: QWidget
    title: QLabel
    problem: QLabel
    widget: QWidget
    wide: bool


class FieldGrid(QWidget):
    """Fields by name, in the order added; Tab goes through them in that order.

    A label's mnemonic (`&Deadline`) moves the focus to its field.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `add`."""
        super().__init__(parent)
        self._fields: dict[str, _Field] = {}
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(GRID // 2)

    def add(self, name: str, label: str, widget: QWidget, *, wide: bool = False, explanation: str = "") -> None:
        """Append a field; a wide one takes a line of its own, one without a label shows only the widget.

        The explanation is for hovering and F1.
        """
        cell = QWidget(self)
        cell.setWhatsThis(explanation)
        cell.setToolTip(explanation)
        if explanation and not widget.toolTip():
            widget.setToolTip(explanation)
        column = QVBoxLayout(cell)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        title = QLabel(label, cell)
        set_role(title, "muted")
        title.setBuddy(widget)
        title.setVisible(bool(label))
        problem = WrappingLabel(cell)
        set_role(problem, "trouble")
        problem.hide()
        widget.setParent(cell)
        widget.setSizePolicy(QSizePolicy.Policy.Ignored, widget.sizePolicy().verticalPolicy())
        if not widget.accessibleName():
            widget.setAccessibleName(label.replace("&", ""))
        for part in (title, widget, problem):
            column.addWidget(part)
        column.addStretch()
        if self._fields:
            QWidget.setTabOrder(list(self._fields.values())[-1].widget, widget)
        self._fields[name] = _Field(cell, title, problem, widget, wide)
        self._arrange(force=True)

    def set_label(self, name: str, label: str) -> None:
        """Change a field's label."""
        self._fields[name].title.setText(label)
        self._fields[name].widget.setAccessibleName(label.replace("&", ""))

    def set_shown(self, name: str, *, shown: bool) -> None:
        """Show or hide a field; the others close up."""
        if self._fields[name].cell.isHidden() is shown:
            self._fields[name].cell.setVisible(shown)
            self._arrange(force=True)

    def show_problems(self, problems: dict[str, str]) -> None:
        """Put each sentence under its field and take away the others; names of other forms' fields are ignored."""
        for name, field in self._fields.items():
            sentence = problems.get(name, "")
            field.problem.setText(sentence)
            field.problem.setVisible(bool(sentence))
            field.widget.setAccessibleDescription(sentence)

    def focus_first_problem(self, problems: dict[str, str]) -> bool:
        """Move the focus to the first field with a mistake; False when there is none here."""
        for name, field in self._fields.items():
            if name in problems:
                field.widget.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
        return False

    def minimumSizeHint(self) -> QSize:
        """One column is enough."""
        return QSize(CELL_MINIMUM_WIDTH, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use as many columns as there is room for."""
        super().resizeEvent(event)
        self._arrange()

    def _balanced_columns(self) -> int:
        """As many columns as there is room for, but no more than fill all lines evenly."""
        room = max(1, (self.width() + GRID) // (CELL_MINIMUM_WIDTH + GRID))
        narrow = sum(not field.wide and not field.cell.isHidden() for field in self._fields.values())
        lines = max(1, -(-narrow // room))
        return max(1, -(-narrow // lines))

    def _arrange(self, *, force: bool = False) -> None:
        columns = self._balanced_columns()
        if columns == self._columns and not force:
            return
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 0)
        self._columns = columns
        row = column = 0
        for field in self._fields.values():
            if field.cell.isHidden():
                self._grid.removeWidget(field.cell)  # it would keep the columns of an earlier width
                continue
            if field.wide and column:
                row, column = row + 1, 0
            self._grid.addWidget(field.cell, row, column, 1, columns if field.wide else 1, Qt.AlignmentFlag.AlignTop)
            column += columns if field.wide else 1
            if column >= columns:
                row, column = row + 1, 0
        for column in range(columns):
            self._grid.setColumnStretch(column, 1)
        self.updateGeometry()
