"""A validation for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from gpuscope.advisor.validation.decisions import Score
from gpuscope.advisor.validation.studying import StudyResult
from gpuscope.advisor.validation.summary import Stratum, WorstRow
from gpuscope.advisor.validation.words import (
    HEADINGS,
    LEGEND,
    figure_cells,
    goal_text,
    held_out_text,
    percent,
    remarks,
    verdict,
)
from gpuscope.cli.tables import table
from gpuscope.engine.validate import OwnRuns, ValidationReport

SHOWN_RUNS = 20
WIDTH = 100
"""Columns of a paragraph."""


def validation_text(report: ValidationReport, *, details: bool) -> str:
    """All of it as text.

    Args:
        report: what was found.
        details: with each study's parts and worst rows.
    """
    blocks = ["Against published measurements, with constants that were not fitted on them:"]
    blocks.append(_studies(report.studies))
    blocks.append(fill(LEGEND, WIDTH))
    blocks += [fill(sentence, WIDTH) for study in report.studies for sentence in remarks(study)]
    if details:
        blocks += [block for study in report.studies for block in _details(study)]
    if report.decisions:
        blocks += ["Whether the recommended GPU was truly the best of those measured:", _decisions(report.decisions)]
        blocks.append("regret: time or cost over that of the truly best GPU, on average and at worst.")
    blocks.append(_own(report.own))
    if not report.complete:
        blocks.append("Stopped early: the rest is missing.")
    return "\n\n".join(blocks)


def _studies(studies: tuple[StudyResult, ...]) -> str:
    rows = []
    for study in studies:
        figures = study.summary.overall if study.summary else None
        goal = goal_text(study.goal) if study.goal else ""
        rows.append([study.name, *figure_cells(figures), goal, verdict(study)])
    return table(["study", *HEADINGS, "goal", ""], rows, right=(1, 2, 3, 4, 5))


def _details(study: StudyResult) -> Iterator[str]:
    if study.summary is None:
        return
    yield fill(f"{study.name}: {study.description} Held out: {held_out_text(study.summary.held_out)}.", WIDTH)
    rows = [_stratum_cells(stratum) for stratum in study.summary.strata]
    yield table(["part", "", *HEADINGS], rows, right=(2, 3, 4, 5, 6))
    worst = [_worst_cells(row) for row in study.summary.worst]
    yield "Worst rows:\n" + table(["row", "predicted", "measured", "unit"], worst, right=(1, 2))


def _stratum_cells(stratum: Stratum) -> list[str]:
    return [stratum.by, stratum.name, *figure_cells(stratum.figures)]


def _worst_cells(row: WorstRow) -> list[str]:
    return [row.label, f"{row.predicted.mid:.4g}", f"{row.measured:.4g}", row.unit]


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
            f"Jobs with predictions: {own.predicted_jobs}; none of them has run on a recommended GPU yet."
            if own.predicted_jobs
            else "Nothing was predicted on this machine yet: `gpuscope advise` keeps what it predicts."
        )
    else:
        lines.append(f"{own.inside} of {len(own.runs)} runs were inside the range that had been predicted.")
        lines += [f"{run.when[:10]}  {run.sentence}" for run in own.runs[:SHOWN_RUNS]]
        if len(own.runs) > SHOWN_RUNS:
            lines.append(f"{len(own.runs) - SHOWN_RUNS} more: --json lists them.")
    return "\n".join(filter(None, [*lines, own.note]))
