"""How much of a GPU's best FP32 product a language model's products sustain, fitted to published steps.

Rates in FP32 are those of single kernels, timed one at a time; a model's products follow each other, at the clock that
the card holds meanwhile. One constant for all GPUs: where the middle one of the published steps is predicted right.
"""

from __future__ import annotations

import statistics
from collections.abc import Set as AbstractSet

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.language_rows import language_footprint, language_rows, language_seconds
from gpuscope.advisor.validation.tables import Tables
from gpuscope.domain.recommendation import Constraints

FACTOR = "float32/gemm"
_LEAST, _MOST = 0.7, 1.1
_HALVINGS = 7
"""Narrow the range to 0.003."""


def with_float32_products(
    tables: Tables, calibration: Calibration, without_gpus: AbstractSet[str] = frozenset()
) -> Calibration:
    """The calibration with that constant from all published steps but those on some GPUs."""
    low, high = _LEAST, _MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _median_ratio(tables, _with(calibration, middle), without_gpus) > 1:
            low = middle
        else:
            high = middle
    return _with(calibration, (low + high) / 2)


def _with(calibration: Calibration, share: float) -> Calibration:
    return msgspec.structs.replace(calibration, factors={**calibration.factors, FACTOR: share})


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
