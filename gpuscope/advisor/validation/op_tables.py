"""Work of published image models by class of operator: traced once, shipped with gpuscope.

resources/calibration/op_tables.jsonl.gz holds a line for each model and image size, made by tests/accuracy/
trace_models.py. Each mode of a line is a list of rows

    kind, class, dtype, n, k, FLOPs, bytes read, bytes written, bytes read once, bytes written once, kernels

of which FLOPs and the first two byte figures are of one sample, the others of a step whatever its batch.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gpuscope.domain.footprint import Op
from gpuscope.errors import CatalogueError

FILE = "op_tables.jsonl.gz"
FLOAT32_MODE, MIXED_MODE, UNFUSED_MODE, TRAINING_MODE = "float32", "amp", "amp_unfused", "training"
"""Inference in float32, under autocast, under autocast with attention as products and a softmax (what PyTorch 1 does);
a forward and a backward pass in float32."""


class ModelTable(NamedTuple):
    """One model at one image size."""

    model: str
    img_size: int
    parameters: int
    modes: Mapping[str, list[list[Any]]]

    def ops(self, mode: str, batch: float, layout: str | None = None) -> tuple[Op, ...]:
        """Operator classes of a step.

        Args:
            mode: one of the modes above; `UNFUSED_MODE` is `MIXED_MODE` for models without attention.
            batch: samples in the step.
            layout: memory layout to note in the operators.

        Returns:
            The classes; empty when the model was not traced in that mode.
        """
        rows = self.modes.get(mode) or (self.modes.get(MIXED_MODE) if mode == UNFUSED_MODE else None) or []
        return tuple(_op(row, batch, layout) for row in rows)


def _op(row: list[Any], batch: float, layout: str | None) -> Op:
    kind, class_, dtype, n, k, flops, read, written, read_once, written_once, kernels = row
    return Op(
        kind=kind, class_=class_, dtype=dtype, n=n, k=k, layout=layout, flops=flops * batch if flops else None,
        bytes_read=read * batch + read_once, bytes_written=written * batch + written_once, kernels=float(kernels),
    )  # fmt: skip


def load_op_tables(folder: Path) -> dict[tuple[str, int], ModelTable]:
    """All tables by model and image size.

    Args:
        folder: resources/calibration.

    Raises:
        CatalogueError: the file is missing or damaged.
    """
    path = folder / FILE
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            tables = [_table(json.loads(line)) for line in lines]
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise CatalogueError(f"The operator tables {path} cannot be read: {error}. Reinstall gpuscope.") from error
    return {(table.model, table.img_size): table for table in tables}


def _table(entry: dict[str, Any]) -> ModelTable:
    modes = {mode: entry[mode] for mode in (FLOAT32_MODE, MIXED_MODE, UNFUSED_MODE, TRAINING_MODE) if mode in entry}
    return ModelTable(str(entry["model"]), int(entry["img_size"]), int(entry["parameters"]), modes)
