"""Image-model inference on an RTX 3090 predicted for an RTX 4090 of which three rates are known."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._new_card import SOURCE_GPU, TARGET_GPU, runs_on_both
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import rated_without_fold
from gpuscope.advisor.validation.timm_rows import run_footprint
from gpuscope.domain.recommendation import Constraints

NAME = "timm-inference"
DESCRIPTION = (
    "From a profiled run on an RTX 3090 to an RTX 4090, mixed precision, eager; class constants from the 3090 and the "
    "4090's three rates from other families of models."
)
CASE = "source-run"
GOAL = None
TRIED = (
    "Without taking off the part of the source's error that does not come back (4.3 / 10.7); two rates of the target "
    "instead of three, looser priors of the class constants, and a cache term of twice the size: none was better. The "
    "median is within the goal. The rest is what one constant by kind of operator leaves: which kernel a library picks "
    "for a width differs between the cards; and half of the pairs are of two releases of PyTorch."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every model with an eager run on both cards in one layout."""
    for source, row in runs_on_both(tables):
        calibration = rated_without_fold(tables, row.fold, (SOURCE_GPU,), TARGET_GPU)
        footprint = run_footprint(source, tables, batch=row.batch)
        held_out = f"family {row.family}; class constants: {TARGET_GPU}"
        yield on_gpu(NAME, footprint, row, calibration, tables, held_out, Constraints())
