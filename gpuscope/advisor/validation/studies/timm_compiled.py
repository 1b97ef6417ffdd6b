"""Compiled inference predicted from an eager run on the same GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import INFERENCE, TimmRow, run_footprint, timm_rows
from gpuscope.domain.recommendation import Constraints

NAME = "timm-compiled"
DESCRIPTION = "From a profiled eager run on an RTX 4090 to the compiled model on it; constants from other families."
CASE = ""
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Every compiled run with an eager one in the same layout, of the same or the nearest release of PyTorch."""
    runs: dict[tuple[str, str, int, str], list[TimmRow]] = {}
    for row in timm_rows(tables, INFERENCE):
        if not row.compiled and not row.torch.startswith("1."):
            runs.setdefault((row.device, row.model, row.img_size, row.layout), []).append(row)
    for row in timm_rows(tables, INFERENCE):
        sources = runs.get((row.device, row.model, row.img_size, row.layout))
        if row.compiled and sources:
            source = max(sources, key=lambda each: (each.torch == row.torch, each.torch))
            footprint = run_footprint(source, tables, batch=row.batch)
            calibration = without_fold(tables, row.fold)
            wanted = Constraints(compiled=True)
            yield on_gpu(NAME, footprint, row, calibration, tables, f"family {row.family}", wanted)
