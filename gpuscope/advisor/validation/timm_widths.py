"""Widths of the ranges of image-model predictions (`widths`).

They are taken from the errors that predictions had on families of models that were held out of the fit, the widest of
several strata, so that each of them is covered on its own.
"""

from __future__ import annotations

import math
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
)
from gpuscope.advisor.validation.studies._timm import training_from_inference
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.widths import Need, left_open, width_of_devices

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


def _interval(strata: Iterable[Iterable[Outcome]], allowed_for: float) -> Interval:
    """What `width_of_devices` finds; `allowed_for` (in the logarithm) is what other doubts allow for."""
    needs = [
        Need(str(number), outcome.gpu, outcome.family, left_open(outcome.log_ratio, allowed_for**2))
        for number, outcomes in enumerate(strata)
        for outcome in outcomes
        if outcome.log_ratio is not None
    ]
    return Interval(factor=max(_LEAST_FACTOR, math.exp(width_of_devices(needs))), rows=len(needs), source=_SOURCE)
