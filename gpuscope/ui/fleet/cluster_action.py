"""The window's action that opens machines of a Prometheus server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuscope.ui.settings import WindowSettings

if TYPE_CHECKING:
    from gpuscope.ui.fleet.cluster_dialog import ClusterDialog


class ClusterAction(QObject):
    """Keeps one dialog, which is made when it is first asked for.

    Attributes:
        dialog: None as long as nobody asked.
    """

    opened = Signal(object)
    """Path of a session that was made."""

    def __init__(self, window: QWidget, settings: WindowSettings) -> None:
        """The dialog will belong to the window."""
        super().__init__(window)
        self._window, self._settings = window, settings
        self.dialog: ClusterDialog | None = None

    def show(self) -> None:
        """Show the dialog."""
        if self.dialog is None:
            from gpuscope.ui.fleet.cluster_dialog import ClusterDialog

            self.dialog = ClusterDialog(self._settings, self._window)
            self.dialog.opened.connect(self.opened)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def close(self) -> None:
        """Close it, and end what it is doing."""
        if self.dialog is not None:
            self.dialog.close()
