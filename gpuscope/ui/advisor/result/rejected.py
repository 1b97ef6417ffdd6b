"""The configurations that are out, and why."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from gpuscope.domain.recommendation import Rejected
from gpuscope.ui import theme
from gpuscope.ui.advisor.result.cells import configuration_name

translate = QCoreApplication.translate


class RejectedList(QTreeWidget):
    """Grouped by reason, the most frequent first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_rejected`."""
        super().__init__(parent)
        self._rejected: tuple[Rejected, ...] = ()
        self.setWhatsThis(self.tr("Every configuration of the catalogue that is no candidate, by the reason."))
        self.setAccessibleName(self.tr("Rejected configurations"))
        self.setHeaderLabels([self.tr("Configuration"), self.tr("Why not")])
        self.setIndentation(2 * theme.GRID)
        self.setUniformRowHeights(True)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.header().setStretchLastSection(True)

    def show_rejected(self, rejected: tuple[Rejected, ...]) -> None:
        """Replace the list."""
        self._rejected = rejected
        self.clear()
        groups: dict[str, list[Rejected]] = {}
        for each in rejected:
            groups.setdefault(each.reason_code, []).append(each)
        for code, members in sorted(groups.items(), key=lambda group: -len(group[1])):
            top = QTreeWidgetItem([f"{_title(code)} ({len(members)})", ""])
            self.addTopLevelItem(top)
            top.setFirstColumnSpanned(True)
            for each in members:
                item = QTreeWidgetItem([configuration_name(each.gpu, each.gpu_name, each.count), each.reason])
                item.setForeground(1, QBrush(QColor(theme.colours_of(self).muted)))
                item.setToolTip(1, each.reason)
                item.setTextAlignment(0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                top.addChild(item)
        if len(groups) == 1:
            self.expandAll()

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._rejected:
            self.show_rejected(self._rejected)


def _title(code: str) -> str:
    return {
        "memory": translate("Advisor", "Too little memory"),
        "unknown_memory": translate("Advisor", "Memory not known"),
        "deadline": translate("Advisor", "Too slow for the deadline"),
        "budget": translate("Advisor", "Over the budget"),
        "budget_per_hour": translate("Advisor", "Over the budget an hour"),
        "power": translate("Advisor", "Over the power limit"),
        "vendor": translate("Advisor", "Another vendor"),
        "provider": translate("Advisor", "Another provider"),
        "region": translate("Advisor", "Another region"),
        "no_offer": translate("Advisor", "No offer known"),
        "precision": translate("Advisor", "Precision not supported"),
        "dominated": translate("Advisor", "Beaten in time and in cost"),
    }.get(code, code.replace("_", " ").capitalize())
