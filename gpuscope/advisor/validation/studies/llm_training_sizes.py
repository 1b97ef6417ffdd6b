"""Training of language models on 8 to 32 GPUs, with constants fitted on models of other sizes."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.job.precision import FLOAT8
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.parallel_fit import MOST_GPUS_FITTED, without_transformers
from gpuscope.advisor.validation.studies._training import training_outcomes
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import llm_foundry
from gpuscope.advisor.validation.transformer_fit import fit_transformers

NAME = "llm-training-sizes"
DESCRIPTION = (
    "Language models on 8 to 32 GPUs, from their dimensions; fitted on models of other sizes, in 16 bits alone."
)
CASE = ""
GOAL = (0.10, 0.20)
TRIED = ""

_FOLDS = (("125m", "760m", "3b", "13b", "70b"), ("350m", "1b", "7b", "30b"))


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Each half of the sizes with constants that the other half gave."""
    rows = [each for each in llm_foundry(tables) if each[1].topology.gpus <= MOST_GPUS_FITTED]
    base = without_transformers(tables.calibration)
    for fold in _FOLDS:
        calibration = fit_transformers((row for cells, row in rows if cells["model"] not in fold), base)
        held = [(cells["model"], row) for cells, row in rows if cells["model"] in fold]
        yield from training_outcomes(NAME, "mpt", "models of these sizes", rows[0][0]["source"], held, calibration)
        eight_bit = [(cells["model"], row) for cells, row in llm_foundry(tables, FLOAT8) if cells["model"] in fold]
        yield from training_outcomes(NAME, "mpt", "FP8 and these sizes", rows[0][0]["source"], eight_bit, calibration)
