"""Megatron-LM on up to 3072 GPUs: tensor, pipeline and data parallel; nothing was fitted on these publications."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._training import training_outcomes
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import megatron_multi_node

NAME = "megatron-multi-node"
DESCRIPTION = (
    "GPT models of 1.7 to 1008 billion parameters in published layouts on 8 to 3072 A100, from their dimensions."
)
CASE = ""
GOAL = (0.10, 0.20)
TRIED = (
    "The rows of DeepSpeed's ZeRO stage 3 of 2021 took 1.4 to 3.7 times what is predicted. With one of the machines' "
    "eight network cards in use they would be predicted 3 to 18% too fast; sharded training since then (llm-training, "
    "tuned-training) uses all cards, so that is not taken over."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """All rows, with the constants as they ship: those were fitted on other publications."""
    for cells, row in megatron_multi_node(tables):
        name = f"GPT {float(cells['parameters_billion']):g}B ({cells['experiment']}, {cells['recomputation']})"
        yield from training_outcomes(
            NAME, cells["experiment"], "these publications", cells["source"], [(name, row)], tables.calibration
        )
