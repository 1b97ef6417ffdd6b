"""Widths of the ranges of image-model predictions: split conformal prediction in the logarithm.

Each width is the quantile of the errors that predictions had on families of models that were held out of the fit, the
widest of several strata, so that each of them is covered on its own. What other doubts of the same predictions already
allow for is taken off.
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
from gpuscope.advisor.validation.goals import STRATUM_ROWS
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies import (
    timm_compiled,
    timm_cpu,
    timm_dry_run,
    timm_inference,
    timm_no_run,
    timm_other_cpu,
)
from gpuscope.advisor.validation.studies._timm import training_from_inference
from gpuscope.advisor.validation.tables import Tables

COVERED = 0.9
_COVERED_OF_A_FAMILY = 0.85
"""Of a family with many rows: it is to be covered too, if less than all of them together."""
_SOURCE = "errors on held-out families of published image models"
_LEAST_FACTOR = 1.02


def timm_widths(tables: Tables) -> Iterator[tuple[str, Interval]]:
    """Width by code of the doubt (`timing.uncertainty`)."""
    here = math.log(doubt("measured_here", tables.calibration).factor)
    yield "no_gpu_run", _interval([timm_no_run.outcomes(tables), timm_dry_run.outcomes(tables)], 0.0)
    # One pair of cards of one maker stands for all: no narrower than what is assumed without any rows.
    rated = _interval([timm_inference.outcomes(tables)], 0.0)
    floor = doubt("gpu_to_gpu_rated").factor
    yield "gpu_to_gpu_rated", msgspec.structs.replace(rated, factor=max(rated.factor, floor))
    usual = training_from_inference("", tables, "nchw")
    trained = _interval([usual, training_from_inference("", tables, "nhwc", (False,))], here)
    yield "stage_change", trained
    grouped = training_from_inference("", tables, "nhwc", (True,))
    yield "grouped_channels_last", _interval([grouped], math.hypot(here, math.log(trained.factor)))
    yield "compile_change", _interval([timm_compiled.outcomes(tables)], here)
    yield "no_cpu_run", _interval([timm_cpu.outcomes(tables)], 0.0)
    yield "cpu_to_cpu", _interval([timm_other_cpu.outcomes(tables)], 0.0)


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


def _interval(strata: Iterable[Iterable[Outcome]], allowed_for: float) -> Interval:
    """The widest that a device of a stratum needs, or a large family of models; less (in squares) what is allowed for
    otherwise."""
    by_device: dict[tuple[int, str], list[float]] = defaultdict(list)
    by_family: dict[tuple[int, str], list[float]] = defaultdict(list)
    for number, outcomes in enumerate(strata):
        for outcome in outcomes:
            if outcome.log_ratio is not None:
                by_device[number, outcome.gpu].append(abs(outcome.log_ratio))
                by_family[number, outcome.family].append(abs(outcome.log_ratio))
    width = max(conformal_quantile(errors) for errors in by_device.values())
    for errors in by_family.values():
        if len(errors) >= STRATUM_ROWS:
            width = max(width, conformal_quantile(errors, _COVERED_OF_A_FAMILY))
    rest = math.sqrt(max(0.0, width**2 - allowed_for**2))
    rows = sum(len(errors) for errors in by_device.values())
    return Interval(factor=max(_LEAST_FACTOR, math.exp(rest)), rows=rows, source=_SOURCE)
