"""A handful of runs on a card corrects what predictions for it have in common, and narrows their range.

First the card's three rates in the runs' precision (products, convolutions, memory) move to where the runs put them,
each held near its value by a prior of 15%, which is how far specifications are off. Then a bias is left: the median of
log(measured ÷ predicted), shrunk towards none; with n runs by n / (n + ½), which is what the scatter of single runs
(about 10%) against that of whole cards (about 15%) asks for. The range of a new prediction is that of a new run around
the bias, from the runs' own scatter, held up by what such predictions usually scatter.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from gpuscope.advisor.calibration.fitting import Constant, fitted, robust
from gpuscope.advisor.calibration.model import MEASURED, Bias, Calibration, Figure, SustainedRates
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import precision_of
from gpuscope.advisor.timing.sustained import Sustained, sustained
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.domain.base import NORMAL_90
from gpuscope.domain.footprint import Footprint, StepTime
from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import UsageError

_SHRINK = 0.5
"""Runs that the belief in no bias is worth: (10% / 15%)²."""
_USUAL_SCATTER = 0.10
"""Of log(measured ÷ predicted) around a card's bias, on published runs (RTX 3090 to 4090: 9 to 16% at the 90th
percentile)."""
_SCATTER_RUNS = 30.0
"""Runs that the usual scatter is worth against the runs' own, which the rates were fitted to."""
_MAD_TO_DEVIATION = 1.4826
"""Standard deviation of a normal figure over its median absolute deviation."""
_LEAST_SPREAD = 1.05
"""However alike the runs are: releases of the framework alone move the same job by as much."""
_RATES = ("matmul", "convolution", "vector")
_RATE_SPREAD = 1.15
"""How far specifications are off: what a rate may be moved by before it costs as much as one standard deviation."""
_FEWEST_FOR_RATES = 4
"""Runs: fewer say nothing of three rates."""


class TargetRun(NamedTuple):
    """A run on the card that is to be calibrated."""

    measured: Footprint
    """On the target."""
    elsewhere: Footprint | None = None
    """The same job at the same batch size on another GPU; None: predicted from the operators' work of `measured`."""


def recalibrated(calibration: Calibration, runs: Iterable[TargetRun], catalogue: Catalogue) -> Calibration:
    """The calibration with the rates and biases that the runs show; runs that nothing is predicted for say nothing.

    Args:
        calibration: whose biases of the runs' cards are replaced.
        runs: measured on one GPU each.
        catalogue: where the GPUs are looked up.
    """
    by_gpu: dict[str, list[TargetRun]] = defaultdict(list)
    for run in runs:
        gpu = _gpu(run.measured, catalogue)
        if gpu is not None:
            by_gpu[gpu.id].append(run)
    for gpu_id, of_gpu in sorted(by_gpu.items()):
        gpu = catalogue.gpu(gpu_id)
        assert gpu is not None
        others = {other: bias for other, bias in calibration.bias.items() if other != gpu_id}
        calibration = _with_rates(msgspec.structs.replace(calibration, bias=others), of_gpu, gpu, catalogue)
        logs = _log_ratios(of_gpu, gpu, calibration, catalogue)
        if logs:
            calibration = msgspec.structs.replace(calibration, bias={**others, gpu_id: bias_of(logs)})
    return calibration


def _with_rates(calibration: Calibration, runs: list[TargetRun], gpu: GpuSpec, catalogue: Catalogue) -> Calibration:
    """The calibration with the card's rates in the precision of most runs moved to where the runs put them."""
    precisions = Counter(precision for run in runs if (precision := _precision(run.measured)))
    if not precisions:
        return calibration
    precision, count = min(precisions.items(), key=lambda entry: (-entry[1], entry[0]))
    known = sustained(gpu, precision, calibration)
    alike = [run for run in runs if _precision(run.measured) == precision]
    if known is None or count < _FEWEST_FOR_RATES:
        return calibration

    def moved(by: Mapping[str, float]) -> Calibration:
        rates = _moved_rates(calibration.rates.get(gpu.id, SustainedRates()), known, precision, by, count)
        return msgspec.structs.replace(calibration, rates={**calibration.rates, gpu.id: rates})

    def loss(by: Mapping[str, float]) -> float:
        return sum(robust(each, _USUAL_SCATTER) for each in _log_ratios(alike, gpu, moved(by), catalogue))

    return moved(fitted({name: Constant(1.0, _RATE_SPREAD) for name in _RATES}, loss))


def _moved_rates(
    rates: SustainedRates, known: Sustained, precision: str, by: Mapping[str, float], count: int
) -> SustainedRates:
    def times(figure: Figure, factor: float) -> Figure:
        source = f"{count} runs on this card, from {figure.source}"
        return Figure(value=figure.value * factor, kind=MEASURED, source=source)

    matmul = times(known.matmul_flops_per_s, by["matmul"])
    convolution = times(known.convolution_flops_per_s, by["convolution"])
    return msgspec.structs.replace(
        rates,
        matmul_flops_per_s={**rates.matmul_flops_per_s, precision: matmul},
        convolution_flops_per_s={**rates.convolution_flops_per_s, precision: convolution},
        vector_bytes_per_s=times(known.vector_bytes_per_s, by["vector"]),
    )


def bias_of(log_ratios: list[float]) -> Bias:
    """The bias that some log(measured ÷ predicted) of one card show.

    Args:
        log_ratios: at least one.
    """
    count = len(log_ratios)
    middle = statistics.median(log_ratios)
    own = _MAD_TO_DEVIATION * statistics.median(abs(each - middle) for each in log_ratios)
    scatter = (count * own + _SCATTER_RUNS * _USUAL_SCATTER) / (count + _SCATTER_RUNS)
    # What is left of the bias after shrinking, and the median's own error, come on top.
    spread = math.exp(NORMAL_90 * scatter * math.sqrt(1 + 1 / count))
    return Bias(factor=math.exp(middle * count / (count + _SHRINK)), spread=max(_LEAST_SPREAD, spread), runs=count)


def _log_ratios(runs: Iterable[TargetRun], gpu: GpuSpec, calibration: Calibration, catalogue: Catalogue) -> list[float]:
    """log(measured ÷ predicted) of the runs that can be predicted."""
    found = (_log_ratio(run, gpu, calibration, catalogue) for run in runs)
    return [each for each in found if each is not None]


def _log_ratio(run: TargetRun, gpu: GpuSpec, calibration: Calibration, catalogue: Catalogue) -> float | None:
    time_s = run.measured.steps.time_s
    measured = time_s.mid if time_s.mid is not None else time_s.p50
    if not measured or measured <= 0 or len(run.measured.devices) != 1:
        return None
    workload = run.measured.workload
    wanted = Constraints(stage=workload.stage, precision=_precision(run.measured), compiled=workload.compiled)
    source = run.elsewhere if run.elsewhere is not None else _without_time(run.measured)
    predicted = step_on_gpu(prepare(source, wanted, catalogue, calibration), gpu).seconds
    return None if predicted is None else math.log(measured / predicted.mid)


def _precision(footprint: Footprint) -> str | None:
    """As the catalogue of precisions calls it; None: not said, or none that GPUs have rates for."""
    name = footprint.workload.precision.compute or footprint.workload.precision.parameters
    try:
        return precision_of(name) if name else None
    except UsageError:
        return None


def _without_time(footprint: Footprint) -> Footprint:
    """The job as if it had not run: only its operators' work."""
    ops = tuple(msgspec.structs.replace(op, time_s=None) for op in footprint.ops)
    steps = msgspec.structs.replace(footprint.steps, time_s=StepTime())
    return msgspec.structs.replace(footprint, devices=(), steps=steps, ops=ops)


def _gpu(footprint: Footprint, catalogue: Catalogue) -> GpuSpec | None:
    return catalogue.gpu_of(footprint.devices[0]) if footprint.devices else None
