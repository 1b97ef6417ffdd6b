"""Image-model inference on CPUs, from the work of its operators."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import on_cpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import ON_CPU, timm_rows, work_footprint

NAME = "timm-cpu"
DESCRIPTION = (
    "From the float32 operators of a model to compiled inference of one picture on two CPUs; constants from other "
    "families of models."
)
CASE = "cpu-or-dry-run"
GOAL = None
TRIED = (
    "One share by kind of operator, a fixed time for each, and the clock under load as constants. One picture of a "
    "small model takes milliseconds, in which caches, threads that wait for each other and the layout of weights count "
    "as much as work and memory do; none of them is in a footprint."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every run on a CPU."""
    for row in timm_rows(tables, ON_CPU):
        footprint = work_footprint(row, row.float32_ops(), FLOAT32, "inference")
        yield on_cpu(NAME, footprint, row, without_fold(tables, row.fold), tables, f"family {row.family}")
