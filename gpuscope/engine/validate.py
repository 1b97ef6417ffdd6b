"""How far the predictions can be trusted: against published measurements, and against runs on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from gpuscope import paths
from gpuscope.advisor.validation.decision_data import situations
from gpuscope.advisor.validation.decisions import Score, Situation, scores
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.registry import check_names, study_names
from gpuscope.advisor.validation.studying import Cancelled, StudyResult, study_result
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.base import Range, Value
from gpuscope.engine.advise import catalogue
from gpuscope.engine.prediction_ledger import Comparison, Ledger, read_ledger
from gpuscope.engine.predictions import sentence_of

SCHEMA = "gpuscope.validation/1"
DECISIONS = "decisions"
"""What `Progress` calls the step after the studies."""

Progress = Callable[[int, int, str], None]
"""Told before each part: how many are done, how many there are, the name of the next."""


class OwnRun(Value, frozen=True, kw_only=True):
    """A run on this machine that had been predicted before."""

    when: str
    """ISO date and time of the run."""
    job: str
    """Script, module or program."""
    gpu: str
    """Catalogue id."""
    count: int
    """GPUs."""
    precision: str
    """Compute precision."""
    predicted_s: Range
    """A step, as advised before the run."""
    measured_s: float
    """Median step of the run."""
    inside: bool
    """Whether the run lies in the predicted range."""
    sentence: str
    """All of it for a person."""


class OwnRuns(Value, frozen=True, kw_only=True):
    """What was predicted on this machine and what came of it."""

    predicted_jobs: int
    """Jobs of which a prediction is kept."""
    runs: tuple[OwnRun, ...] = ()
    """Newest first."""
    inside: int = 0
    """How many of the runs lie in their predicted range."""
    note: str = ""
    """What is wrong with the file of predictions, if anything."""


class ValidationReport(Value, frozen=True, kw_only=True):
    """The document `gpuscope.validation/1`."""

    schema: str = SCHEMA
    studies: tuple[StudyResult, ...]
    """Against published measurements."""
    decisions: tuple[Score, ...] = ()
    """Whether the recommended GPU was truly the best of those measured; empty when single studies were asked for."""
    own: OwnRuns
    """Against runs on this machine."""
    complete: bool = True
    """False: it was stopped early, and the rest is missing."""


def validation(
    studies: Sequence[str] | None = None,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Progress = lambda _done, _all, _name: None,
    seen: Callable[[Sequence[Outcome]], None] = lambda _outcomes: None,
) -> ValidationReport:
    """Predict what was published and what ran here, and compare.

    Args:
        studies: names of studies; None: all of them, and the decisions.
        cancelled: asked often; True ends the work with what there is by then.
        progress: told before each part.
        seen: given the rows of each study, for whoever shows them one by one.

    Raises:
        UsageError: there is no study of such a name.
        CatalogueError: the catalogue is damaged.
    """
    names = study_names() if studies is None else tuple(studies)
    check_names(names)
    tables = shipped_tables()
    parts = len(names) + (studies is None)
    results: list[StudyResult] = []
    decisions: tuple[Score, ...] = ()
    complete = True
    try:
        for done, name in enumerate(names):
            progress(done, parts, name)
            results.append(study_result(name, tables, cancelled, seen))
        if studies is None:
            progress(len(names), parts, DECISIONS)
            decisions = scores(_until(situations(tables), cancelled))
    except Cancelled:
        complete = False
    return ValidationReport(studies=tuple(results), decisions=decisions, own=own_runs(), complete=complete)


def _until(found: Iterable[Situation], cancelled: Callable[[], bool]) -> Iterator[Situation]:
    for situation in found:
        if cancelled():
            raise Cancelled
        yield situation


def shipped_tables() -> Tables:
    """The published rows, constants and catalogue that come with gpuscope.

    Raises:
        CatalogueError: the catalogue is damaged.
    """
    return Tables(paths.resources_dir() / "calibration", catalogue())


def own_runs() -> OwnRuns:
    """Runs on this machine that had been predicted before."""
    ledger = read_ledger()
    runs = tuple(_own_run(comparison) for comparison in sorted(ledger.comparisons, key=_newest_first))
    return OwnRuns(
        predicted_jobs=len({prediction.job for prediction in ledger.predictions}),
        runs=runs,
        inside=sum(run.inside for run in runs),
        note=_note(ledger),
    )


def _own_run(comparison: Comparison) -> OwnRun:
    step = comparison.predicted
    return OwnRun(
        when=datetime.fromtimestamp(comparison.run_wall_s, UTC).isoformat(timespec="seconds"),
        job=comparison.job.name,
        gpu=step.gpu,
        count=step.count,
        precision=step.precision,
        predicted_s=step.step_time_s,
        measured_s=comparison.measured_s,
        inside=comparison.inside,
        sentence=sentence_of(comparison),
    )


def _newest_first(comparison: Comparison) -> tuple[float, str]:
    return -comparison.run_wall_s, comparison.session


def _note(ledger: Ledger) -> str:
    if ledger.unreadable:
        return f"The predictions that were made on this machine cannot be read: {ledger.unreadable}."
    if ledger.damaged_lines:
        lines = "line was" if ledger.damaged_lines == 1 else "lines were"
        return f"{ledger.damaged_lines} damaged {lines} left out of the predictions that were made on this machine."
    return ""
