"""A validation for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gpuscope.advisor.validation.decisions import Score
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studying import StudyResult
from gpuscope.advisor.validation.summary import Figures, Stratum
from gpuscope.cli.tables import UNKNOWN, table
from gpuscope.engine.validate import OwnRuns, ValidationReport

SHOWN_RUNS = 20
_FIGURES = ("rows", "median", "90th pct", "bias", "in range")
LEGEND = (
    "Errors are |predicted ÷ measured − 1|: their median and 90th percentile. bias: by how much the median prediction "
    "is too slow (+) or too fast (−). in range: share of the measurements inside the predicted 90% range."
)


def validation_text(report: ValidationReport, *, details: bool) -> str:
    """All of it as text.

    Args:
        report: what was found.
        details: with each study's parts and worst rows.
    """
    blocks = ["Against published measurements, with constants that were not fitted on them:"]
    blocks.append(_studies(report.studies))
    blocks.append(LEGEND)
    blocks += [block for study in report.studies for block in _remarks(study)]
    if details:
        blocks += [block for study in report.studies for block in _details(study)]
    if report.decisions:
        blocks += ["Whether the recommended GPU was truly the best of those measured:", _decisions(report.decisions)]
        blocks.append("regret: time or cost over that of the truly best GPU, on average and at worst.")
    blocks.append(_own(report.own))
    if not report.complete:
        blocks.append("Stopped early: the rest is missing.")
    return "\n\n".join(blocks)


def percent(share: float | None, *, signed: bool = False) -> str:
    """A share as a percentage: `3.5%`, `41%`; — when it is not known."""
    if share is None:
        return UNKNOWN
    value = 100 * share
    digits = 0 if abs(value) >= 20 else 1
    text = f"{value:+.{digits}f}%" if signed else f"{value:.{digits}f}%"
    return text.replace("-", "−").replace("−0.0%", "0.0%").replace("+0.0%", "0.0%")


def bias_percent(bias: float | None) -> str:
    """A median log ratio as what it means for the prediction: `+5.1%`."""
    return percent(None if bias is None else math.expm1(bias), signed=True)


def _studies(studies: tuple[StudyResult, ...]) -> str:
    rows = [[study.name, *_figure_cells(study), _goal(study)] for study in studies]
    return table(["study", *_FIGURES, "goal"], rows, right=(1, 2, 3, 4, 5))


def _figure_cells(study: StudyResult) -> list[str]:
    if study.summary is None:
        return [UNKNOWN] * len(_FIGURES)
    return _cells(study.summary.overall)


def _cells(figures: Figures) -> list[str]:
    return [
        str(figures.rows),
        percent(figures.median_error),
        percent(figures.p90_error),
        bias_percent(figures.bias),
        percent(figures.coverage),
    ]


def _goal(study: StudyResult) -> str:
    if study.goal is None:
        return ""
    words = {True: "met", False: "missed", None: "not tested"}[study.met]
    return f"{percent(study.goal[0])} / {percent(study.goal[1])}: {words}"


def _remarks(study: StudyResult) -> Iterator[str]:
    """What a person has to know besides the figures."""
    if study.failure:
        yield f"{study.name} failed: {study.failure}"
    if study.summary is None:
        return
    refused = study.summary.overall.refused
    if refused:
        yield f"{study.name}: no prediction for {refused} rows ({'; '.join(study.summary.refusals)})."
    for stratum in study.summary.strata:
        if stratum.flagged:
            yield (
                f"{study.name}: the ranges are too narrow for {stratum.by} {stratum.name} "
                f"({percent(stratum.figures.coverage)} of {stratum.figures.rows} rows inside)."
            )
    if study.met is False and study.tried:
        yield f"{study.name} misses its goal. {study.tried}"


def _details(study: StudyResult) -> Iterator[str]:
    if study.summary is None:
        return
    yield f"{study.name}: {study.description} Not fitted on: {'; '.join(study.summary.held_out)}."
    rows = [_stratum_cells(stratum) for stratum in study.summary.strata]
    yield table(["part", "", *_FIGURES], rows, right=(2, 3, 4, 5, 6))
    worst = [_worst_cells(outcome) for outcome in study.summary.worst]
    yield "Worst rows:\n" + table(["row", "predicted", "measured", "unit"], worst, right=(1, 2))


def _stratum_cells(stratum: Stratum) -> list[str]:
    return [stratum.by, stratum.name, *_cells(stratum.figures)]


def _worst_cells(outcome: Outcome) -> list[str]:
    predicted = UNKNOWN if outcome.predicted is None else f"{outcome.predicted.mid:.4g}"
    return [outcome.label, predicted, f"{outcome.measured:.4g}", outcome.unit]


def _decisions(scores: tuple[Score, ...]) -> str:
    rows = [
        [
            score.data,
            score.aim,
            score.rule,
            str(score.decisions),
            percent(score.right),
            percent(score.mean_regret),
            percent(score.worst_regret),
        ]
        for score in scores
    ]
    return table(
        ["data", "wanted", "picked by", "decisions", "right", "mean regret", "worst"], rows, right=(3, 4, 5, 6)
    )


def _own(own: OwnRuns) -> str:
    lines = ["This machine's own runs:"]
    if not own.runs:
        lines.append(
            f"Predictions are kept for {own.predicted_jobs} jobs; none of them has run on a recommended GPU yet."
            if own.predicted_jobs
            else "Nothing was predicted on this machine yet: `gpuscope advise` keeps what it predicts."
        )
    else:
        lines.append(f"{own.inside} of {len(own.runs)} runs were inside the range that had been predicted.")
        lines += [f"{run.when[:10]}  {run.sentence}" for run in own.runs[:SHOWN_RUNS]]
        if len(own.runs) > SHOWN_RUNS:
            lines.append(f"{len(own.runs) - SHOWN_RUNS} more: --json lists them.")
    return "\n".join(filter(None, [*lines, own.note]))
