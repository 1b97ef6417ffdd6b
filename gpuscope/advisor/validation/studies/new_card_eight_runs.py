"""The same as `new_card_images`, with eight runs on the target card that recalibrate it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.recalibration import TargetRun, recalibrated
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._new_card import TARGET_GPU, runs_on_both, specified
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_rows import TimmRow, run_footprint
from gpuscope.domain.recommendation import Constraints

NAME = "new-card-eight-runs"
DESCRIPTION = (
    "From a profiled run on an RTX 3090 to an RTX 4090 of which specifications and eight runs of other families of "
    "models are known, mixed precision."
)
CASE = "target-runs"
GOAL = None
TRIED = (
    "A shrunk bias alone (6.3 / 16.3); moving the card's three rates to the runs as well (4.5 / 12.6); and taking off "
    "the part of the source's error that does not come back, as pairs of runs on the old card tell it, which ships. "
    "Three rates from all runs of other families (study timm-inference) leave about a quarter less: eight runs say "
    "little of depthwise and grouped convolutions, on which the cards differ most."
)

_RUNS = 8


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every model with an eager run on both cards in one layout, but those of the eight."""
    pairs = list(runs_on_both(tables))
    for fold in sorted({row.fold for _, row in pairs}):
        others = [pair for pair in pairs if pair[1].fold != fold]
        calibration = _recalibrated(tables, fold, others)
        for source, row in pairs:
            if row.fold == fold:
                footprint = run_footprint(source, tables, batch=row.batch)
                held_out = f"family {row.family}; but for {_RUNS} runs all GPUs like {TARGET_GPU}"
                yield on_gpu(NAME, footprint, row, calibration, tables, held_out, Constraints())


def _recalibrated(tables: Tables, fold: int, pairs: list[tuple[TimmRow, TimmRow]]) -> Calibration:
    """With runs from all over the list, which is in the order of the file."""
    chosen = pairs[:: max(1, len(pairs) // _RUNS)][:_RUNS]
    runs = [
        TargetRun(run_footprint(row, tables), run_footprint(source, tables, batch=row.batch)) for source, row in chosen
    ]
    return recalibrated(specified(tables, fold), runs, tables.catalogue)
