"""How wide a prediction's range is, and why.

A prediction carries a list of reasons to doubt it; each is a factor by which the true value may lie above or below
(nominally in 90% of cases). Independent doubts add up in the logarithm as squares do. The factors are the 90th
percentiles of the relative errors that such predictions had on published measurements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Doubt(NamedTuple):
    """One reason for a range."""

    reason: str
    factor: float


MEASURED_HERE = Doubt("measured on this very GPU; another host, driver or framework release moves it", 1.10)
"""Torch releases move published rows by up to 10% (90th percentile), hosts by 3%."""
GPU_TO_GPU = Doubt("transferred from a run on another GPU by specifications, operator class by class", 1.35)
"""25-34% on a GPU of a new generation that nothing was fitted on."""
GPU_TO_GPU_WHOLE = Doubt("transferred from a run on another GPU by specifications, without operators", 1.60)
"""47-60% for plain ratios of specifications."""
NO_GPU_RUN = Doubt("computed from the operators' work and specifications, no GPU has run this job", 1.75)
"""27-51% for tuned models and 74% for plain ones; this one is not tuned on training."""
CPU_TO_CPU = Doubt("transferred from a run on another CPU by specifications", 2.0)
"""No published figure; CPU rates in the catalogue are derived from clocks."""
PRECISION_CHANGE = Doubt("computed in another precision than the run's", 1.45)
"""43% for FP32 to AMP, 41% for FP32 to TF32."""
STAGE_CHANGE = Doubt("training and inference exchanged", 1.36)
"""36% for plain ratios."""
MANY_GPUS = Doubt("spread over several GPUs", 1.36)
"""26-36% for plain models from 1 to 8 GPUs."""
SHARDED = Doubt("parameters sharded over the GPUs; layer sizes are not known", 1.5)
"""No published figure for a model without layer sizes."""


def combined(doubts: Sequence[Doubt]) -> float:
    """The factor that all doubts together amount to."""
    return math.exp(math.sqrt(sum(math.log(doubt.factor) ** 2 for doubt in doubts)))
