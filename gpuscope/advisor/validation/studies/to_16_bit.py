"""Full-precision training steps predicted in 16 bits on the same GPU, from the step time alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.job.precision import is_16_bit
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.rates_fit import all_units
from gpuscope.advisor.validation.studies._suites import family_held_out
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import UnitTime

NAME = "to-16-bit"
DESCRIPTION = (
    "From a training step in FP32 or TF32 to 16 bits on the same GPU, without a profile; a model family held out."
)
CASE = "to-16-bit"
GOAL = None
TRIED = (
    "What a model gains from 16 bits without its operators being known depends on what its framework does besides: "
    "NHWC convolutions gain up to twice what the mix of their kind says; V-Net and Transformer-XL in TensorFlow gain "
    "nearly nothing. A kind of its own for separable convolutions, graphs among what looks up, and a share of its own "
    "for TF32 took it from 22 / 57 to 20 / 55; a kind for detectors made it worse. A mix for each framework would fit "
    "these rows and no others. A profiled run (its operators) is the way to a narrower range."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every GPU that ran a task of either suite in full and in half precision."""
    yield from family_held_out(NAME, tables, all_units(tables), _wanted)


def _wanted(source: UnitTime, target: UnitTime) -> bool:
    return source.gpu == target.gpu and not is_16_bit(source.precision) and is_16_bit(target.precision)
