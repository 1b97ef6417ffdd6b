"""Write the report of a session beside the window, with one sentence when it is done or failed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from gpuscope.domain.recommendation import Constraints
from gpuscope.engine.advise import advise
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.session import open_session
from gpuscope.report.build import build_report
from gpuscope.report.write import write_report
from gpuscope.ui.background import Newest


class ReportExport(QObject):
    """One report at a time."""

    started = Signal(str)
    """A sentence."""
    written = Signal(object)
    """Path of the report."""
    failed = Signal(str)
    """A sentence."""

    def __init__(self, parent: QWidget) -> None:
        """The parent is the window that the file dialog belongs to."""
        super().__init__(parent)
        self._window = parent
        self._work = Newest(self)
        self._work.finished.connect(self.written)
        self._work.failed.connect(self.failed)

    def ask_and_write(self, session: Path, constraints: Constraints) -> None:
        """Ask for a file name, then write there what is advised under these constraints."""
        name, _ = QFileDialog.getSaveFileName(
            self._window,
            self.tr("Export the report"),
            str(session.with_suffix(".pdf")),
            self.tr("PDF (*.pdf);;JSON (*.json)"),
        )
        if name:
            self.write(session, constraints, Path(name))

    def write(self, session: Path, constraints: Constraints, target: Path) -> None:
        """Write the report of a session; the target's suffix says which kind."""
        self.started.emit(self.tr("Writing {0}…").format(target.name))
        self._work.submit(lambda: _write(session, constraints, target))


def _write(session: Path, constraints: Constraints, target: Path) -> Path:
    with open_session(session) as reader:
        footprint = footprint_of(reader)
        write_report(build_report(reader, footprint, advise(footprint, constraints)), target)
    return target
