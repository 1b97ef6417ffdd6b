"""Sessions that are dropped on the window from a file manager."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from gpuscope.store.schema import SUFFIX


class SessionDrop(QObject):
    """Takes one session file at a time; what else is dropped is left to the widget below the pointer."""

    dropped = Signal(object)
    """Path of a session."""

    def __init__(self, window: QWidget) -> None:
        """Watch a window from now on."""
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept a session on its way, and report it when it is dropped."""
        if isinstance(event, (QDragEnterEvent, QDropEvent)):
            path = _session_in(event)
            if path is not None:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self.dropped.emit(path)
                return True
        return super().eventFilter(watched, event)


def _session_in(event: QDropEvent) -> Path | None:
    urls = event.mimeData().urls()
    path = Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
    return path if path is not None and path.suffix == SUFFIX else None
