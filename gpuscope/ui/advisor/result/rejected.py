"""The configurations that are out, and why; filtered by words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QBrush, QColor, QShowEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from gpuscope.domain.recommendation import Rejected
from gpuscope.ui import theme
from gpuscope.ui.advisor.result.cells import configuration_name
from gpuscope.ui.plain_text import as_plain

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
                item.setToolTip(1, as_plain(each.reason))
                item.setTextAlignment(0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                top.addChild(item)
        if len(groups) == 1:
            self.expandAll()

    def show_only(self, words: str) -> int:
        """Show only the lines that hold all of the words; returns how many those are."""
        wanted = words.lower().split()
        count = 0
        for top in self._children(self.invisibleRootItem()):
            members = self._children(top)
            for item in members:
                text = f"{top.text(0)} {item.text(0)} {item.text(1)}".lower()
                item.setHidden(not all(word in text for word in wanted))
            shown = sum(not item.isHidden() for item in members)
            top.setHidden(not shown)
            if wanted:
                top.setExpanded(bool(shown))
            count += shown
        return count

    @staticmethod
    def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
        children = (item.child(row) for row in range(item.childCount()))
        return [child for child in children if child is not None]

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._rejected:
            self.show_rejected(self._rejected)


class RejectedPage(QWidget):
    """A line to type in what is looked for, and the list."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until the list is shown something."""
        super().__init__(parent)
        self._waiting: tuple[Rejected, ...] | None = None
        self.list = RejectedList(self)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText(self.tr("Filter, such as L40S or memory"))
        self.filter.setAccessibleName(self.tr("Filter the rejected configurations"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self.list.show_only)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.GRID // 2, 0, 0)
        column.setSpacing(theme.GRID // 2)
        column.addWidget(self.filter)
        column.addWidget(self.list, 1)

    def show_rejected(self, rejected: tuple[Rejected, ...]) -> None:
        """Replace the list; the filter stays. The lines, hundreds of them, are made once somebody looks."""
        self._waiting = rejected
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        """Make the lines that nobody had looked at."""
        super().showEvent(event)
        self._fill()

    def _fill(self) -> None:
        if self._waiting is not None:
            self.list.show_rejected(self._waiting)
            self.list.show_only(self.filter.text())
            self._waiting = None


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
        "not_on_sale": translate("Advisor", "Not for sale"),
        "unknown_time": translate("Advisor", "Time not known"),
        "unknown_cost": translate("Advisor", "Cost not known"),
        "not_asked": translate("Advisor", "Not among those asked for"),
        "minimum_memory": translate("Advisor", "Less memory than asked for"),
        "serving": translate("Advisor", "Misses a target of the service"),
        "ecc": translate("Advisor", "Memory without ECC"),
        "form_factor": translate("Advisor", "Another form factor"),
        "interconnect": translate("Advisor", "Another interconnect"),
        "network": translate("Advisor", "Another network"),
        "licence": translate("Advisor", "Licence forbids data centres"),
        "residency": translate("Advisor", "Data may not be there"),
        "rack_power": translate("Advisor", "Too much power for the rack"),
        "throughput": translate("Advisor", "Too slow"),
        "fewer_gpus": translate("Advisor", "Fewer GPUs than the run used"),
    }.get(code, code.replace("_", " ").capitalize())
