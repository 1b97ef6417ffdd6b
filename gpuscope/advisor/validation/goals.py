"""How good the predictions are meant to be, by kind of prediction, before any of them was looked at."""

from __future__ import annotations

from typing import NamedTuple

COVERAGE_GOAL = 0.88
"""A nominal 90% range is to hold at least this share of the measurements of a study."""
STRATUM_ROWS = 30
STRATUM_COVERAGE = 0.80
"""No part of a study with at least `STRATUM_ROWS` rows is to be covered less than this."""


class Case(NamedTuple):
    """One kind of prediction with the relative errors that are aimed at, as shares."""

    key: str
    """What a study names as its `CASE`."""
    name: str
    naive: str
    """Median / 90th percentile, percent, of plain ratios of specifications on such rows."""
    goal: tuple[float, float]
    """Median and 90th percentile of the relative error."""


CASES = (
    Case("source-run", "a run on one GPU → a GPU with calibrated rates, same precision", "29–40 / 47–60", (0.04, 0.10)),
    Case(
        "new-generation", "a run on one GPU → a GPU of which only specifications are known", "13–20 / 20–34",
        (0.10, 0.20),
    ),
    Case("target-runs", "the same, with about eight runs of other models on the target", "13–20 / 20–34", (0.04, 0.12)),
    Case("no-run", "no run at all, only the operators' work", "30 / 41", (0.12, 0.25)),
    Case("v100-a100", "a run on a V100 → an A100, in 16 bits", "11 / 24", (0.09, 0.20)),
    Case("to-16-bit", "a run in FP32 → 16 bits", "138 / 347", (0.15, 0.35)),
    Case("to-tf32", "a run in FP32 → TF32", "48 / 145", (0.15, 0.35)),
    Case("inference-to-training", "inference → training on the same GPU", "17 / 36", (0.05, 0.15)),
    Case("cpu-or-dry-run", "a run on a CPU, or a dry run, → a GPU or another CPU", "30 / 74", (0.12, 0.27)),
    Case("one-to-eight", "one GPU → up to eight in one machine", "3–10 / 26–36", (0.04, 0.15)),
    Case("many-gpus", "training of language models on 64 to 512 GPUs", "—", (0.10, 0.20)),
)  # fmt: skip
"""In the order of the document."""

CASE_BY_KEY = {case.key: case for case in CASES}
