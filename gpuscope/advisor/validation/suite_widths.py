"""Widths of the ranges of whole steps, new cards and several GPUs (`widths`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from gpuscope.advisor.calibration.model import Calibration, Interval
from gpuscope.advisor.calibration.writing import write_intervals
from gpuscope.advisor.timing.uncertainty import doubt
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies import (
    lambda_training,
    neusight_models,
    new_card_images,
    new_generation_suites,
    nvidia_examples,
    scaling_1_to_8,
    to_16_bit,
    to_tf32,
    v100_to_a100,
)
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.widths import Need, left_open, width_of_all

_LEAST_FACTOR = 1.02
_SOURCE = "errors on published rows that were held out: "
# Specifications of one new card are those of a pair of cards by one maker; other new generations were further off
# (a range of ±10% learned on 3090 to 4090 held 21% of a 5090's rows, which need ±30%).
_NEW_GENERATION_FACTOR = 1.30


def suite_widths(tables: Tables) -> dict[str, Interval]:
    """Width by code of the doubt (`timing.uncertainty`)."""
    shipped = tables.calibration
    whole = _width(
        "gpu_to_gpu_whole",
        "training suites, one GPU to another",
        [
            *lambda_training.outcomes(tables),
            *nvidia_examples.outcomes(tables),
            *new_generation_suites.outcomes(tables),
            *v100_to_a100.outcomes(tables),
        ],
        shipped,
    )
    changed = _width(
        "precision_change_whole",
        "training suites, FP32 and TF32 to 16 bits, FP32 to TF32",
        [*to_16_bit.outcomes(tables), *to_tf32.outcomes(tables)],
        shipped,
        {"gpu_to_gpu_whole": whole.factor},
    )
    card = _width("gpu_to_gpu", "image models on a new card", new_card_images.outcomes(tables), shipped)
    # These are FP32 steps of language models alone, of cards whose generations have rows: no narrower than assumed.
    least = doubt("specified_only").factor
    specified = _width("specified_only", "language models by specifications", neusight_models.outcomes(tables), shipped)
    return {
        "gpu_to_gpu_whole": whole,
        "precision_change_whole": changed,
        "gpu_to_gpu": msgspec.structs.replace(card, factor=max(card.factor, _NEW_GENERATION_FACTOR)),
        "specified_only": msgspec.structs.replace(specified, factor=max(specified.factor, least)),
        "many_gpus": _width("many_gpus", "training suites on 2 to 8 GPUs", scaling_1_to_8.outcomes(tables), shipped),
    }


def write_suite_widths(tables: Tables, folder: Path) -> None:
    """Write these widths into intervals.csv beside those of other studies."""
    write_intervals(folder / "intervals.csv", {**tables.calibration.intervals, **suite_widths(tables)})


def _width(
    code: str,
    what: str,
    outcomes: Iterable[Outcome],
    shipped: Calibration,
    changed: Mapping[str, float] | None = None,
) -> Interval:
    """The width of one doubt that all of these predictions carry.

    Args:
        code: of the doubt.
        what: the rows, in words.
        outcomes: predictions that carry it.
        shipped: the calibration that their ranges were made with.
        changed: other doubts that they all carry, with the factors that these get now.
    """
    replaced = {code: 1.0, **(changed or {})}
    needs = []
    for outcome in outcomes:
        if outcome.predicted is not None and outcome.log_ratio is not None:
            others = _squared_log(outcome.predicted.high / outcome.predicted.mid)
            for each, factor in replaced.items():
                others += _squared_log(factor) - _squared_log(doubt(each, shipped).factor)
            needs.append(Need(outcome.study, outcome.gpu, outcome.family, left_open(outcome.log_ratio, others)))
    factor = max(_LEAST_FACTOR, math.exp(width_of_all(needs)))
    return Interval(factor=factor, rows=len(needs), source=_SOURCE + what)


def _squared_log(factor: float) -> float:
    return math.log(factor) ** 2
