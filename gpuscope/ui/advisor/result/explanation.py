"""Why a candidate's figures are what they are: the tree of values, formulas and where they come from; copyable."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QBrush, QColor, QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpuscope.domain.recommendation import Explanation
from gpuscope.ui import theme
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, Size, set_role
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

_NAME, _VALUE, _HOW = range(3)
_EXPLANATION = Qt.ItemDataRole.UserRole
NAME_MINIMUM_WIDTH = 15 * theme.GRID
VALUE_MINIMUM_WIDTH = 9 * theme.GRID
OPEN_LEVELS = 1
"""So many levels are unfolded at first."""


class ExplanationTree(QTreeWidget):
    """One line a figure; the figures it is made of are under it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `explain`."""
        super().__init__(parent)
        self._explanation: Explanation | None = None
        self.setWhatsThis(
            self.tr(
                "Each figure of the chosen configuration, with the figures that it is made of, the formula, and where "
                "it comes from: measured, derived, assumed, or the catalogue. The line that is chosen is written out "
                "below. Ctrl+C copies it with everything under it."
            )
        )
        self.setAccessibleName(self.tr("Explanation of the chosen configuration"))
        self.setHeaderLabels([self.tr("Figure"), self.tr("Value"), self.tr("How it is known")])
        self.headerItem().setTextAlignment(_VALUE, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setIndentation(2 * theme.GRID)
        self.setUniformRowHeights(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        copy = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self.copy_chosen)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        head = self.header()
        head.setStretchLastSection(True)
        head.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Interactive)
        head.setSectionResizeMode(_VALUE, QHeaderView.ResizeMode.Interactive)

    def explain(self, explanation: Explanation | None) -> None:
        """Show the explanation of one candidate; None empties the tree."""
        self._explanation = explanation
        self.clear()
        if explanation is None:
            return
        roots = explanation.inputs if explanation.inputs else (explanation,)
        for part in roots:
            self.addTopLevelItem(self._item(part))
        self.expandToDepth(OPEN_LEVELS - 1)
        self._share_width()

    def chosen(self) -> Explanation | None:
        """The figure in the chosen line."""
        item = self.currentItem()
        found: Explanation | None = None if item is None else item.data(_NAME, _EXPLANATION)
        return found

    def copy_chosen(self) -> None:
        """Put the chosen figure with all it is made of on the clipboard; without a choice, everything."""
        explanation = self.chosen() or self._explanation
        if explanation is not None:
            QGuiApplication.clipboard().setText(as_text(explanation))

    def copy_all(self) -> None:
        """Put the whole tree on the clipboard."""
        if self._explanation is not None:
            QGuiApplication.clipboard().setText(as_text(self._explanation))

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.topLevelItemCount():
            self.explain(self._explanation)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out again."""
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        """Names and values get what they need, but no more than leaves room for the others."""
        for column, share in ((_NAME, 0.4), (_VALUE, 0.3)):
            needed = max(self.sizeHintForColumn(column), NAME_MINIMUM_WIDTH if column == _NAME else VALUE_MINIMUM_WIDTH)
            self.setColumnWidth(column, min(needed, max(int(self.viewport().width() * share), NAME_MINIMUM_WIDTH)))

    def _item(self, explanation: Explanation) -> QTreeWidgetItem:
        how = " · ".join(part for part in (explanation.formula, explanation.provenance) if part)
        item = QTreeWidgetItem([explanation.name, explanation.value, how])
        item.setData(_NAME, _EXPLANATION, explanation)
        item.setTextAlignment(_VALUE, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setFont(_HOW, theme.font(Size.SMALL))
        item.setForeground(_HOW, QBrush(QColor(theme.colours_of(self).muted)))
        item.setToolTip(_NAME, as_plain(explanation.name))
        item.setToolTip(_VALUE, as_plain(explanation.value))
        whole = "\n".join(part for part in (explanation.formula, explanation.provenance) if part)
        item.setToolTip(_HOW, as_plain(whole))
        for part in explanation.inputs:
            item.addChild(self._item(part))
        return item

    def _show_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction(self.tr("&Copy this figure and its parts"), self.copy_chosen)
        menu.addAction(self.tr("Copy &all"), self.copy_all)
        menu.addSeparator()
        menu.addAction(self.tr("&Unfold everything"), self.expandAll)
        menu.addAction(self.tr("&Fold everything"), self.collapseAll)
        menu.exec(self.viewport().mapToGlobal(position))
        menu.deleteLater()


def as_text(explanation: Explanation, depth: int = 0) -> str:
    """A figure and what it is made of as indented text."""
    pad = "  " * depth
    lines = [f"{pad}{explanation.name}: {explanation.value}" if explanation.value else f"{pad}{explanation.name}"]
    lines += [f"{pad}  = {explanation.formula}"] if explanation.formula else []
    lines += [f"{pad}  [{explanation.provenance}]"] if explanation.provenance else []
    return "\n".join([*lines, *(as_text(part, depth + 1) for part in explanation.inputs)])


class ExplanationPage(QWidget):
    """The tree, and below it the chosen line in full."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self.tree = ExplanationTree(self)
        self.detail = WrappingLabel(self)
        self.detail.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        set_role(self.detail, "small")
        self.detail.setContentsMargins(GRID, 0, GRID, GRID // 2)
        self.detail.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.tree, 1)
        column.addWidget(self.detail)
        self.tree.currentItemChanged.connect(self._say)

    def _say(self) -> None:
        found = self.tree.chosen()
        lines = [] if found is None else [f"{found.name}: {found.value}", found.formula, found.provenance]
        self.detail.setText("\n".join(line for line in lines if line))
        self.detail.setVisible(found is not None and bool(found.formula or found.provenance))
