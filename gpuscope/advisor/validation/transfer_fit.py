"""How much of the model's error on a run comes back when the job runs otherwise, fitted to pairs of published runs.

A step that took longer than the model of its GPU says will be slow elsewhere, too: most of what the model does not know
of a job stays the same. Some of it does not: a library's luck with one card, a release, a run's own noise. And where a
compiler joins operators, it replaces those that the errors were of. The constants are the slope of the one error on the
other, where the sum of what is left is least.
"""

from __future__ import annotations

import functools
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpuscope.advisor.validation.timm_rows import TimmRow

SHARED, COMPILED = "transfer/shared", "transfer/compiled"
"""On another card or in training, and from an eager run to a compiled one."""
_STEPS = 100
"""Slopes between 0 and 1 that are tried."""
_FEWEST = 20
"""Pairs without which nothing is said."""


class Residual(NamedTuple):
    """A published step, and the logarithm of what it took over what the model says."""

    row: TimmRow
    training: bool
    log: float


class Pair(NamedTuple):
    """The errors of two runs of one model."""

    kind: str
    """Pairs of a kind may be off by something of their own."""
    name: str
    """Of the constant that they tell about."""
    source: float
    other: float


def pairs(residuals: Sequence[Residual]) -> Iterator[Pair]:
    """Each run beside the eager inference that it would be predicted from, of the nearest release of PyTorch.

    That is a run on another GPU, or on the same where the other run trains or is compiled.
    """
    sources: dict[tuple[str, int, str], list[Residual]] = defaultdict(list)
    for each in residuals:
        if not each.training and not each.row.compiled:
            sources[_job(each.row)].append(each)
    for each in residuals:
        row = each.row
        changed = each.training or row.compiled
        fitting = [s for s in sources[_job(row)] if (s.row.device == row.device) is changed]
        # Backward passes of grouped convolutions, channels last, vary several times for reasons of their own.
        if fitting and not (each.training and row.has_grouped and row.layout == "nhwc"):
            source = max(fitting, key=lambda s: (s.row.torch == row.torch, s.row.torch))
            kind = f"{row.device} {each.training} {row.compiled} {row.layout}"
            yield Pair(kind, COMPILED if row.compiled else SHARED, source.log, each.log)


def _job(row: TimmRow) -> tuple[str, int, str]:
    return row.model, row.img_size, row.layout


def shared_errors(found: Iterable[Pair]) -> dict[str, float]:
    """The slope with the least sum of what it leaves, by constant; those with too few pairs are missing."""
    by_name: dict[str, list[Pair]] = defaultdict(list)
    for pair in found:
        by_name[pair.name].append(pair)
    tried = [step / _STEPS for step in range(_STEPS + 1)]
    return {
        name: min(tried, key=functools.partial(_left, some)) for name, some in by_name.items() if len(some) >= _FEWEST
    }


def _left(found: Sequence[Pair], slope: float) -> float:
    by_kind: dict[str, list[float]] = defaultdict(list)
    for pair in found:
        by_kind[pair.kind].append(pair.other - slope * pair.source)
    total = 0.0
    for values in by_kind.values():
        middle = statistics.median(values)
        total += sum(abs(value - middle) for value in values)
    return total
