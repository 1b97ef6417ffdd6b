"""Step times of a training suite on one GPU, without a profile, predicted for every other GPU of the suite."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._suites import family_held_out, same_precision
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import lambda_units

NAME = "lambda-training"
DESCRIPTION = (
    "From a step time on one GPU to the same training task on another, on Lambda's suite; a model family held out."
)
CASE = ""
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every ordered pair of GPUs that ran a task in the same precision."""
    yield from family_held_out(NAME, tables, lambda_units(tables), same_precision)
