"""A training suite's step times predicted for GPUs of which only specifications are known."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._suites import chip_held_out, same_precision
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.unit_times import lambda_units

NAME = "new-generation-suites"
DESCRIPTION = (
    "From a step time on one GPU to a GPU of which only specifications are known: no row of its chip was seen."
)
CASE = "new-generation"
GOAL = None
TRIED = (
    "A rate for each card from the suite's other tasks is no specification, and gained little (10 / 34). The tail is "
    "Transformer-XL and NCF, whose small steps leave newer cards waiting for the host more than the mix of their "
    "kind says, and 300 W workstation cards."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every pair of GPUs with different chips that ran a task of Lambda's suite in the same precision."""
    yield from chip_held_out(NAME, tables, lambda_units(tables), same_precision)
