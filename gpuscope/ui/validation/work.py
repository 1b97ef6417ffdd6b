"""The validation beside the window: it takes minutes, says how far it is, and can be stopped with what there is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.summary import Figures, figures_of
from gpuscope.engine import validate
from gpuscope.engine.validate import OwnRuns, ValidationReport
from gpuscope.ui.background import Newest

LOOK_MS = 200

Run = Callable[
    [Callable[[], bool], Callable[[int, int, str], None], Callable[[Sequence[Outcome]], None]], ValidationReport
]
"""Takes `cancelled`, `progress` and `seen`, as `engine.validate.validation` does."""


@dataclass(frozen=True, slots=True)
class StudyRows:
    """One study as far as it is shown: its figures and its rows."""

    name: str
    figures: Figures
    outcomes: tuple[Outcome, ...]


class ValidationWork(QObject):
    """One validation at a time."""

    progressed = Signal(int, int, str)
    """Parts done, parts in all, name of the one in work."""
    study_done = Signal(object)
    """`StudyRows` of a study, as soon as it is there."""
    finished = Signal(object)
    """The whole `ValidationReport`; incomplete when it was stopped."""
    failed = Signal(str)
    """A sentence."""

    def __init__(self, parent: QObject | None = None, run: Run | None = None) -> None:
        """Nothing runs until `start`; `run` stands for the engine in tests."""
        super().__init__(parent)
        self._run = run or _engine_run
        self._shared = _Shared()
        self._told = (0, 0, "")
        self._shown = 0
        self._work = Newest(self)
        self._work.finished.connect(self._on_finished)
        self._work.failed.connect(self._on_failed)
        self._look = QTimer(self, interval=LOOK_MS)
        self._look.timeout.connect(self._tell)

    @property
    def busy(self) -> bool:
        """True while it is going on."""
        return self._work.busy

    def start(self) -> None:
        """Begin anew; one that is going on is stopped."""
        self.stop()
        shared = self._shared = _Shared()
        self._told, self._shown = (0, 0, ""), 0
        self._work.submit(partial(self._run, shared.cancelled.is_set, shared.progress, shared.seen))
        self._look.start()

    def stop(self) -> None:
        """Ask it to end; `finished` comes with what there is."""
        self._shared.cancelled.set()

    def forget(self) -> None:
        """End it without an answer: nobody looks any more."""
        self.stop()
        self._look.stop()
        self._work.forget()

    def _tell(self) -> None:
        state = self._shared.state
        if state != self._told and state[1]:
            self._told = state
            self.progressed.emit(*state)
        studies = self._shared.studies
        while self._shown < len(studies):
            self.study_done.emit(studies[self._shown])
            self._shown += 1

    def _on_finished(self, report: ValidationReport) -> None:
        self._look.stop()
        self._tell()
        self.finished.emit(report)

    def _on_failed(self, sentence: str) -> None:
        self._look.stop()
        self.failed.emit(sentence)


class _Shared:
    """What the thread writes and the window reads; every change is the replacement of one value."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.state = (0, 0, "")
        self.studies: list[StudyRows] = []

    def progress(self, done: int, parts: int, name: str) -> None:
        self.state = (done, parts, name)

    def seen(self, outcomes: Sequence[Outcome]) -> None:
        if outcomes:
            self.studies.append(StudyRows(outcomes[0].study, figures_of(outcomes), tuple(outcomes)))


def own_runs() -> OwnRuns:
    """This machine's predictions and what came of them; quick."""
    return validate.own_runs()


def _engine_run(
    cancelled: Callable[[], bool],
    progress: Callable[[int, int, str], None],
    seen: Callable[[Sequence[Outcome]], None],
) -> ValidationReport:
    return validate.validation(cancelled=cancelled, progress=progress, seen=seen)
