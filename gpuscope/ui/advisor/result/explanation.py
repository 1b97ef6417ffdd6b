"""Why a candidate's figures are what they are: the tree of values, formulas and where they come from."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QBrush, QColor, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from gpuscope.domain.recommendation import Explanation
from gpuscope.ui import theme
from gpuscope.ui.theme import Size

_NAME, _VALUE, _HOW = range(3)
NAME_MINIMUM_WIDTH = 15 * theme.GRID
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
                "it comes from: measured, derived, assumed, or the catalogue."
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
        head = self.header()
        head.setStretchLastSection(True)
        head.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Interactive)
        head.setSectionResizeMode(_VALUE, QHeaderView.ResizeMode.ResizeToContents)

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
        """Names get what they need, but no more than leaves room for the values."""
        needed = max(self.sizeHintForColumn(_NAME), NAME_MINIMUM_WIDTH)
        self.setColumnWidth(_NAME, min(needed, max(self.viewport().width() * 2 // 5, NAME_MINIMUM_WIDTH)))

    def _item(self, explanation: Explanation) -> QTreeWidgetItem:
        how = " · ".join(part for part in (explanation.formula, explanation.provenance) if part)
        item = QTreeWidgetItem([explanation.name, explanation.value, how])
        item.setTextAlignment(_VALUE, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setFont(_HOW, theme.font(Size.SMALL))
        item.setForeground(_HOW, QBrush(QColor(theme.colours_of(self).muted)))
        item.setToolTip(_NAME, explanation.name)
        item.setToolTip(_VALUE, explanation.value)
        item.setToolTip(_HOW, "\n".join(part for part in (explanation.formula, explanation.provenance) if part))
        for part in explanation.inputs:
            item.addChild(self._item(part))
        return item
