"""Megatron-DeepSpeed in one machine: small models, whose host sets the pace; fitted on models of other depths."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.calibration.fitting import Constant
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._training import training_outcomes
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.training_rows import megatron_single_node
from gpuscope.advisor.validation.transformer_fit import fit_transformers

NAME = "megatron-single-node"
DESCRIPTION = (
    "GPT models in tensor, pipeline and data parallel layouts on 2 to 8 A100 of one machine; what the host takes for a "
    "layer is fitted on models of 12 and 20 layers, and held against those of 16 and 24."
)
CASE = ""
GOAL = (0.10, 0.25)
TRIED = ""

_FITTED_DEPTHS = (12, 20)
_FREE = {"host_us_per_layer": Constant(1500.0, 2.0), "elementwise_bytes": Constant(1.2, 1.3)}
"""What a framework and its host change."""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Rows of the depths that were left out."""
    rows = list(megatron_single_node(tables))
    seen = (row for _, row in rows if row.shape.layers in _FITTED_DEPTHS)
    calibration = fit_transformers(seen, tables.calibration, _FREE)
    held = [
        (f"GPT {row.shape.layers} × {row.shape.hidden}", row)
        for _, row in rows
        if row.shape.layers not in _FITTED_DEPTHS
    ]
    yield from training_outcomes(NAME, "gpt", "models of 16 and 24 layers", rows[0][0]["source"], held, calibration)
