"""Training with libraries tuned for the GPU, in their makers' layouts, on newer GPUs than those of the fit."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.parallel_fit import FITTED_MIXTURE, fitted_mixture, fitted_tuned
from gpuscope.advisor.validation.studies._training import training_outcomes
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.advisor.validation.training_rows import llm_layouts
from gpuscope.advisor.validation.transformer_fit import (
    EXPERT_CONSTANTS,
    TUNED_CONSTANTS,
    Trained,
    fit_transformers,
)

NAME = "tuned-training"
DESCRIPTION = (
    "Language models in their publishers' layouts, from their dimensions: NVIDIA's on H100 to GB300 with constants "
    "fitted on H100 runs of another release, mixtures with one fitted on another mixture, PyTorch's on A100 and H200 "
    "with none."
)
CASE = ""
GOAL = (0.10, 0.20)
TRIED = (
    "Mixtures of experts are what misses it: a change of the library's release alone moves their published steps by up "
    "to a factor of two (Qwen3-30B on B200), and routing, uneven experts and many small products depend on it. What "
    "narrow experts lose is time, as much in 16 bits as in 8: counted as operations, 16 bits came out half too slow."
)

_TUNED_SOURCE = "NVIDIA-NeMo/Megatron-Bridge:"
_OTHER_MIXTURES = ("NVIDIA-NeMo/Automodel:", "yanring/Megatron-MoE-ModelZoo:")

Row = tuple[Cells, Trained]


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """All rows that nothing was fitted on."""
    rows = list(llm_layouts(tables))
    shipped = tables.calibration
    unseen = msgspec.structs.replace(shipped.parallel, expert_half_width=ParallelRates().expert_half_width)
    plain = msgspec.structs.replace(shipped, parallel=unseen)
    tuned = fit_transformers(fitted_tuned(tables), plain, TUNED_CONSTANTS)
    mixed = fit_transformers(fitted_mixture(tables), tuned, EXPERT_CONSTANTS)
    bridge = [each for each in rows if each[0]["source"].startswith(_TUNED_SOURCE)]
    dense = [each for each in bridge if not each[0]["experts"]]
    experts = [each for each in bridge if each[0]["experts"] and each[0]["model"] != FITTED_MIXTURE]
    torch = [each for each in rows if each[0]["source"].startswith("pytorch/")]
    others = [each for each in rows if each[0]["source"].startswith(_OTHER_MIXTURES)]
    yield from training_outcomes(NAME, "dense", "this release", _source(dense), _named(dense), tuned, tuned=True)
    yield from training_outcomes(
        NAME, "mixture", "other mixtures", _source(experts), _named(experts), mixed, tuned=True
    )
    yield from training_outcomes(
        NAME, "mixture elsewhere", "these publications", _source(others), _named(others), mixed, tuned=True
    )
    yield from training_outcomes(NAME, "torchtitan", "this publication", _source(torch), _named(torch), plain)


def _named(rows: list[Row]) -> list[tuple[str, Trained]]:
    return [(cells["model"], row) for cells, row in rows]


def _source(rows: list[Row]) -> str:
    return rows[0][0]["source"]
