"""Logs of other programs: read beside the window into a session of their own, which is then opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from gpuscope.engine.explain_oom import explain, read_text
from gpuscope.engine.import_files import ImportProgress, import_to_sessions_folder, is_session
from gpuscope.engine.unknown_tables import UnknownTable, say_what_it_is, unknown_table
from gpuscope.errors import UsageError
from gpuscope.ui.background import Newest
from gpuscope.ui.column_mapping import ColumnMappingDialog
from gpuscope.ui.import_progress import ImportProgressBar, ImportState

SHOW_AFTER_MS = 1000
"""What is read sooner needs no bar."""
PASTED_NAME = "pasted.txt"
"""Sessions are called after their files."""
LOOK_MS = 100
"""How often the bar moves."""


class OutOfMemoryText(NamedTuple):
    """A file that is no recording, but holds out-of-memory messages."""

    text: str


Found = Path | OutOfMemoryText | UnknownTable
"""The session that was made of files, or what else one of them is."""
Read = Callable[[Sequence[Path], frozenset[Path], ImportProgress], Found]
"""Files of one run, those whose columns the person has looked at, and who is told how far it is; see `read_files`."""


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
    cancelled = Signal(str)
    """A sentence."""

    def __init__(self, parent: QWidget, read: Read | None = None) -> None:
        """The parent is the window that the dialogs belong to; `read` stands for the engine in tests."""
        super().__init__(parent)
        self._window = parent
        self._read = read or read_files
        self._files: list[Path] = []
        self._looked_at: frozenset[Path] = frozenset()
        self._pasted: TemporaryDirectory[str] | None = None
        self._state = ImportState()
        self.bar = ImportProgressBar(parent)
        self.bar.cancel_requested.connect(self.cancel)
        self.dialog: ColumnMappingDialog | None = None
        """What the columns of a table are, while it is asked."""
        self._work = Newest(self)
        self._work.finished.connect(self._on_read)
        self._work.failed.connect(self._on_failed)
        self._wait = QTimer(self, singleShot=True, interval=SHOW_AFTER_MS)
        self._look = QTimer(self, interval=LOOK_MS)
        self._wait.timeout.connect(self._show_progress)
        self._wait.timeout.connect(self._look.start)
        self._look.timeout.connect(self._show_progress)

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
        self.forget()
        self._files, self._looked_at = list(files), frozenset()
        self._begin()

    def take_text(self, text: str) -> None:
        """Import a pasted text; it is kept in a file of its own until something else is taken."""
        folder = TemporaryDirectory(prefix="gpuscope-")
        path = Path(folder.name) / PASTED_NAME
        path.write_text(text, encoding="utf-8", errors="replace")
        self.take([path])
        self._pasted = folder

    def cancel(self) -> None:
        """Stop reading; nothing of it is left."""
        if self.busy:
            self.forget()
            self.cancelled.emit(self.tr("The import was cancelled: nothing was written."))

    def forget(self) -> None:
        """Something else is looked at now: what is being read is stopped, what was asked is no longer asked."""
        self._state.cancelled = True
        self._work.forget()
        self._end()
        self._drop_pasted()
        if self.dialog is not None:
            self.dialog.close()

    def _begin(self) -> None:
        files, looked_at, state = list(self._files), self._looked_at, ImportState()
        self._state = state
        if len(files) == 1:
            self.started.emit(self.tr("Reading {0}…").format(files[0].name))
        else:
            self.started.emit(self.tr("Reading {0} files…").format(len(files)))
        self._wait.start()
        self._work.submit(partial(self._read, files, looked_at, state.tell))

    def _show_progress(self) -> None:
        self.bar.show_state(self._state)

    def _end(self) -> None:
        self._wait.stop()
        self._look.stop()
        self.bar.put_away()

    def _drop_pasted(self) -> None:
        if self._pasted is not None:
            self._pasted.cleanup()
            self._pasted = None

    def _on_read(self, found: Found) -> None:
        self._end()
        if not isinstance(found, UnknownTable):
            self._drop_pasted()
        if isinstance(found, OutOfMemoryText):
            self.out_of_memory.emit(found.text)
        elif isinstance(found, UnknownTable):
            self._ask_columns(found)
        else:
            self.imported.emit(found)

    def _on_failed(self, sentence: str) -> None:
        self._end()
        self._drop_pasted()
        self.failed.emit(sentence)

    def _ask_columns(self, table: UnknownTable) -> None:
        self.started.emit("")
        self.dialog = ColumnMappingDialog(table, self._window)
        self.dialog.finished.connect(partial(self._on_columns, table))
        self.dialog.open()

    def _on_columns(self, table: UnknownTable, result: int) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is None:
            return
        dialog.deleteLater()
        if result == QDialog.DialogCode.Accepted:
            say_what_it_is(table, dialog.meanings())
            self._looked_at |= {table.path}
            self._begin()
        else:
            self._drop_pasted()


def read_files(files: Sequence[Path], looked_at: frozenset[Path], progress: ImportProgress) -> Found:
    """The session that files of one run become; a session under another name is opened as it is.

    Args:
        files: of one run.
        looked_at: tables of no known kind whose columns the person has confirmed; another is given back to be asked of.
        progress: is told how far it is; to cancel, it raises.

    Raises:
        UsageError, SessionError: a file cannot be read, holds no samples, or the session cannot be written.
    """
    if len(files) == 1 and is_session(files[0]):
        return files[0]
    for path in files:
        table = None if path in looked_at else unknown_table(path)
        if table is not None:
            return table
    try:
        session, _ = import_to_sessions_folder(files, progress=progress)
    except UsageError:
        if len(files) == 1 and explain(text := read_text(str(files[0]))).messages:
            return OutOfMemoryText(text)
        raise
    return session
