"""Image-model inference on an RTX 3090 predicted for an RTX 4090 by specifications alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._new_card import TARGET_GPU, runs_on_both, specified
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_rows import run_footprint
from gpuscope.domain.recommendation import Constraints

NAME = "new-card-images"
DESCRIPTION = (
    "From a profiled run on an RTX 3090 to an RTX 4090 of which only specifications are known, mixed precision; class "
    "constants from the 3090 and other families of models."
)
CASE = "new-generation"
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every model with an eager run on both cards in one layout."""
    for source, row in runs_on_both(tables):
        footprint = run_footprint(source, tables, batch=row.batch)
        held_out = f"family {row.family}; all GPUs like {TARGET_GPU}"
        yield on_gpu(NAME, footprint, row, specified(tables, row.fold), tables, held_out, Constraints())
