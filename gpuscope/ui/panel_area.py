"""Where the panels live: side by side in a wide window, as tabs in a narrow one; movable, hideable, remembered."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStyle, QTabWidget, QWidget

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
        self._hidden_for_one: list[QDockWidget] = []
        self._front = self.run
        self._known_height = self._output_height = 0
        self._arrange(tabbed=False)
        self.output.hide()
        self.output.installEventFilter(self)

    @property
    def tabbed(self) -> bool:
        """True while the window is too narrow for three panels side by side."""
        return bool(self._tabbed)

    def toggle_actions(self) -> list[QAction]:
        """One checkable action for each panel, which shows or hides it."""
        return [dock.toggleViewAction() for dock in (self.run, self.monitor, self.advisor, self.output)]

    def reveal(self, dock: QDockWidget) -> None:
        """Show a panel, also when it is hidden or behind another tab."""
        first_output = dock is self.output and not self._output_height
        dock.show()
        dock.raise_()
        if dock is not self.output:
            self._front = dock
        if first_output:
            self._give_output(OUTPUT_HEIGHT_PX)

    def toggle_alone(self, dock: QDockWidget) -> None:
        """Hide the other panels, or bring back those that this had hidden."""
        others = [each for each in (self.run, self.monitor, self.advisor, self.output) if each is not dock]
        if self._hidden_for_one:
            for each in self._hidden_for_one:
                each.show()
            self._hidden_for_one = []
            if not self.tabbed:
                self._share_width()
        else:
            self._hidden_for_one = [each for each in others if not each.isHidden() and not each.isFloating()]
            for each in self._hidden_for_one:
                each.hide()
        self.reveal(dock)

    def save_layout(self) -> QByteArray:
        """Positions and sizes of the panels, with those that were hidden for one of them."""
        for each in self._hidden_for_one:
            each.show()
        self._hidden_for_one = []
        return self.saveState(LAYOUT_VERSION)

    def restore_layout(self, state: QByteArray) -> None:
        """Put the panels where they were; a layout of another version is ignored."""
        if self.restoreState(state, LAYOUT_VERSION):
            self._tabbed = bool(self.tabifiedDockWidgets(self.monitor))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember how high the output is, when it is not the window that changes it."""
        own = self.height() == self._known_height and not self.output.isFloating()
        if watched is self.output and event.type() == QEvent.Type.Resize and own:
            self._output_height = self.output.height()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Change between side by side and tabs; the output keeps its height, the panels take or give the difference."""
        super().resizeEvent(event)
        self._known_height = self.height()
        if self.output.isVisible() and self._output_height:
            wanted = self._output_height
            self._give_output(wanted)
            self._output_height = wanted  # also when there is no room for it at present
        tabbed = event.size().width() < TABS_BELOW_PX
        if tabbed != self._tabbed:
            self._arrange(tabbed=tabbed)

    def _give_output(self, height_px: int) -> None:
        """Set the output's height; Qt goes only half the way unless it is told about both sides of the boundary."""
        above = next((dock for dock in (self.run, self.monitor, self.advisor) if self._is_above_output(dock)), None)
        if above is not None and not self.output.isFloating():
            boundary_px = self.style().pixelMetric(QStyle.PixelMetric.PM_DockWidgetSeparatorExtent, None, self)
            heights = [self.height() - boundary_px - height_px, height_px]
            self.resizeDocks([above, self.output], heights, Qt.Orientation.Vertical)

    def _is_above_output(self, dock: QDockWidget) -> bool:
        shown = not dock.isHidden() and not dock.isFloating()
        return shown and self.dockWidgetArea(dock) is Qt.DockWidgetArea.TopDockWidgetArea

    def _dock(self, name: str, title: str, panel: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(name)
        dock.setWidget(panel)
        self.addDockWidget(area, dock)
        return dock

    def _arrange(self, *, tabbed: bool) -> None:
        """Side by side or as tabs; a panel that the person took out of the window is left where it is."""
        self._tabbed = tabbed
        docks = [dock for dock in (self.run, self.monitor, self.advisor) if not dock.isFloating()]
        hidden = [dock for dock in docks if dock.isHidden()]
        for dock in docks:
            self.removeDockWidget(dock)
        for dock in docks[:1]:
            self.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, dock)
        for before, dock in pairwise(docks):
            if tabbed:
                self.tabifyDockWidget(before, dock)
            else:
                self.splitDockWidget(before, dock, Qt.Orientation.Horizontal)
        for dock in docks:
            dock.setVisible(dock not in hidden)
            title = QWidget(dock) if tabbed else None  # a tab has its title already; None brings the usual one back
            dock.setTitleBarWidget(title)  # type: ignore[arg-type]  # the stubs do not know of None
        if tabbed:
            self._front.raise_()
        else:
            self._share_width()

    def _share_width(self) -> None:
        width = max(self.width(), TABS_BELOW_PX)
        side = min(420, max(272, width // 5))
        advisor = min(900, max(360, width * 34 // 100))
        docks, widths = [self.run, self.monitor, self.advisor], [side, width - side - advisor, advisor]
        self.resizeDocks(docks, widths, Qt.Orientation.Horizontal)
