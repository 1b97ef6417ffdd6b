"""Fit what whole steps need to published training suites: mixes of work by kind of model, and shares of chips.

The rows are times of one unit of work (`unit_times`). Every task has a constant of its own, its work for a unit, which
is the median of what its rows say; so only ratios between GPUs and between precisions count, and a task that ran on
one GPU in one precision says nothing.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from gpuscope.advisor.calibration.fitting import Constant, fitted, robust
from gpuscope.advisor.calibration.model import FITTED, Calibration, Figure, Mix
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.timing.model_kind import ANY
from gpuscope.advisor.timing.rates import DEFAULT_SUSTAINED_SHARE, GEFORCE_SHARE
from gpuscope.advisor.timing.sustained import TF32_OVER_HALF, Sustained, sustained
from gpuscope.advisor.timing.whole_step import STARTING, seconds_per_byte
from gpuscope.advisor.validation.unit_times import UnitTime

_SCALE = 0.10
"""Log error of a row that is as usual as anything: hosts, releases and batch sizes differ."""
_LIKE_ONE_ROW = 6.0
"""Rows of a task on neighbouring GPUs repeat each other: so many count as one against the priors."""
_MIXES = {kind: mix.flops_per_byte for kind, mix in STARTING.items() if kind != ANY}
"""FLOPs for each byte of an FP32 step, before anything was fitted."""
_SHARES = {
    # Tensor cores of chips without published products: the median of published ones, a GeForce's above its clock.
    "matmul_16bit/7.0": Constant(DEFAULT_SUSTAINED_SHARE, 1.15),
    "matmul_16bit/7.5": Constant(DEFAULT_SUSTAINED_SHARE, 1.15),
    "matmul_16bit/8.6": Constant(DEFAULT_SUSTAINED_SHARE, 1.15),
    "matmul_16bit/8.9": Constant(DEFAULT_SUSTAINED_SHARE, 1.15),
    "matmul_16bit/consumer": Constant(GEFORCE_SHARE, 1.10),
    # No published product in TF32: taken to reach the share of 16 bits.
    TF32_OVER_HALF: Constant(1.0, 1.2),
    # Watts a TFLOPS: about a quarter of what FP32 without tensor cores takes on the same chip.
    "watts_per_tflops_16bit/8.6": Constant(1.4, 1.5),
    "watts_per_tflops_16bit/8.9": Constant(1.4, 1.5),
    "watts_per_tflops_16bit/9.0": Constant(0.6, 1.3),
}
SOURCE = "fit to training suites (lambdal/deeplearning-benchmark, NVIDIA/DeepLearningExamples)"


class _Run(NamedTuple):
    kind: str
    gpu: str
    precision: str
    log_seconds: float


def fit_values(
    calibration: Calibration,
    units: Iterable[UnitTime],
    catalogue: Catalogue,
    start: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Constants of mixes and shares by name, fitted to these rows; see `with_values`.

    Args:
        calibration: with published rates and shares.
        units: rows that may be seen.
        catalogue: specifications of their GPUs.
        start: values of a fit to almost the same rows, which saves time.
    """
    tasks: dict[str, list[_Run]] = defaultdict(list)
    for unit in units:
        tasks[unit.task].append(_Run(unit.kind, unit.gpu, unit.precision, math.log(unit.seconds)))
    telling = [runs for runs in tasks.values() if len(runs) > 1]
    pairs = sorted({(run.gpu, run.precision) for runs in telling for run in runs})

    def loss(values: Mapping[str, float]) -> float:
        tried = with_values(calibration, values)
        rates = {pair: _rates(*pair, tried, catalogue) for pair in pairs}
        return sum(_loss_of_task(runs, rates, tried) for runs in telling) / _LIKE_ONE_ROW

    return fitted(_constants(), loss, start)


def with_values(calibration: Calibration, values: Mapping[str, float]) -> Calibration:
    """The calibration with fitted constants in their places."""
    mixes = {
        kind: Mix(
            flops_per_byte=values[f"{kind}/flops_per_byte"],
            spread=3.0 if kind != ANY else 5.0,
            half_bytes=values[f"{kind}/half_bytes"],
            fixed_s_per_byte=values[f"{kind}/fixed"],
            source=SOURCE,
        )
        for kind in _MIXES
    }
    mixes[ANY] = _of_any(mixes)
    shares = {name: _figure(values[name]) for name in _SHARES}
    geforce = {"matmul_8bit/consumer": _figure(GEFORCE_SHARE)}
    return msgspec.structs.replace(calibration, mixes=mixes, shares={**calibration.shares, **geforce, **shares})


def _constants() -> dict[str, Constant]:
    constants = dict(_SHARES)
    for kind, intensity in _MIXES.items():
        constants[f"{kind}/flops_per_byte"] = Constant(intensity, 2.0)
        constants[f"{kind}/half_bytes"] = Constant(0.65, 1.2, 0.5, 1.0)
        constants[f"{kind}/fixed"] = Constant(1e-13, 2.0)
    return constants


def _loss_of_task(
    runs: list[_Run], rates: Mapping[tuple[str, str], Sustained | None], calibration: Calibration
) -> float:
    """Spread of what the rows of a task say that a unit of its work is."""
    said = []
    for run in runs:
        of_run = rates[run.gpu, run.precision]
        if of_run is not None:
            kind = run.kind if run.kind in calibration.mixes else ANY
            seconds = seconds_per_byte(
                calibration.mixes[kind].flops_per_byte, calibration.mixes[kind], kind, of_run, run.precision
            )
            said.append(run.log_seconds - math.log(seconds))
    if len(said) < 2:
        return 0.0
    middle = statistics.median(said)
    return sum(robust(each - middle, _SCALE) for each in said)


def _of_any(mixes: Mapping[str, Mix]) -> Mix:
    """A model of which the kind is not known lies between the kinds."""
    known = list(mixes.values())
    return Mix(
        flops_per_byte=statistics.geometric_mean(mix.flops_per_byte for mix in known),
        spread=5.0,
        half_bytes=statistics.mean(mix.half_bytes for mix in known),
        fixed_s_per_byte=statistics.mean(mix.fixed_s_per_byte for mix in known),
        source=SOURCE,
    )


def _rates(gpu_id: str, precision: str, calibration: Calibration, catalogue: Catalogue) -> Sustained | None:
    gpu = catalogue.gpu(gpu_id)
    return None if gpu is None else sustained(gpu, precision, calibration)


def _figure(value: float) -> Figure:
    return Figure(value=value, kind=FITTED, source=SOURCE)
