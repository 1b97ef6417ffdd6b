"""Image-model inference on an RTX 3090, and an RTX 4090 of which only specifications are known."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.validation.studies._specified import without_chip
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import INFERENCE, TimmRow, timm_rows

SOURCE_GPU, TARGET_GPU = "rtx-3090", "rtx-4090"


def runs_on_both(tables: Tables) -> Iterator[tuple[TimmRow, TimmRow]]:
    """Eager runs of a model on both cards in one layout; on the source of the nearest release of PyTorch 2."""
    runs: dict[tuple[str, int, str], list[TimmRow]] = {}
    for row in timm_rows(tables, INFERENCE):
        if row.device == SOURCE_GPU and not row.compiled and not row.torch.startswith("1."):
            runs.setdefault((row.model, row.img_size, row.layout), []).append(row)
    for row in timm_rows(tables, INFERENCE):
        sources = runs.get((row.model, row.img_size, row.layout))
        if row.device == TARGET_GPU and not row.compiled and sources:
            yield max(sources, key=lambda each: (each.torch == row.torch, each.torch)), row


def specified(tables: Tables, fold: int) -> Calibration:
    """Class constants from the source card without the families of a part, and nothing from the target's chip."""
    target = tables.catalogue.gpu(TARGET_GPU)
    assert target is not None
    unseen = without_chip(tables, chip(target))
    return msgspec.structs.replace(
        without_fold(tables, fold, (SOURCE_GPU,)), rates=unseen.rates, shares=unseen.shares, bias={}
    )
