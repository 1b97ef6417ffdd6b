"""Training of image models predicted from a run of inference on the same GPU, channels last in memory."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import training_from_inference
from gpuscope.advisor.validation.tables import Tables

NAME = "timm-training-nhwc"
DESCRIPTION = (
    "From a profiled run of inference on an RTX 3090 to training on it, mixed precision, channels last; constants from "
    "other families of models."
)
CASE = "inference-to-training"
GOAL = None
TRIED = (
    "Factors of their own for channels-last convolutions, depthwise convolutions and batch norm. Backward passes of "
    "grouped convolutions took paths of the library of 2022 that differ up to tenfold with the width of a group; one "
    "factor for all of them is what these rows can tell apart, and the errors of a tenth of the rows come from there."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every training run with a run of inference in that layout."""
    yield from training_from_inference(NAME, tables, "nhwc")
