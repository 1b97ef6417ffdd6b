"""Published times of single FP32 operators that only move memory (sitar-lab/NeuSight), as operators of a footprint."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.domain.footprint import Op

ELEMENT_BYTES = 4.0
_KINDS = {
    "softmax": ("softmax", "reduction", 1),
    "ln": ("layer_norm", "normalization", 1),
    "add": ("elementwise", "elementwise", 2),
    "mul": ("elementwise", "elementwise", 2),
    "div": ("elementwise", "elementwise", 2),
}
_UNARY = ("elementwise", "elementwise", 1)
"""Kind, class, and how many tensors are read; each operator writes one."""


def moving_rows(tables: Tables) -> Sequence[Cells]:
    """All of them."""
    return tables.rows("neusight_vector")


def moving_op(row: Cells) -> Op:
    """The operator of a row: what it reads once and what it writes."""
    kind, class_, read = _KINDS.get(row["op"], _UNARY)
    size = ELEMENT_BYTES * float(row["rows"]) * float(row["width"])
    return Op(kind=kind, class_=class_, dtype=FLOAT32, bytes_read=read * size, bytes_written=size, kernels=1.0)


def moving_seconds(row: Cells) -> float:
    """How long it took."""
    return float(row["latency_ms"]) / 1e3
