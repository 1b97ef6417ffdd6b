"""Step times of NVIDIA's training examples on one GPU, without a profile, predicted for another."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._suites import family_held_out, same_precision
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import dle_units

NAME = "nvidia-examples"
DESCRIPTION = (
    "From a step time on one GPU to the same training task on another, on NVIDIA's examples; a model family held out."
)
CASE = ""
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every ordered pair of GPUs that ran a task in the same precision."""
    yield from family_held_out(NAME, tables, dle_units(tables), same_precision)
