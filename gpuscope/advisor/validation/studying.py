"""Work through studies one after another; one that fails is reported beside the others, not hidden."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.registry import Study, load_study
from gpuscope.advisor.validation.summary import Summary, summary_of
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.base import Value


class Cancelled(Exception):  # noqa: N818 - nothing went wrong: somebody has seen enough
    """The person does not want the rest any more."""


class StudyResult(Value, frozen=True, kw_only=True):
    """What came of one study."""

    name: str
    """As `--study` takes it."""
    description: str = ""
    """From what to what, on whose rows, in a sentence."""
    case: str = ""
    """Kind of prediction that a goal was set for, such as source-run; empty: none of them."""
    goal: tuple[float, float] | None = None
    """Median and 90th percentile of the relative error that were aimed at, as shares."""
    met: bool | None = None
    """Whether both were reached; null: there is no goal, or nothing was predicted."""
    tried: str = ""
    """Of a study whose goal is missed: what was tried, and why it stays."""
    summary: Summary | None = None
    """Its figures; null when it failed."""
    failure: str = ""
    """Why there is no summary."""


def study_result(
    name: str,
    tables: Tables,
    cancelled: Callable[[], bool] = lambda: False,
    seen: Callable[[Sequence[Outcome]], None] = lambda _outcomes: None,
) -> StudyResult:
    """Make one study and sum it up.

    Args:
        name: a study's name.
        tables: what it reads.
        cancelled: asked between rows.
        seen: given all rows, for whoever shows them one by one.

    Raises:
        Cancelled: `cancelled` said so.
    """
    try:
        study = load_study(name)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one study, the others are still of use
        return StudyResult(name=name, failure=_in_words(error))
    try:
        outcomes = study_outcomes(study, tables, cancelled)
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        return _result(study, None, failure=_in_words(error))
    if not outcomes:
        return _result(study, None, failure="It found no published row to predict.")
    seen(outcomes)
    return _result(study, summary_of(outcomes))


def study_outcomes(study: Study, tables: Tables, cancelled: Callable[[], bool] = lambda: False) -> Sequence[Outcome]:
    """All comparisons of a study.

    Raises:
        Cancelled: `cancelled` said so.
    """
    outcomes = []
    for outcome in study.outcomes(tables):
        if cancelled():
            raise Cancelled
        outcomes.append(outcome)
    return outcomes


def _result(study: Study, summary: Summary | None, failure: str = "") -> StudyResult:
    met = None
    if summary is not None and study.goal is not None and summary.overall.rows:
        met = summary.overall.meets(study.goal)
    return StudyResult(
        name=study.name,
        description=study.description,
        case=study.case,
        goal=study.goal,
        met=met,
        tried=study.tried,
        summary=summary,
        failure=failure,
    )


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
