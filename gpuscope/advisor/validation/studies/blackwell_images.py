"""Image-model inference on an RTX 4090 predicted for two Blackwell cards of which only specifications are known."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import run_footprint, timm_rows
from gpuscope.domain.recommendation import Constraints

NAME = "blackwell-images"
DESCRIPTION = (
    "From a profiled run on an RTX 4090 to an RTX 5090 and an RTX PRO 6000 Max-Q, mixed precision, one release of "
    "PyTorch; nothing was fitted on any card of that generation, nor on the model's family."
)
CASE = "new-generation"
GOAL = None
TRIED = (
    "Published rates of matrix products confirm the predicted ones to 2% (RTX 5090) and 11% (RTX PRO 6000); no rate of "
    "GDDR7 memory was found. With the share that GDDR5 and GDDR6 reach, instead of GDDR6X, the 5090 would be 2% off in "
    "the middle. The Max-Q card is held down further by its 300 W, by how much its specifications do not tell."
)

TABLE = "timm_blackwell"
SOURCE_GPU = "rtx-4090"


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every model with a run on the source and on one of the cards."""
    rows = timm_rows(tables, TABLE)
    runs = {(row.model, row.img_size): row for row in rows if row.device == SOURCE_GPU}
    for row in rows:
        source = runs.get((row.model, row.img_size))
        if row.device == SOURCE_GPU or source is None:
            continue
        footprint = run_footprint(source, tables, batch=row.batch)
        held_out = f"family {row.family}; all GPUs like {row.device}"
        yield on_gpu(NAME, footprint, row, without_fold(tables, row.fold), tables, held_out, Constraints())
