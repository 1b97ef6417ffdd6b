"""Write the report of a session or of a typed-in model beside the window; one sentence when it is done or failed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from gpuscope.domain.base import to_json
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints
from gpuscope.engine.advise import advise
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.session import open_session
from gpuscope.errors import ReportError
from gpuscope.report.build import build_report
from gpuscope.report.build_without_session import build_estimate_report, build_mix_report
from gpuscope.report.write import write_report
from gpuscope.ui.background import Newest

FOOTPRINT_SUFFIX = ".footprint.json"


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
        target = self._ask(
            self.tr("Export the report"), str(session.with_suffix(".pdf")), self.tr("PDF (*.pdf);;JSON (*.json)")
        )
        if target is not None:
            self.write(session, constraints, target)

    def write(self, session: Path, constraints: Constraints, target: Path) -> None:
        """Write the report of a session; the target's suffix says which kind."""
        self.started.emit(self.tr("Writing {0}…").format(target.name))
        self._work.submit(lambda: _write(session, constraints, target))

    def ask_and_write_estimate(self, footprint: Footprint, constraints: Constraints) -> None:
        """Ask for a file name, then write there a typed-in model's report, or its footprint alone."""
        kinds = self.tr("Report (*.pdf);;Report as JSON (*.json);;Footprint (*.footprint.json)")
        target = self._ask(self.tr("Export the estimate"), "estimate.pdf", kinds)
        if target is not None:
            self.write_estimate(footprint, constraints, target)

    def ask_and_write_jobs(self, mix: MixRecommendation) -> None:
        """Ask for a file name, then write there the report of several jobs."""
        target = self._ask(self.tr("Export the report"), "jobs.pdf", self.tr("PDF (*.pdf);;JSON (*.json)"))
        if target is not None:
            self.write_jobs(mix, target)

    def write_jobs(self, mix: MixRecommendation, target: Path) -> None:
        """Write the report of several jobs."""
        self.started.emit(self.tr("Writing {0}…").format(target.name))
        self._work.submit(lambda: _write_jobs(mix, target))

    def _ask(self, title: str, name: str, kinds: str) -> Path | None:
        """A file to write, with the suffix of the chosen kind where none was typed.

        The dialog does not offer to replace a file: a report that is there may be signed, and is never replaced.
        """
        chosen, kind = QFileDialog.getSaveFileName(
            self._window, title, name, kinds, options=QFileDialog.Option.DontConfirmOverwrite
        )
        if not chosen:
            return None
        return with_suffix_of(Path(chosen), kind)

    def write_estimate(self, footprint: Footprint, constraints: Constraints, target: Path) -> None:
        """Write a typed-in model's footprint (`….footprint.json`), or its report in the format of the suffix."""
        self.started.emit(self.tr("Writing {0}…").format(target.name))
        if target.name.endswith(FOOTPRINT_SUFFIX):
            self._work.submit(lambda: _write_footprint(footprint, target))
        else:
            self._work.submit(lambda: _write_estimate(footprint, constraints, target))


def with_suffix_of(path: Path, kind: str) -> Path:
    """`decision` and `PDF (*.pdf)` → `decision.pdf`; a name with a suffix of its own stays."""
    return path if path.suffix else path.with_name(path.name + kind.partition("*")[2].removesuffix(")"))


def _write(session: Path, constraints: Constraints, target: Path) -> Path:
    with open_session(session) as reader:
        footprint = footprint_of(reader)
        write_report(build_report(reader, footprint, advise(footprint, constraints)), target)
    return target


def _write_footprint(footprint: Footprint, target: Path) -> Path:
    try:
        with target.open("xb") as file:
            file.write(to_json(footprint, indent=2) + b"\n")
    except FileExistsError as error:
        raise ReportError(f"{target} exists already: choose another name, nothing was overwritten.") from error
    except OSError as error:
        raise ReportError(f"{target} cannot be written ({error.strerror}): choose another file.") from error
    return target


def _write_estimate(footprint: Footprint, constraints: Constraints, target: Path) -> Path:
    write_report(build_estimate_report(footprint, advise(footprint, constraints)), target)
    return target


def _write_jobs(mix: MixRecommendation, target: Path) -> Path:
    write_report(build_mix_report(mix), target)
    return target
