"""Training of image models predicted from a run of inference on the same GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import INFERENCE, TRAINING, TimmRow, run_footprint, timm_rows
from gpuscope.domain.recommendation import Constraints

NAME = "timm-training"
DESCRIPTION = (
    "From a profiled run of inference on an RTX 3090 to training on it, mixed precision; constants from other families."
)
CASE = "inference-to-training"
GOAL = None
TRIED = (
    "Factors by kind of operator, with and without a loose prior, and fitted for the usual layout alone. In the usual "
    "layout the goal is nearly met; channels-last training of grouped convolutions took paths of the library of 2022 "
    "that no class of operators tells apart (up to four times slower), and inference was published for later releases."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every training run with a run of inference in the same layout, of the nearest release of PyTorch; of models with
    attention, of one that computes it likewise."""
    runs: dict[tuple[str, int, str], list[TimmRow]] = {}
    for row in timm_rows(tables, INFERENCE):
        if row.device == "rtx-3090" and not row.compiled and (row.torch.startswith("1.") or not row.has_attention):
            runs.setdefault((row.model, row.img_size, row.layout), []).append(row)
    for row in timm_rows(tables, TRAINING):
        sources = runs.get((row.model, row.img_size, row.layout))
        if sources:
            source = min(sources, key=lambda each: each.torch)
            footprint = run_footprint(source, tables, batch=row.batch)
            yield on_gpu(
                NAME, footprint, row, without_fold(tables, row.fold), tables, f"family {row.family}",
                Constraints(stage="training"),
            )  # fmt: skip
