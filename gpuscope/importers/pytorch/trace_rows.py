"""A trace's operators as the rows that the probe writes (domain/events.py, kind `ops`), as of one mean step."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpuscope.importers.pytorch import intervals
from gpuscope.importers.pytorch.intervals import Floats
from gpuscope.importers.pytorch.trace_columns import TraceColumns
from gpuscope.importers.pytorch.trace_nesting import BACKWARD, NOBODY, Nesting

UNKNOWN_OPERATOR = "kernels without an operator"
"""Row of the work whose launch is not in the trace or lies in no operator: CUDA graphs, libraries."""

Integers = NDArray[np.int64]


def operator_rows(
    columns: TraceColumns,
    nesting: Nesting,
    launched_by: Integers,
    device_us: Floats,
    steps: list[tuple[float, float]],
    launched_at_us: Floats,
) -> list[dict[str, Any]]:
    """Rows of operators with equal name, shapes, dtypes, values and phase, most expensive first.

    Args:
        columns: the trace.
        nesting: of its operators.
        launched_by: for each kernel, copy and set of any GPU the operator that launched it, NOBODY where none did.
        device_us: their durations.
        steps: bounds of the steps; the rows are a mean over them. Empty: the whole trace counts as one.
        launched_at_us: moments of the launches.
    """
    chosen = intervals.inside(nesting.starts_us, steps)
    work = intervals.inside(launched_at_us, steps)
    sums: dict[tuple[int, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    keys, own_us, phases = columns.operators.key, nesting.own_us.tolist(), nesting.phase
    launchers, work_us = launched_by.tolist(), device_us.tolist()
    for operator in np.flatnonzero(chosen).tolist():
        total = sums[keys[operator], phases[operator]]
        total[0] += 1
        total[1] += own_us[operator]
    unknown = [0.0, 0.0, 0.0, 0.0]
    for index in np.flatnonzero(work).tolist():
        operator = launchers[index]
        total = unknown if operator == NOBODY else sums[keys[operator], phases[operator]]
        total[2] += work_us[index]
        total[3] += 1
    share = 1.0 / max(1, len(steps))
    in_order = columns.operator_keys.in_order
    rows = [_row(in_order[key], phase, total, share) for (key, phase), total in sums.items()]
    if unknown[3]:
        unknown[0] = unknown[3]
        rows.append(_row((UNKNOWN_OPERATOR, b"", b"", b""), "", unknown, share))
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
