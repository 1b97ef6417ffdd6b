"""Inference and training of image models predicted from what a dry run in float32 shows."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import INFERENCE, TRAINING, timm_rows, work_footprint
from gpuscope.domain.recommendation import Constraints

NAME = "timm-dry-run"
DESCRIPTION = (
    "From the float32 operators of a model, as a dry run or a run on a CPU shows them, to eager mixed precision on an "
    "RTX 3090 and an RTX 4090; constants from other families of models."
)
CASE = "cpu-or-dry-run"
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every eager run of inference, and every training run whose training step was traced."""
    mixed = Constraints(precision="float16")
    for row in timm_rows(tables, INFERENCE):
        if not row.compiled and not row.torch.startswith("1."):
            footprint = work_footprint(row, row.float32_ops(), FLOAT32, "inference")
            calibration = without_fold(tables, row.fold, ("rtx-3090",))
            yield on_gpu(NAME, footprint, row, calibration, tables, f"family {row.family}, rtx-4090", mixed)
    for row in timm_rows(tables, TRAINING):
        if row.training_ops():
            footprint = work_footprint(row, row.training_ops(), FLOAT32, "training")
            yield on_gpu(NAME, footprint, row, without_fold(tables, row.fold), tables, f"family {row.family}", mixed)
