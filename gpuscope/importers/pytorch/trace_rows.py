"""A trace's operators as the rows that the probe writes (domain/events.py, kind `ops`), as of one mean step."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec
import numpy as np

from gpuscope.domain.kernels import kernel_work
from gpuscope.importers.pytorch import intervals
from gpuscope.importers.pytorch.trace_columns import TraceColumns
from gpuscope.importers.pytorch.trace_nesting import BACKWARD, NOBODY, Nesting
from gpuscope.importers.pytorch.trace_work import Work

UNKNOWN_OPERATOR = "kernels without an operator"
"""Row of the work whose launch is not in the trace or lies in no operator (CUDA graphs, libraries), and whose name
does not tell what it does."""


def operator_rows(
    columns: TraceColumns,
    nesting: Nesting,
    work: Work,
    steps: list[tuple[float, float]],
) -> list[dict[str, Any]]:
    """Rows of operators with equal name, shapes, dtypes, values and phase, most expensive first.

    Work that no operator launched goes by what its kernel's name tells.

    Args:
        columns: the trace.
        nesting: of its operators.
        work: kernels, copies and sets of all GPUs, with the operators that launched them.
        steps: bounds of the steps; the rows are a mean over them. Empty: the whole trace counts as one.
    """
    chosen = intervals.inside(nesting.starts_us, steps)
    launched = intervals.inside(work.launched.at_us, steps)
    sums: dict[tuple[int, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    by_kernel: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    keys, own_us, phases = columns.operators.key, nesting.own_us.tolist(), nesting.phase
    launchers, names, work_us = work.operator.tolist(), work.name.tolist(), work.launched.duration_us.tolist()
    for operator in np.flatnonzero(chosen).tolist():
        total = sums[keys[operator], phases[operator]]
        total[0] += 1
        total[1] += own_us[operator]
    for index in np.flatnonzero(launched).tolist():
        operator = launchers[index]
        total = by_kernel[names[index]] if operator == NOBODY else sums[keys[operator], phases[operator]]
        total[2] += work_us[index]
        total[3] += 1
    share = 1.0 / max(1, len(steps))
    in_order = columns.operator_keys.in_order
    rows = [_row(in_order[key], phase, total, share) for (key, phase), total in sums.items()]
    rows += _kernel_rows(by_kernel, columns.names.in_order, share)
    return sorted(rows, key=lambda row: -(row["cpu_time_s"] + row["device_time_s"]))


def _row(key: tuple[str, bytes, bytes, bytes], phase: str, total: list[float], share: float) -> dict[str, Any]:
    name, dims, types, values = key
    count, cpu_us, device_us, kernels = total
    return {
        "name": name,
        "shapes": _decoded(dims),
        "dtypes": _decoded(types),
        "args": [_value(text) for text in _decoded(values)],
        "phase": phase,
        "backward": phase == BACKWARD,
        "count": count * share,
        "cpu_time_s": cpu_us * 1e-6 * share,
        "device_time_s": device_us * 1e-6 * share,
        "kernels": kernels * share,
    }


def _kernel_rows(sums: dict[int, list[float]], names: list[str], share: float) -> list[dict[str, Any]]:
    """Rows of work without an operator: one for each kind of operator and dtype that kernels' names tell."""
    merged: dict[tuple[str, bytes], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for number, (_, _, device_us, kernels) in sums.items():
        told = kernel_work(names[number])
        name = UNKNOWN_OPERATOR if told.operator is None else f"aten::{told.operator}"
        total = merged[name, b"" if told.dtype is None else msgspec.json.encode([told.dtype])]
        total[0] += kernels
        total[2] += device_us
        total[3] += kernels
    return [_row((name, b"", dtype, b""), "", total, share) for (name, dtype), total in merged.items()]


def _decoded(text: bytes) -> list[Any]:
    if not text:
        return []
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _value(text: Any) -> Any:
    """One of `Concrete Inputs`: "[2, 2]", "False", "1", or "" for a tensor."""
    if not isinstance(text, str) or not text:
        return None
    if text in {"True", "False"}:
        return text == "True"
    try:
        return msgspec.json.decode(text.replace("True", "true").replace("False", "false"))
    except (msgspec.DecodeError, RecursionError):
        return None
