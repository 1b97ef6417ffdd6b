"""Training of image models predicted from a run of inference on the same GPU, in PyTorch's usual layout."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import training_from_inference
from gpuscope.advisor.validation.tables import Tables

NAME = "timm-training"
DESCRIPTION = (
    "From a profiled run of inference on an RTX 3090 to training on it, mixed precision, usual memory layout; "
    "constants from other families of models."
)
CASE = "inference-to-training"
GOAL = None
TRIED = (
    "Factors by kind of operator with loose and tight priors, with and without factors of their own for channels-last "
    "convolutions; without taking off the part of the source's error that does not come back (5.4 / 14.7). Inference "
    "was published for later releases of PyTorch than training, which alone makes a tenth of the rows 5 to 10% slower "
    "or faster."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every training run with a run of inference in that layout."""
    yield from training_from_inference(NAME, tables, "nchw")
