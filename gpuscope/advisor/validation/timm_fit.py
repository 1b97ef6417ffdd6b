"""Class constants fitted to published image models, with any family of models held out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from gpuscope.advisor.calibration.model import PUBLISHED, Calibration, Figure, SustainedRates
from gpuscope.advisor.calibration.writing import write_class_rates, write_factors
from gpuscope.advisor.job.autocast import in_precision
from gpuscope.advisor.job.precision import FLOAT16, FLOAT32
from gpuscope.advisor.timing.device_rates import DeviceRates, cpu_rates, gpu_rates
from gpuscope.advisor.timing.rates import OPTIMIZER_PASSES
from gpuscope.advisor.validation import float32_fit, transfer_fit
from gpuscope.advisor.validation.class_fit import Constants, Sample, fit, residuals
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_rows import INFERENCE, ON_CPU, SOURCE, TRAINING, TimmRow, timm_rows
from gpuscope.domain.footprint import Op

Keep = Callable[[TimmRow], bool]

# Starting values from published fits are near; those that were assumed are not.
_FITTED_SPREAD, _ASSUMED_SPREAD = 0.1, 0.3
_WRITTEN_SOURCE = f"fit to published image models ({SOURCE}), priors of timing.class_constants"
_STARTING_SOURCE = "as timing.class_constants says"
_LEAST_ROWS = 8
"""Runs on a card from which its own rates are worth fitting."""


def fitted(tables: Tables, keep: Keep) -> Calibration:
    """The shipped calibration with class constants fitted to the published rows that `keep` lets through.

    One after the other: shares by kind from eager inference; what a compiler saves; what training costs, from inference
    and from a traced training step; shares on CPUs.
    """
    base = msgspec.structs.replace(tables.calibration, class_rates={}, factors={})
    constants = Constants(base)
    inference = [row for row in timm_rows(tables, INFERENCE) if keep(row)]
    training = [row for row in timm_rows(tables, TRAINING) if keep(row)]
    eager = [_inference(row, tables) for row in inference if not row.compiled]
    fit(constants, eager, ["rate/"], _FITTED_SPREAD)
    compiled = [_inference(row, tables) for row in inference if row.compiled]
    fit(constants, compiled, ["factor/compiled"], _ASSUMED_SPREAD)
    fit(constants, [_from_inference(row, tables) for row in training], ["factor/training"], _FITTED_SPREAD)
    traced = [_traced(row, tables) for row in training if row.training_ops()]
    fit(constants, traced, ["factor/backward"], _ASSUMED_SPREAD)
    for name, value in _shared_errors(constants, inference, training, tables).items():
        constants.values[f"factor/{name}"] = value
    on_cpu = [_on_cpu(row, tables) for row in timm_rows(tables, ON_CPU) if keep(row)]
    fit(constants, on_cpu, ["factor/cpu/above_base", "factor/cpu/s_per_operator", "rate/"], _ASSUMED_SPREAD)
    return constants.calibration(base)


def write_fitted_classes(tables: Tables, folder: Path) -> None:
    """Fit to all rows and write class_rates.csv and factors.csv; what FP32 takes is of other publications."""
    calibration = float32_fit.with_float32_kernels(tables, fitted(tables, lambda _: True))
    write_class_rates(folder / "class_rates.csv", calibration.class_rates, _WRITTEN_SOURCE)
    write_factors(folder / "factors.csv", calibration.factors, _source_of)


def _source_of(name: str) -> str:
    if name in float32_fit.FACTOR_NAMES:
        return float32_fit.SOURCE
    return _STARTING_SOURCE if name.startswith(float32_fit.GROUP) else _WRITTEN_SOURCE


@functools.cache
def without_fold(tables: Tables, fold: int, gpus: tuple[str, ...] | None = None) -> Calibration:
    """Fitted without the families of one part, and only to runs on these GPUs (CPU runs apart); None: any."""
    cpus = {row.device for row in timm_rows(tables, ON_CPU)}
    return fitted(tables, lambda row: row.fold != fold and (gpus is None or row.device in gpus or row.device in cpus))


@functools.cache
def rated_without_fold(tables: Tables, fold: int, gpus: tuple[str, ...], target: str) -> Calibration:
    """`without_fold`, with three rates of the target GPU from runs on it of families that are not in the part."""
    base = without_fold(tables, fold, gpus)
    runs = [row for row in timm_rows(tables, INFERENCE) if row.device == target and row.fold != fold]
    return with_fitted_rates(tables, base, [row for row in runs if not row.compiled], target)


def with_fitted_rates(tables: Tables, base: Calibration, runs: Sequence[TimmRow], target: str) -> Calibration:
    """`base` with the rates of products, convolutions and memory of a GPU as runs on it tell."""
    gpu = tables.catalogue.gpu(target)
    assert gpu is not None
    device = gpu_rates(gpu, FLOAT16, base)
    if device is None or len(runs) < _LEAST_ROWS:
        return base
    constants = Constants(base)
    fit(constants, [_sample(row, row.mixed_ops(), device) for row in runs], ["device/"], _ASSUMED_SPREAD)
    source = f"three rates fitted to {len(runs)} published runs of other models"
    matrix = device.matrix_flops_per_s * constants.values["device/matrix"]
    convolution = device.convolution_flops_per_s * constants.values["device/convolution"]
    vector = device.bytes_per_s * constants.values["device/vector"]
    rates = SustainedRates(
        matmul_flops_per_s={FLOAT16: Figure(value=matrix, kind=PUBLISHED, source=source)},
        convolution_flops_per_s={FLOAT16: Figure(value=convolution, kind=PUBLISHED, source=source)},
        vector_bytes_per_s=Figure(value=vector, kind=PUBLISHED, source=source),
    )
    return msgspec.structs.replace(base, rates={**base.rates, target: rates})


def _shared_errors(
    constants: Constants, inference: Sequence[TimmRow], training: Sequence[TimmRow], tables: Tables
) -> dict[str, float]:
    """What `transfer_fit` finds in the rows that the other constants were fitted to."""
    rows = [*inference, *training]
    samples = [
        *(_inference(row, tables) for row in inference),
        *(_from_inference(row, tables) for row in training),
    ]
    logs = residuals(constants, samples)
    found = [
        transfer_fit.Residual(row, sample.training, log) for row, sample, log in zip(rows, samples, logs, strict=True)
    ]
    return transfer_fit.shared_errors(transfer_fit.pairs(found))


def _gpu(row: TimmRow, tables: Tables) -> DeviceRates:
    gpu = tables.catalogue.gpu(row.device)
    rates = gpu_rates(gpu, FLOAT16, tables.calibration) if gpu is not None else None
    assert rates is not None
    return rates


def _inference(row: TimmRow, tables: Tables) -> Sample:
    return _sample(row, row.mixed_ops(), _gpu(row, tables))


def _from_inference(row: TimmRow, tables: Tables) -> Sample:
    device = _gpu(row, tables)
    return _sample(row, row.mixed_ops(), device)._replace(training=True, fixed_s=_update_s(row, device))


def _traced(row: TimmRow, tables: Tables) -> Sample:
    device = _gpu(row, tables)
    ops = in_precision(row.training_ops(), FLOAT32, FLOAT16, float(row.table.parameters))
    return _sample(row, ops, device)._replace(fixed_s=_update_s(row, device))


def _on_cpu(row: TimmRow, tables: Tables) -> Sample:
    cpu = tables.catalogue.cpu(row.device)
    device = cpu_rates(cpu) if cpu is not None else None
    base_clock = cpu_rates(msgspec.structs.replace(cpu, peak_clock_kind="")) if cpu is not None else None
    assert device is not None
    assert base_clock is not None
    faster = device.matrix_flops_per_s > base_clock.matrix_flops_per_s
    return _sample(row, row.float32_ops(), base_clock)._replace(above_base=faster)


def _sample(row: TimmRow, ops: tuple[Op, ...], device: DeviceRates) -> Sample:
    return Sample(ops, device, row.step_s, compiled=row.compiled)


def _update_s(row: TimmRow, device: DeviceRates) -> float:
    """SGD with momentum over all parameters, in float32."""
    return row.table.parameters * 4.0 * OPTIMIZER_PASSES["momentum"] / device.bytes_per_s
