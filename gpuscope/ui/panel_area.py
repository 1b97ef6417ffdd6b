"""Where the panels live: side by side in a wide window, as tabs in a narrow one; movable, hideable, remembered."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QWidget

TABS_BELOW_PX = 1200
OUTPUT_HEIGHT_PX = 144
LAYOUT_VERSION = 1
"""Raised when the panels change, so that a layout remembered by an older version is not applied."""


class PanelArea(QMainWindow):
    """Docks for Run, Monitor and Advisor, in this order, and one for the output below them."""

    def __init__(self, run: QWidget, monitor: QWidget, advisor: QWidget, output: QWidget, parent: QWidget) -> None:
        """The panels become children of this area."""
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.run = self._dock("run", self.tr("Run"), run, Qt.DockWidgetArea.TopDockWidgetArea)
        self.monitor = self._dock("monitor", self.tr("Monitor"), monitor, Qt.DockWidgetArea.TopDockWidgetArea)
        self.advisor = self._dock("advisor", self.tr("Advisor"), advisor, Qt.DockWidgetArea.TopDockWidgetArea)
        self.output = self._dock("output", self.tr("Output"), output, Qt.DockWidgetArea.BottomDockWidgetArea)
        self._tabbed: bool | None = None
        self._arrange(tabbed=False)
        self.output.hide()

    @property
    def tabbed(self) -> bool:
        """True while the window is too narrow for three panels side by side."""
        return bool(self._tabbed)

    def toggle_actions(self) -> list[QAction]:
        """One checkable action for each panel, which shows or hides it."""
        return [dock.toggleViewAction() for dock in (self.run, self.monitor, self.advisor, self.output)]

    def reveal(self, dock: QDockWidget) -> None:
        """Show a panel, also when it is hidden or behind another tab."""
        dock.show()
        dock.raise_()
        if self._tabbed is False and dock is self.output and dock.height() < OUTPUT_HEIGHT_PX // 2:
            self.resizeDocks([dock], [OUTPUT_HEIGHT_PX], Qt.Orientation.Vertical)

    def save_layout(self) -> QByteArray:
        """Positions and sizes of the panels."""
        return self.saveState(LAYOUT_VERSION)

    def restore_layout(self, state: QByteArray) -> None:
        """Put the panels where they were; a layout of another version is ignored."""
        if self.restoreState(state, LAYOUT_VERSION):
            self._tabbed = bool(self.tabifiedDockWidgets(self.monitor))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Change between side by side and tabs."""
        super().resizeEvent(event)
        tabbed = event.size().width() < TABS_BELOW_PX
        if tabbed != self._tabbed:
            self._arrange(tabbed=tabbed)

    def _dock(self, name: str, title: str, panel: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(name)
        dock.setWidget(panel)
        self.addDockWidget(area, dock)
        return dock

    def _arrange(self, *, tabbed: bool) -> None:
        self._tabbed = tabbed
        hidden = [dock for dock in (self.run, self.monitor, self.advisor) if dock.isHidden()]
        for dock in (self.run, self.monitor, self.advisor):
            self.removeDockWidget(dock)
        self.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, self.run)
        for before, dock in ((self.run, self.monitor), (self.monitor, self.advisor)):
            if tabbed:
                self.tabifyDockWidget(before, dock)
            else:
                self.splitDockWidget(before, dock, Qt.Orientation.Horizontal)
        for dock in (self.run, self.monitor, self.advisor):
            dock.setVisible(dock not in hidden)
        for dock in (self.run, self.monitor, self.advisor):
            title = QWidget(dock) if tabbed else None  # a tab has its title already; None brings the usual one back
            dock.setTitleBarWidget(title)  # type: ignore[arg-type]  # the stubs do not know of None
        if not tabbed:
            self._share_width()

    def _share_width(self) -> None:
        width = max(self.width(), TABS_BELOW_PX)
        side = min(420, max(272, width // 5))
        advisor = min(640, max(328, width // 4))
        docks, widths = [self.run, self.monitor, self.advisor], [side, width - side - advisor, advisor]
        self.resizeDocks(docks, widths, Qt.Orientation.Horizontal)
