"""Fit a few named constants to published rows: a plain search, one constant after the other, with priors.

Few constants with strong priors carry over to rows that nobody has seen; nothing here can learn a residual.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

_STEPS = (1.5, 1.2, 1.08, 1.03)
"""Factors by which a constant is tried up and down, from coarse to fine."""
_ROUNDS = 6


class Constant(NamedTuple):
    """One constant that is to be found."""

    prior: float
    """Where it lies without any rows."""
    spread: float
    """Factor that the prior is sure of: one standard deviation in the logarithm."""
    low: float = 0.0
    high: float = math.inf


def fitted(
    constants: Mapping[str, Constant],
    loss: Callable[[Mapping[str, float]], float],
    start: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Values that make `loss` plus the priors' part smallest.

    Args:
        constants: what is searched, by name.
        loss: of a set of values, in the same unit as the priors' part: half the square of so many standard deviations.
        start: values to begin with, such as those of a fit to almost the same rows.
    """
    values = {name: (start or {}).get(name, constant.prior) for name, constant in constants.items()}
    best = _total(values, constants, loss)
    for step in _STEPS:
        for _ in range(_ROUNDS):
            before = best
            for name, constant in constants.items():
                values[name], best = _better(name, constant, step, values, best, constants, loss)
            if before - best < 1e-3 * max(1.0, before):
                break
    return values


def robust(residual: float, scale: float) -> float:
    """Half the square of a residual in units of `scale`, growing only linearly beyond one: outliers pull little."""
    size = abs(residual) / scale
    return size * size / 2 if size <= 1 else size - 0.5


def _better(
    name: str,
    constant: Constant,
    step: float,
    values: dict[str, float],
    best: float,
    constants: Mapping[str, Constant],
    loss: Callable[[Mapping[str, float]], float],
) -> tuple[float, float]:
    kept = values[name]
    for tried in (kept * step, kept / step):
        if not constant.low <= tried <= constant.high:
            continue
        total = _total({**values, name: tried}, constants, loss)
        if total < best:
            return tried, total
    return kept, best


def _total(
    values: Mapping[str, float], constants: Mapping[str, Constant], loss: Callable[[Mapping[str, float]], float]
) -> float:
    prior = sum(
        (math.log(values[name] / constant.prior) / math.log(constant.spread)) ** 2 / 2
        for name, constant in constants.items()
    )
    return loss(values) + prior
