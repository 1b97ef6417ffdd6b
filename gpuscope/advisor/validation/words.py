"""Results in words and figures, the same in the terminal, the window and the document."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from gpuscope.advisor.validation.goals import COVERAGE_GOAL
from gpuscope.advisor.validation.studying import StudyResult
from gpuscope.advisor.validation.summary import Figures

UNKNOWN = "—"
HEADINGS = ("rows", "median", "90th pct", "bias", "in range")
"""Of the cells that `figure_cells` gives."""
SHOWN_NAMES = 10
_FAMILY = re.compile(r"^family [^,;]+")
LEGEND = (
    "Errors are |predicted ÷ measured − 1|: their median and 90th percentile. bias: by how much the median prediction "
    "is too slow (+) or too fast (−). in range: share of the measurements inside the predicted 90% range."
)


def percent(share: float | None, *, signed: bool = False) -> str:
    """A share as a percentage: `3.5%`, `41%`; — when it is not known."""
    if share is None:
        return UNKNOWN
    value = 100 * share
    if abs(value) < 0.05:
        return "0%"
    digits = 0 if abs(value) >= 20 else 1
    text = f"{value:+.{digits}f}%" if signed else f"{value:.{digits}f}%"
    return text.replace("-", "−")


def bias_percent(bias: float | None) -> str:
    """A median log ratio as what it means for the prediction: `+5.1%`."""
    return percent(None if bias is None else math.expm1(bias), signed=True)


def goal_text(goal: tuple[float, float] | None) -> str:
    """A goal as `4% / 10%`; — without one."""
    return UNKNOWN if goal is None else f"{goal[0]:.0%} / {goal[1]:.0%}"


def verdict(result: StudyResult) -> str:
    """Whether the goal is met, in a word; empty without a goal."""
    if result.failure:
        return "failed"
    if result.goal is None:
        return ""
    return {True: "met", False: "missed", None: "not tested"}[result.met]


def figure_cells(figures: Figures | None) -> list[str]:
    """The figures under `HEADINGS`."""
    if figures is None:
        return [UNKNOWN] * len(HEADINGS)
    return [
        str(figures.rows),
        percent(figures.median_error),
        percent(figures.p90_error),
        bias_percent(figures.bias),
        percent(figures.coverage),
    ]


def held_out_text(held_out: Sequence[str]) -> str:
    """What was held out, in a line: of families of models and long lists not every name."""
    names = list(dict.fromkeys(_FAMILY.sub("a family of models", name) for name in held_out))
    more = len(names) - SHOWN_NAMES
    return f"{'; '.join(names[:SHOWN_NAMES])}{f'; {more} more' if more > 0 else ''}"


def remarks(result: StudyResult) -> Iterator[str]:
    """What a person has to know besides the figures, a sentence each."""
    if result.failure:
        yield f"{result.name} failed: {result.failure}"
    if result.summary is None:
        return
    overall = result.summary.overall
    if overall.refused:
        yield f"{result.name}: no prediction for {overall.refused} rows ({'; '.join(result.summary.refusals)})."
    if overall.coverage is not None and overall.coverage < COVERAGE_GOAL:
        yield (
            f"{result.name}: the 90% ranges hold {percent(overall.coverage)} of {overall.rows} rows, fewer than "
            f"{COVERAGE_GOAL:.0%}."
        )
    narrow = [part for part in result.summary.strata if part.flagged and part.figures.rows < overall.rows]
    for stratum in narrow:
        yield (
            f"{result.name}: the ranges are too narrow for {stratum.by} {stratum.name} "
            f"({percent(stratum.figures.coverage)} of {stratum.figures.rows} rows inside)."
        )
    if result.met is False:
        yield f"{result.name} misses its goal of {goal_text(result.goal)}. {result.tried}".rstrip()
    elif narrow and result.tried:
        yield f"{result.name}: {result.tried}"
