"""Image-model inference predicted from the work of its operators, with no run anywhere."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.job.precision import FLOAT16
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import INFERENCE, timm_rows, work_footprint
from gpuscope.domain.recommendation import Constraints

NAME = "timm-no-run"
DESCRIPTION = (
    "From the operators of a model under autocast to an RTX 3090 and an RTX 4090 by their specifications, eager; class "
    "constants from the 3090 and other families of models."
)
CASE = "no-run"
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every eager run of inference."""
    for row in timm_rows(tables, INFERENCE):
        if not row.compiled:
            calibration = without_fold(tables, row.fold, ("rtx-3090",))
            footprint = work_footprint(row, row.mixed_ops(), FLOAT16, "inference")
            held_out = f"family {row.family}, rtx-4090"
            yield on_gpu(NAME, footprint, row, calibration, tables, held_out, Constraints())
