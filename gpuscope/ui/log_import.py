"""Logs of other programs: read beside the window into a session of their own, which is then opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from gpuscope.engine.explain_oom import explain, read_text
from gpuscope.engine.import_files import import_to_sessions_folder, is_session
from gpuscope.errors import UsageError
from gpuscope.ui.background import Newest


class OutOfMemoryText(NamedTuple):
    """A file that is no recording, but holds out-of-memory messages."""

    text: str


Read = Callable[[Sequence[Path]], Path | OutOfMemoryText]
"""Files of one run → the session that was made of them."""


class LogImport(QObject):
    """One import at a time; a newer one takes its place."""

    started = Signal(str)
    """A sentence."""
    imported = Signal(object)
    """Path of the session."""
    out_of_memory = Signal(str)
    """Text of a file that holds out-of-memory messages instead of samples."""
    failed = Signal(str)
    """A sentence."""

    def __init__(self, parent: QWidget, read: Read | None = None) -> None:
        """The parent is the window that the file dialog belongs to; `read` stands for the engine in tests."""
        super().__init__(parent)
        self._window = parent
        self._read = read or read_files
        self._work = Newest(self)
        self._work.finished.connect(self._on_read)
        self._work.failed.connect(self.failed)

    @property
    def busy(self) -> bool:
        """True while files are being read."""
        return self._work.busy

    def ask(self) -> None:
        """Ask for one or more files and import them."""
        names, _ = QFileDialog.getOpenFileNames(self._window, self.tr("Import logs of one run"))
        if names:
            self.take([Path(name) for name in names])

    def take(self, files: Sequence[Path]) -> None:
        """Import files of one run."""
        if len(files) == 1:
            self.started.emit(self.tr("Reading {0}…").format(files[0].name))
        else:
            self.started.emit(self.tr("Reading {0} files…").format(len(files)))
        self._work.submit(lambda: self._read(files))

    def forget(self) -> None:
        """Something else is looked at now; a session that is made all the same stands in the list of recent ones."""
        self._work.forget()

    def _on_read(self, found: Path | OutOfMemoryText) -> None:
        if isinstance(found, OutOfMemoryText):
            self.out_of_memory.emit(found.text)
        else:
            self.imported.emit(found)


def read_files(files: Sequence[Path]) -> Path | OutOfMemoryText:
    """The session that files of one run become; a session under another name is opened as it is.

    Raises:
        UsageError, SessionError: a file cannot be read, holds no samples, or the session cannot be written.
    """
    if len(files) == 1 and is_session(files[0]):
        return files[0]
    try:
        session, _ = import_to_sessions_folder(files)
    except UsageError:
        if len(files) == 1 and explain(text := read_text(str(files[0]))).messages:
            return OutOfMemoryText(text)
        raise
    return session
