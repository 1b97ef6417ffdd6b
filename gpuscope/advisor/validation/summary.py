"""What the comparisons of a study amount to: errors, bias, coverage, its parts and its worst rows."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence

from gpuscope.advisor.validation.goals import STRATUM_COVERAGE, STRATUM_ROWS
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.domain.base import Range, Value

WORST_ROWS = 5
LEAST_ROWS = 10
"""Parts with fewer rows tell nothing by themselves: they are put together."""
PARTS = ("family", "gpu", "precision")
"""By what a study's rows are split: fields of `Outcome`."""


class Figures(Value, frozen=True, kw_only=True):
    """Errors of some comparisons; null where nothing was predicted."""

    rows: int
    """Measurements that were predicted."""
    refused: int
    """Measurements that the product had no prediction for."""
    median_error: float | None = None
    """Median of the relative error: predicted ÷ measured − 1 without its sign."""
    p90_error: float | None = None
    """90th percentile of the relative error."""
    bias: float | None = None
    """Median of the logarithm of predicted ÷ measured: above 0, predictions are too slow."""
    coverage: float | None = None
    """Share of the measurements inside the predicted 90% range."""

    @property
    def undercovered(self) -> bool:
        """Enough rows to tell, and the ranges hold too few of them."""
        return self.rows >= STRATUM_ROWS and self.coverage is not None and self.coverage < STRATUM_COVERAGE

    def meets(self, goal: tuple[float, float]) -> bool:
        """Median and 90th percentile of the error are both within the goal."""
        if self.median_error is None or self.p90_error is None:
            return False
        return self.median_error <= goal[0] and self.p90_error <= goal[1]


class Stratum(Value, frozen=True, kw_only=True):
    """The rows of a study that have one thing in common."""

    by: str
    """family, gpu or precision"""
    name: str
    """Of the family, GPU or precision; small ones are put together as `7 others`."""
    figures: Figures
    """Of these rows."""
    flagged: bool
    """30 rows or more, and the ranges hold less than 80% of them."""


class WorstRow(Value, frozen=True, kw_only=True):
    """A measurement that was predicted badly."""

    label: str
    """What tells the row from others."""
    gpu: str
    """Catalogue id of the device that was predicted for."""
    precision: str
    """Compute precision that was predicted for."""
    predicted: Range
    """In `unit`."""
    measured: float
    """In `unit`."""
    unit: str
    """Of both, such as s, tokens/s or W."""


class Summary(Value, frozen=True, kw_only=True):
    """One study's result."""

    overall: Figures
    """Of all rows."""
    strata: tuple[Stratum, ...]
    """Of the rows of each family of models, GPU and precision."""
    worst: tuple[WorstRow, ...]
    """The rows with the largest errors, largest first."""
    held_out: tuple[str, ...]
    """What the constants had not been fitted on."""
    sources: tuple[str, ...]
    """Who published the rows."""
    refusals: tuple[str, ...]
    """Why rows have no prediction, each reason once."""


def summary_of(outcomes: Sequence[Outcome]) -> Summary:
    """Figures of all rows and of each part of them."""
    return Summary(
        overall=figures_of(outcomes),
        strata=tuple(stratum for part in PARTS for stratum in _strata(outcomes, part)),
        worst=_worst(outcomes),
        held_out=tuple(sorted({outcome.held_out for outcome in outcomes})),
        sources=tuple(sorted({outcome.source for outcome in outcomes})),
        refusals=tuple(sorted({outcome.refusal for outcome in outcomes if outcome.predicted is None})),
    )


def figures_of(outcomes: Sequence[Outcome]) -> Figures:
    """Errors, bias and coverage of some rows."""
    ratios = [ratio for outcome in outcomes if (ratio := outcome.log_ratio) is not None]
    errors = sorted(error for outcome in outcomes if (error := outcome.error) is not None)
    refused = len(outcomes) - len(errors)
    if not errors:
        return Figures(rows=0, refused=refused)
    covered = sum(outcome.covered is True for outcome in outcomes)
    return Figures(
        rows=len(errors),
        refused=refused,
        median_error=quantile(errors, 0.5),
        p90_error=quantile(errors, 0.9),
        bias=statistics.median(ratios),
        coverage=covered / len(errors),
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of ordered values lie, linearly between neighbours (Hyndman and Fan's type 7)."""
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def _strata(outcomes: Sequence[Outcome], part: str) -> list[Stratum]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[getattr(outcome, part)].append(outcome)
    small = sorted(name for name, rows in groups.items() if len(rows) < LEAST_ROWS)
    if len(small) > 1:
        together = [outcome for name in small for outcome in groups.pop(name)]
        return [*_strata_of(part, groups), _stratum(part, f"{len(small)} others", together)]
    return _strata_of(part, groups)


def _strata_of(part: str, groups: Mapping[str, Sequence[Outcome]]) -> list[Stratum]:
    return [_stratum(part, name, groups[name]) for name in sorted(groups)]


def _stratum(part: str, name: str, outcomes: Sequence[Outcome]) -> Stratum:
    figures = figures_of(outcomes)
    return Stratum(by=part, name=name, figures=figures, flagged=figures.undercovered)


def _worst(outcomes: Sequence[Outcome]) -> tuple[WorstRow, ...]:
    return tuple(
        WorstRow(
            label=outcome.label,
            gpu=outcome.gpu,
            precision=outcome.precision,
            predicted=outcome.predicted,
            measured=outcome.measured,
            unit=outcome.unit,
        )
        for outcome in sorted(outcomes, key=_badness)[:WORST_ROWS]
        if outcome.predicted is not None
    )


def _badness(outcome: Outcome) -> tuple[float, str]:
    """Sorts the worst first: by the logarithm, so that half as long counts like twice as long."""
    return -abs(outcome.log_ratio or 0.0), outcome.label
