"""DeepSpeed's ZeRO stage 3 of 2021 on 384 to 2240 GPUs; nothing was fitted on this publication."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._training import training_outcomes
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import SHARDED_EXPERIMENT, megatron_multi_node

NAME = "deepspeed-sharded"
DESCRIPTION = "GPT models of 175 and 530 billion parameters, all sharded, on 384 to 2240 A100, from their dimensions."
CASE = ""
GOAL = (0.10, 0.20)
TRIED = (
    "These runs took 1.4 to 3.7 times what is predicted. With one of the machines' eight network cards in use they "
    "would be predicted 3 to 18% too fast. Sharded training since then (llm-training, tuned-training) uses all cards, "
    "so that is not taken over; a range that held these rows would be of no use for those."
)


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """The sharded rows, with the constants as they ship: those were fitted on other publications."""
    for cells, row in megatron_multi_node(tables):
        if cells["experiment"] == SHARDED_EXPERIMENT:
            name = f"GPT {float(cells['parameters_billion']):g}B"
            yield from training_outcomes(
                NAME, "gpt", "this publication", cells["source"], [(name, row)], tables.calibration
            )
