"""Training of language models on 64 to 512 GPUs, with constants fitted on up to 32 GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.parallel_fit import MOST_GPUS_FITTED, without_transformers
from gpuscope.advisor.validation.studies._training import training_outcomes
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import llm_foundry
from gpuscope.advisor.validation.transformer_fit import fit_transformers

NAME = "llm-training"
DESCRIPTION = (
    "Language models of 125M to 70B parameters on 64 to 512 GPUs, from their dimensions; fitted on 8 to 32 GPUs."
)
CASE = "many-gpus"
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Rows of 64 GPUs and more."""
    rows = list(llm_foundry(tables))
    base = without_transformers(tables.calibration)
    calibration = fit_transformers((row for _, row in rows if row.topology.gpus <= MOST_GPUS_FITTED), base)
    large = [(cells["model"], row) for cells, row in rows if row.topology.gpus > MOST_GPUS_FITTED]
    source = rows[0][0]["source"]
    yield from training_outcomes(NAME, "mpt", "64 GPUs and more", source, large, calibration)
