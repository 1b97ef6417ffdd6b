"""How much of their rates kernels reach in FP32, fitted to published kernels and steps.

The class constants come from image models in mixed precision. Two kinds of kernels are otherwise in FP32:

- Operators that only move memory, timed one at a time: the vector rate is that of a large elementwise operator in FP32,
  so that its share is 1 by definition, and layer norms read their rows twice, once for the moments and once to write
  (shares from mixed precision, where tensors may have 16 bits, do not show it). Softmax reaches in FP32 what it does in
  mixed precision. Batch norms were not published by themselves: forward they are elementwise operators with a factor
  for each channel, and get their rate (image models, in which a ReLU follows each, tell only what the two reach
  together).
- Products: rates in FP32 are those of single kernels; a language model's products follow each other, at the clock that
  the card holds meanwhile.

Each is one constant for all GPUs, where the middle published row is predicted right.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.timing.class_constants import NHWC, class_rate
from gpuscope.advisor.timing.device_rates import gpu_rates
from gpuscope.advisor.timing.roofline import op_seconds
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.kernel_rows import moving_op, moving_rows, moving_seconds
from gpuscope.advisor.validation.language_rows import language_footprint, language_rows, language_seconds
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.recommendation import Constraints

GROUP = "float32/"
FACTOR = f"{GROUP}gemm"
MOVING_KINDS = frozenset({"elementwise", "layer_norm"})
"""Kinds that only move memory, reach another share in FP32, and were published by themselves."""
_ALIKE = {"batch_norm": None, f"batch_norm/{NHWC}": NHWC}
"""Factors of kinds that move memory as an elementwise operator does, and their variant."""
FACTOR_NAMES = (FACTOR, *(GROUP + kind for kind in (*sorted(MOVING_KINDS), *_ALIKE)))
"""What is fitted here."""
SOURCE = "fit to published kernels and language models in FP32 (sitar-lab/NeuSight)"
_LARGE_BYTES = 100e6
"""Written by a kernel whose own time is lost in that of its memory traffic; the vector rates are of such ones, too."""
_LEAST, _MOST = 0.7, 1.1
_HALVINGS = 7
"""Narrow the range to 0.003."""


def with_float32_kernels(
    tables: Tables, calibration: Calibration, without_gpus: AbstractSet[str] = frozenset()
) -> Calibration:
    """The calibration with all constants of FP32 from the published rows but those on some GPUs."""
    shares = _moving_shares(tables, calibration, without_gpus)
    moving = with_factors(calibration, {**shares, **_alike(calibration, shares)})
    low, high = _LEAST, _MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _median_ratio(tables, with_factors(moving, {FACTOR: middle}), without_gpus) > 1:
            low = middle
        else:
            high = middle
    return with_factors(moving, {FACTOR: (low + high) / 2})


def with_factors(calibration: Calibration, factors: Mapping[str, float]) -> Calibration:
    """The calibration with some factors replaced."""
    return msgspec.structs.replace(calibration, factors={**calibration.factors, **factors})


def float32_factors(calibration: Calibration) -> dict[str, float]:
    """What `with_float32_kernels` fits, of a calibration that has it."""
    return {name: calibration.factors[name] for name in FACTOR_NAMES}


def _moving_shares(tables: Tables, calibration: Calibration, without_gpus: AbstractSet[str]) -> dict[str, float]:
    """Predicted over measured time of the middle large kernel of each kind, whose share is taken to be 1."""
    whole = with_factors(calibration, {GROUP + kind: 1.0 for kind in MOVING_KINDS})
    ids = {row["gpu_id"] for row in moving_rows(tables)} - without_gpus
    gpus = [gpu for gpu in tables.catalogue.gpus if gpu.id in ids]
    devices = {gpu.id: gpu_rates(gpu, FLOAT32, whole) for gpu in gpus}
    ratios: dict[str, list[float]] = defaultdict(list)
    for row in moving_rows(tables):
        op, device = moving_op(row), devices.get(row["gpu_id"])
        if device is not None and op.kind in MOVING_KINDS and (op.bytes_written or 0.0) >= _LARGE_BYTES:
            ratios[GROUP + op.kind].append(op_seconds(op, device, whole) / moving_seconds(row))
    return {key: statistics.median(values) for key, values in ratios.items()}


def _alike(calibration: Calibration, shares: Mapping[str, float]) -> dict[str, float]:
    """Factors with which batch norms reach in FP32 what elementwise operators do."""
    reached = shares.get(f"{GROUP}elementwise", 1.0) * class_rate(calibration, "elementwise").bandwidth
    return {
        GROUP + key: reached / class_rate(calibration, "batch_norm", variant).bandwidth
        for key, variant in _ALIKE.items()
    }


def _median_ratio(tables: Tables, calibration: Calibration, without_gpus: AbstractSet[str]) -> float:
    """Predicted over measured; 1 where no row may be seen."""
    ratios = []
    for row in language_rows(tables):
        gpu = tables.catalogue.gpu(row["gpu_id"])
        if gpu is None or gpu.id in without_gpus:
            continue
        predicted = step_on_gpu(prepare(language_footprint(row), Constraints(), tables.catalogue, calibration), gpu)
        if predicted.seconds is not None:
            ratios.append(predicted.seconds.mid / language_seconds(row))
    return statistics.median(ratios) if ratios else 1.0
