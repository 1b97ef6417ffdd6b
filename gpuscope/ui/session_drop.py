"""Files that are dropped on the window from a file manager: a session is opened, logs are imported."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from gpuscope.store.schema import SUFFIX

_SCRIPTS = frozenset({".py", ".ipynb", ".sh"})
"""What is run, not read."""


class SessionDrop(QObject):
    """Takes one session or any number of logs; what else is dropped is left to the widget below the pointer."""

    dropped = Signal(object)
    """Path of a session."""
    logs_dropped = Signal(object)
    """Paths of files that may be logs of one run."""

    def __init__(self, window: QWidget) -> None:
        """Watch a window from now on."""
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept files on their way, and report them when they are dropped."""
        if isinstance(event, (QDragEnterEvent, QDropEvent)):
            paths = _files_in(event)
            sessions = [path for path in paths if path.suffix == SUFFIX]
            if len(paths) == 1 or (paths and not sessions):
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self._report(paths, is_session=bool(sessions))
                return True
        return super().eventFilter(watched, event)

    def _report(self, paths: list[Path], *, is_session: bool) -> None:
        if is_session:
            self.dropped.emit(paths[0])
        else:
            self.logs_dropped.emit(paths)


def _files_in(event: QDropEvent) -> list[Path]:
    """All files; none when one of them is elsewhere, a folder, or a script."""
    urls = event.mimeData().urls()
    paths = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    unfit = len(paths) < len(urls) or any(path.suffix.lower() in _SCRIPTS or path.is_dir() for path in paths)
    return [] if unfit else paths
