"""FP32 training steps on GPUs without TF32 predicted in TF32 on GPUs that have it, from the step time alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.job.precision import FLOAT32, TF32
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.rates_fit import all_units
from gpuscope.advisor.validation.studies._suites import family_held_out
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import UnitTime

NAME = "to-tf32"
DESCRIPTION = (
    "From a training step in FP32 on Volta or Turing to TF32 on an A100, by its time alone; a family held out."
)
CASE = "to-tf32"
GOAL = None
TRIED = (
    "Convolutions get two thirds of the TF32 rate of products, as on image models; products get the share of 16 bits "
    "times a fitted constant, and separable convolutions a kind of their own: together from 21 / 52 to 18 / 47. "
    "Detectors, one-dimensional convolutions and graphs are slower still. As in the study to-16-bit the time alone "
    "does not say how much of a step runs on tensor cores."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every GPU without TF32 and A100 that ran a task of either suite in full precision."""
    yield from family_held_out(NAME, tables, all_units(tables), _wanted)


def _wanted(source: UnitTime, target: UnitTime) -> bool:
    return source.precision == FLOAT32 and target.precision == TF32 and target.gpu.startswith("a100")
