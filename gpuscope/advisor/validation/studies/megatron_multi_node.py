"""Megatron-LM on up to 3072 GPUs: tensor, pipeline and data parallel; nothing was fitted on these publications."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._training import training_outcomes
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import SHARDED_EXPERIMENT, megatron_multi_node

NAME = "megatron-multi-node"
DESCRIPTION = (
    "GPT models of 1.7 to 1008 billion parameters in published layouts on 8 to 3072 A100, from their dimensions."
)
CASE = ""
GOAL = (0.10, 0.20)
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """All rows of Megatron-LM itself, with the constants as they ship: those were fitted on other publications."""
    for cells, row in megatron_multi_node(tables):
        if cells["experiment"] == SHARDED_EXPERIMENT:
            continue
        name = f"GPT {float(cells['parameters_billion']):g}B ({cells['experiment']}, {cells['recomputation']})"
        yield from training_outcomes(
            NAME, cells["experiment"], "these publications", cells["source"], [(name, row)], tables.calibration
        )
