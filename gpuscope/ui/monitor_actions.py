"""What a person does in the Monitor besides looking: markers, pictures, tables, the machine's topology."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog

from gpuscope.ui.monitor_export import MonitorExport
from gpuscope.ui.monitor_markers import Marker
from gpuscope.ui.session_status import clock_text

if TYPE_CHECKING:
    from gpuscope.ui.main_window import MainWindow
    from gpuscope.ui.topology_dialog import TopologyDialog


NEAR_S = 1e-6
"""A marker this near to the middle is the one that is shown already."""


class MonitorActions(QObject):
    """The actions; menus and keys call them.

    Attributes:
        topology: the dialog; None as long as nobody asked for it.
    """

    said = Signal(str)
    """A sentence for the status bar."""
    failed = Signal(str)
    """A sentence that has to be seen."""

    def __init__(self, window: MainWindow) -> None:
        """The window has the Monitor and the session."""
        super().__init__(window)
        self._window = window
        self._panel = window.monitor_panel
        self.topology: TopologyDialog | None = None
        self._export = MonitorExport(window)
        self._export.started.connect(self.said)
        self._export.written.connect(self._say_written)
        self._export.failed.connect(self.failed)

    def save_picture(self) -> None:
        """Ask for a name, and save the plots as they are seen now."""
        self._export.ask_for_picture(self._panel.pictured, self._own_path())

    def export_table(self) -> None:
        """Ask for a name, and write the readings of the stretch that the plots show."""
        path = self._window.session.path
        if path is None:
            self.said.emit(self.tr("There is no session to export."))
            return
        self._export.ask_for_table(path, self._panel.shown_span)

    def set_marker(self) -> None:
        """Ask for a few words, and put them at the cursor, or else at the newest reading."""
        if self._panel.model is None:
            self.said.emit(self.tr("There is no session to put a marker in."))
            return
        t = self._panel.marked_moment_s()
        title = self.tr("Set a marker")
        text, given = QInputDialog.getText(self._window, title, self.tr("What happens at {0}?").format(clock_text(t)))
        if given and text.strip():
            self.add_marker(t, text.strip())

    def add_marker(self, t: float, text: str) -> None:
        """Keep a note at a session time, for as long as the session is open."""
        if self._panel.model is not None:
            self._panel.model.markers.add(Marker(t, text, own=True))
            self._panel.refresh()

    def next_marker(self) -> None:
        """Put the next marker into the middle of the plots."""
        self._go_to_marker(backwards=False)

    def previous_marker(self) -> None:
        """Put the marker before into the middle of the plots."""
        self._go_to_marker(backwards=True)

    def show_topology(self) -> None:
        """Show how GPUs and network cards of the session's machine are connected."""
        if self.topology is None:
            from gpuscope.ui.topology_dialog import TopologyDialog

            self.topology = TopologyDialog(self._window)
        self.topology.look_at(self._window.session.path)

    def _go_to_marker(self, *, backwards: bool) -> None:
        panel, model = self._panel, self._panel.model
        if model is None:
            return
        start_s, end_s = panel.view.span(model.end_s)
        half_s = (end_s - start_s) / 2
        outermost_s = model.end_s + NEAR_S if backwards else -NEAR_S
        from_s = start_s + half_s if panel.view.zoomed else outermost_s
        marker = model.markers.next_after(from_s + (-NEAR_S if backwards else NEAR_S), backwards=backwards)
        if marker is None:
            self.said.emit(self.tr("There is no marker further on."))
            return
        panel.zoom_to(marker.t - half_s, marker.t + half_s)
        self.said.emit(panel.strip.line(marker))

    def _own_path(self) -> Path | None:
        """Where the session is, if it is one of the person's."""
        return None if self._window.session.monitor_only else self._window.session.path

    def _say_written(self, path: Path) -> None:
        self.said.emit(self.tr("{0} is written.").format(path))
