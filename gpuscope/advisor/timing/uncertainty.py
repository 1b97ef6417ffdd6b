"""How wide a prediction's range is, and why.

A prediction carries a list of reasons to doubt it; each is a factor by which the true value may lie above or below
(nominally in 90% of cases). Independent doubts add up in the logarithm as squares do. The factors come from a
calibration (resources/calibration/intervals.csv): quantiles of the errors that such predictions had on published rows
that they had not seen (split conformal prediction, in the logarithm). Without one they are those of this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.calibration.model import EMPTY, Calibration


class Doubt(NamedTuple):
    """One reason for a range."""

    reason: str
    factor: float


_UNCALIBRATED: dict[str, Doubt] = {
    # Torch releases move published rows by up to 10% (90th percentile), hosts by 3%.
    "measured_here": Doubt("measured on this very GPU; another host, driver or framework release moves it", 1.10),
    # 25-34% on a GPU of a new generation that nothing was fitted on.
    "gpu_to_gpu": Doubt("transferred from a run on another GPU by specifications, operator class by class", 1.35),
    # 9-16% where both GPUs' rates are known.
    "gpu_to_gpu_rated": Doubt(
        "transferred from a run on another GPU by sustained rates, operator class by class", 1.18
    ),
    # 47-60% for plain ratios of specifications.
    "gpu_to_gpu_whole": Doubt("transferred from a run on another GPU without operators", 1.60),
    "unknown_workload": Doubt("what kind of model it is was not recorded", 1.25),
    # 27-51% for tuned models and 74% for plain ones.
    "no_gpu_run": Doubt("computed from the operators' work, no GPU has run this job", 1.75),
    # A new generation's runs were 14% off the specifications' ratio in the middle, 25% at the 90th percentile.
    "specified_only": Doubt("nobody measured this GPU's rates: they follow from its specifications", 1.25),
    # No published figure; CPU rates in the catalogue are derived from clocks.
    "cpu_to_cpu": Doubt("transferred from a run on another CPU by specifications", 2.0),
    # CNNs and transformers on two CPUs: 30-50% at the 90th percentile.
    "no_cpu_run": Doubt("computed from the operators' work, no CPU has run this job", 2.0),
    # 43% for FP32 to AMP, 41% for FP32 to TF32.
    "precision_change": Doubt("computed in another precision than the run's", 1.45),
    # Suites of whole steps: up to twice off where a model gains little from tensor cores.
    "precision_change_whole": Doubt("how much of the model another precision speeds up is not known", 1.5),
    "eight_bit": Doubt("computed in 8 bits: which layers a framework converts is not known", 1.4),
    # 36% for plain ratios.
    "stage_change": Doubt("training and inference exchanged", 1.36),
    # Published training runs lie up to four times above and below one factor for all widths of groups.
    "grouped_channels_last": Doubt("backward passes of grouped convolutions, channels last, vary several times", 2.2),
    # Eager against compiled: 15% at the median, 36% at the 90th percentile.
    "compile_change": Doubt("compiled or not, unlike the run", 1.36),
    # An L4 sustains 28% of its FP32 peak, 300 W cards at most 55%: how much is lost depends on the mix of work.
    "power_capped": Doubt("the card's power limit keeps it far below its peak", 1.25),
    # GDDR6X reaches 0.87 of its bandwidth, GDDR5 and GDDR6 0.75: a new kind may be either.
    "unseen_memory": Doubt("what such memory sustains was not published", 1.16),
    # 26-36% for plain models from 1 to 8 GPUs.
    "many_gpus": Doubt("spread over several GPUs", 1.36),
    # No published figure for a model without layer sizes.
    "sharded": Doubt("parameters sharded over the GPUs; layer sizes are not known", 1.5),
    # 7-20% on published runs of language models, most on two GPUs; other models and kernels are not in them.
    "transformer_dimensions": Doubt("computed from a transformer's dimensions, no GPU has run this job", 1.25),
    # NVIDIA's published steps on H100 to GB300 took 0.65 to 0.95 of what frameworks in general take.
    "tuned_software": Doubt("libraries tuned for this GPU take up to a third less", 1.35),
    # 22% at the median and 42% at the 90th percentile on published runs of mixtures.
    "mixture": Doubt("a mixture of experts: routing and uneven experts cost time that only a run tells", 1.5),
    # Published sustained rates of other vendors cover matrix products only.
    "other_vendor": Doubt("not an NVIDIA GPU: published runs that the model could be held against are few", 1.5),
}


def doubt(code: str, calibration: Calibration = EMPTY) -> Doubt:
    """A reason to doubt a prediction, as wide as the calibration found it, else as assumed here."""
    known, interval = _UNCALIBRATED[code], calibration.intervals.get(code)
    return known if interval is None else known._replace(factor=interval.factor)


def codes() -> tuple[str, ...]:
    """All codes of doubts."""
    return tuple(_UNCALIBRATED)


def combined(doubts: Sequence[Doubt]) -> float:
    """The factor that all doubts together amount to."""
    return math.exp(math.sqrt(sum(math.log(each.factor) ** 2 for each in doubts)))
