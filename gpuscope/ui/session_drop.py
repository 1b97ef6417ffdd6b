"""What is dropped or pasted on the window: a session is opened, logs and texts of logs are imported."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QKeyEvent, QKeySequence
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
    text_pasted = Signal(str)
    """Something that may be a log, pasted where no text is being edited."""

    def __init__(self, window: QWidget) -> None:
        """Watch a window from now on."""
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept files on their way, and report them when they are dropped, or pasted as texts are."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.matches(QKeySequence.StandardKey.Paste) and self._paste(QGuiApplication.clipboard().mimeData()):
                return True
        elif isinstance(event, (QDragEnterEvent, QDropEvent)):
            paths = _files_in(event.mimeData())
            if _fit_together(paths):
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self._report(paths)
                return True
        return super().eventFilter(watched, event)

    def _paste(self, data: QMimeData | None) -> bool:
        """Take files or a text; False: it is neither. None stands for an empty clipboard."""
        if data is None:
            return False
        paths = _files_in(data)
        if _fit_together(paths):
            self._report(paths)
        elif data.hasText() and not data.hasUrls() and data.text().strip():
            self.text_pasted.emit(data.text())
        else:
            return False
        return True

    def _report(self, paths: list[Path]) -> None:
        if paths[0].suffix == SUFFIX:
            self.dropped.emit(paths[0])
        else:
            self.logs_dropped.emit(paths)


def _fit_together(paths: list[Path]) -> bool:
    """Whether files are one of any kind, or several logs."""
    return len(paths) == 1 or (len(paths) > 1 and all(path.suffix != SUFFIX for path in paths))


def _files_in(data: QMimeData) -> list[Path]:
    """All files; none when one of them is elsewhere, a folder, or a script."""
    urls = data.urls()
    paths = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    unfit = len(paths) < len(urls) or any(path.suffix.lower() in _SCRIPTS or path.is_dir() for path in paths)
    return [] if unfit else paths
