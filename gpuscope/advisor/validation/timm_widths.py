"""Widths of the ranges of image-model predictions: split conformal prediction in the logarithm.

Each width is the quantile of the errors that predictions had on families of models that were held out of the fit, the
widest of the device's strata, so that a stratum on its own is covered too. What other doubts of the same predictions
already allow for is taken off.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from gpuscope.advisor.calibration.model import Interval
from gpuscope.advisor.calibration.writing import write_intervals
from gpuscope.advisor.timing.uncertainty import doubt
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies import (
    timm_compiled,
    timm_cpu,
    timm_dry_run,
    timm_inference,
    timm_no_run,
    timm_other_cpu,
    timm_training,
)
from gpuscope.advisor.validation.tables import Tables

COVERED = 0.9
_SOURCE = "errors on held-out families of published image models"
_LEAST_FACTOR = 1.02


def timm_widths(tables: Tables) -> Iterator[tuple[str, Interval]]:
    """Width by code of the doubt (`timing.uncertainty`)."""
    here = math.log(doubt("measured_here", tables.calibration).factor)
    without_run = [*timm_no_run.outcomes(tables), *timm_dry_run.outcomes(tables)]
    yield "no_gpu_run", _interval(without_run, 0.0)
    # One pair of cards of one maker stands for all: no narrower than what is assumed without any rows.
    rated = _interval(timm_inference.outcomes(tables), 0.0)
    floor = doubt("gpu_to_gpu_rated").factor
    yield "gpu_to_gpu_rated", msgspec.structs.replace(rated, factor=max(rated.factor, floor))
    yield "stage_change", _interval(timm_training.outcomes(tables), here)
    yield "compile_change", _interval(timm_compiled.outcomes(tables), here)
    yield "no_cpu_run", _interval(timm_cpu.outcomes(tables), 0.0)
    yield "cpu_to_cpu", _interval(timm_other_cpu.outcomes(tables), 0.0)


def write_timm_widths(tables: Tables, folder: Path) -> None:
    """Write these widths into intervals.csv beside those of other studies."""
    write_intervals(folder / "intervals.csv", {**tables.calibration.intervals, **dict(timm_widths(tables))})


def conformal_quantile(errors: Iterable[float], share: float = COVERED) -> float:
    """The smallest of the errors that is to cover `share` of new ones: with n of them, the ⌈share × (n + 1)⌉-th.

    Raises:
        ValueError: there are none.
    """
    ordered = sorted(errors)
    if not ordered:
        raise ValueError("a width needs errors")
    return ordered[min(len(ordered), math.ceil(share * (len(ordered) + 1))) - 1]


def _interval(outcomes: Iterable[Outcome], allowed_for: float) -> Interval:
    """The widest stratum's width, less (in squares) what is allowed for otherwise."""
    by_device: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.log_ratio is not None:
            by_device[outcome.gpu].append(abs(outcome.log_ratio))
    width = max(conformal_quantile(errors) for errors in by_device.values())
    rest = math.sqrt(max(0.0, width**2 - allowed_for**2))
    rows = sum(len(errors) for errors in by_device.values())
    return Interval(factor=max(_LEAST_FACTOR, math.exp(rest)), rows=rows, source=_SOURCE)
