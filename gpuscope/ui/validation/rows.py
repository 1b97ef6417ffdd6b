"""What the tables of the validation page say, line by line."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication

from gpuscope.advisor.validation.decisions import Score
from gpuscope.advisor.validation.studying import StudyResult
from gpuscope.advisor.validation.summary import Figures
from gpuscope.domain.units import format_duration, format_duration_range
from gpuscope.engine.validate import OwnRuns
from gpuscope.ui.advisor.result.table_cells import Text
from gpuscope.ui.figures import DASH
from gpuscope.ui.validation.work import StudyRows

translate = QCoreApplication.translate


def study_titles() -> list[Text]:
    """Columns of the table of studies."""
    return [
        Text(translate("Validation", "Study"), translate("Validation", "Whose measurements, and what was predicted.")),
        Text(translate("Validation", "rows"), translate("Validation", "Measurements that were predicted.")),
        Text(translate("Validation", "median error"),
             translate("Validation", "Half of the predictions are off by less than this.")),
        Text(translate("Validation", "9 in 10 below"),
             translate("Validation", "Nine of ten predictions are off by less than this.")),
        Text(translate("Validation", "goal"), translate("Validation", "Median and nine-in-ten error aimed at.")),
        Text(translate("Validation", "inside"),
             translate("Validation", "Share of the measurements inside the predicted range, which is meant to hold "
                                     "90%.")),
        Text(translate("Validation", "bias"),
             translate("Validation", "Above 0%: predictions tend to be too slow; below: too fast.")),
    ]  # fmt: skip


def study_row(study: StudyRows, result: StudyResult | None) -> list[Text]:
    """One study; the result, which has the goal, comes at the end."""
    description = "" if result is None else "\n".join(part for part in (result.description, result.tried) if part)
    goal = None if result is None else result.goal
    met = None if result is None else result.met
    return [Text(study.name, description), *_figures(study.figures, goal, met=met)]


def failed_row(result: StudyResult) -> list[Text]:
    """A study that could not be made."""
    return [Text(result.name, result.failure), *[Text(DASH, result.failure)] * 6]


def _figures(figures: Figures, goal: tuple[float, float] | None, *, met: bool | None) -> list[Text]:
    refused = translate("Validation", "{0} more have no prediction.").format(figures.refused) if figures.refused else ""
    mark = "" if met is None else " ✓" if met else " ✗"
    bias = None if figures.bias is None else math.expm1(figures.bias)
    return [
        Text(f"{figures.rows:,}", refused),
        Text(_share(figures.median_error), bold=True),
        Text(_share(figures.p90_error)),
        Text(DASH if goal is None else f"{goal[0]:.0%} / {goal[1]:.0%}{mark}"),
        Text(_share(figures.coverage)),
        Text(DASH if bias is None else f"{bias:+.0%}"),
    ]


def _share(value: float | None) -> str:
    return DASH if value is None else f"{value:.1%}" if value < 0.1 else f"{value:.0%}"


def decision_titles() -> list[Text]:
    """Columns of the table of decisions."""
    return [
        Text(translate("Validation", "Measurements")),
        Text(translate("Validation", "wanted")),
        Text(translate("Validation", "picked by")),
        Text(translate("Validation", "decisions")),
        Text(translate("Validation", "right"), translate("Validation", "How often the pick was truly the best.")),
        Text(translate("Validation", "mean regret"),
             translate("Validation", "Time or cost of the pick over that of the truly best one.")),
        Text(translate("Validation", "worst")),
    ]  # fmt: skip


def decision_row(score: Score) -> list[Text]:
    """How one rule did."""
    own = score.rule == "gpuscope"
    return [
        Text(score.data),
        Text(score.aim),
        Text(score.rule, bold=own),
        Text(f"{score.decisions:,}"),
        Text(f"{score.right:.0%}", bold=own),
        Text(f"{score.mean_regret:.1%}", bold=own),
        Text(f"{score.worst_regret:.0%}"),
    ]


def own_titles() -> list[Text]:
    """Columns of the table of this machine's runs."""
    return [
        Text(translate("Validation", "Run")),
        Text(translate("Validation", "on")),
        Text(translate("Validation", "when")),
        Text(translate("Validation", "predicted")),
        Text(translate("Validation", "measured")),
        Text(translate("Validation", "inside")),
    ]


def own_rows(own: OwnRuns) -> list[list[Text]]:
    """This machine's runs that had been predicted."""
    yes, no = translate("Validation", "yes"), translate("Validation", "no")
    return [
        [
            Text(run.job, run.sentence),
            Text(f"{run.count} × {run.gpu} {run.precision}"),
            Text(run.when[:16].replace("T", " ")),
            Text(format_duration_range(run.predicted_s)),
            Text(format_duration(run.measured_s), bold=True),
            Text(yes if run.inside else no),
        ]
        for run in own.runs
    ]


def own_sentence(own: OwnRuns) -> str:
    """How many of the runs were as predicted."""
    if own.runs:
        sentence = translate("Validation", "{0} of {1} runs on this machine were inside what had been predicted.")
        parts = [sentence.format(own.inside, len(own.runs))]
    elif own.predicted_jobs:
        sentence = translate(
            "Validation", "Predictions of {0} jobs are kept; none of them has been run on a recommended GPU yet."
        )
        parts = [sentence.format(own.predicted_jobs)]
    else:
        parts = [
            translate(
                "Validation",
                "Nothing was predicted on this machine yet. Every later run on a recommended GPU will be compared with "
                "what had been predicted, here.",
            )
        ]
    return " ".join([*parts, own.note]).strip()
