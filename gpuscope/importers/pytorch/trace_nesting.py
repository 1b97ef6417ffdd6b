"""Which operator called which, from times alone: on one thread an event that lies within another was called by it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuscope.importers.pytorch.trace_columns import LOADER_PREFIX, OPTIMIZER_PREFIX, Spans, TraceColumns

NOBODY = -1
_MOST_DEPTH = 1000
"""Operators of real programs call each other some tens deep."""
FORWARD, BACKWARD, OPTIMIZER, DATA_LOADER = "forward", "backward", "optimizer", "data_loader"
_BACKWARD_PREFIX = "autograd::engine::evaluate_function"


@dataclass(slots=True)
class Nesting:
    """For each operator (by its number in the columns): its caller, its own time, its phase."""

    parent: NDArray[np.int64]
    own_us: NDArray[np.float64]
    phase: list[str]
    order: dict[int, NDArray[np.int64]]
    """By thread: its operators in the order of their beginnings."""
    starts_us: NDArray[np.float64]
    ends_us: NDArray[np.float64]

    def at(self, thread: int, time_us: float) -> int:
        """The innermost operator that runs on a thread at a moment; NOBODY: none."""
        order = self.order.get(thread)
        if order is None:
            return NOBODY
        place = int(np.searchsorted(self.starts_us[order], time_us, side="right")) - 1
        operator = int(order[place]) if place >= 0 else NOBODY
        while operator != NOBODY and self.ends_us[operator] < time_us:
            operator = int(self.parent[operator])
        return operator

    def at_all(self, threads: NDArray[np.int64], times_us: NDArray[np.float64]) -> NDArray[np.int64]:
        """`at` for many moments at once."""
        found = np.full(len(threads), NOBODY, dtype=np.int64)
        for thread, order in self.order.items():
            mine = np.flatnonzero(threads == thread)
            if len(mine):
                places = np.searchsorted(self.starts_us[order], times_us[mine], side="right") - 1
                found[mine] = np.where(places >= 0, order[np.maximum(places, 0)], NOBODY)
        late = np.flatnonzero(found != NOBODY)
        for _ in range(_MOST_DEPTH):
            late = late[self.ends_us[found[late]] < times_us[late]]
            if not len(late):
                break
            found[late] = self.parent[found[late]]
            late = late[found[late] != NOBODY]
        found[late] = NOBODY
        return found


def nesting_of(columns: TraceColumns) -> Nesting:
    """Walk each thread's operators and annotated ranges once, in the order of their beginnings."""
    operators, marks = columns.operators, _phase_marks(columns)
    starts = np.array(operators.start_us)
    ends = starts + np.array(operators.duration_us)
    nesting = Nesting(
        parent=np.full(len(starts), NOBODY, dtype=np.int64),
        own_us=np.array(operators.duration_us),
        phase=[FORWARD] * len(starts),
        order={},
        starts_us=starts,
        ends_us=ends,
    )
    threads, taken = np.array(operators.thread), np.zeros(len(starts))
    backward = {
        number for number, key in enumerate(columns.operator_keys.in_order) if key[0].startswith(_BACKWARD_PREFIX)
    }
    for thread in np.unique(threads).tolist():
        mine = np.flatnonzero(threads == thread)
        order = mine[np.lexsort((-ends[mine], starts[mine]))]
        nesting.order[thread] = order
        _walk(nesting, order, marks.get(thread, []), operators, backward, taken)
    nesting.own_us = np.maximum(0.0, nesting.own_us - taken)
    return nesting


def _walk(
    nesting: Nesting,
    order: NDArray[np.int64],
    marks: list[tuple[float, float, str]],
    operators: Spans,
    backward: set[int],
    taken: NDArray[np.float64],
) -> None:
    """Callers and phases of one thread's operators; adds what each calls to what is `taken` of its caller's time."""
    stack: list[tuple[float, int, str]] = []
    starts, ends = nesting.starts_us[order].tolist(), nesting.ends_us[order].tolist()
    mark, phase, parent = 0, nesting.phase, nesting.parent
    marked_until, marked = -1.0, FORWARD
    for operator, start_us, end_us in zip(order.tolist(), starts, ends, strict=True):
        while mark < len(marks) and marks[mark][0] <= start_us:
            marked_until, marked = marks[mark][1], marks[mark][2]
            mark += 1
        while stack and stack[-1][0] <= start_us:
            stack.pop()
        if stack:
            _, caller, inherited = stack[-1]
            parent[operator] = caller
            taken[caller] += end_us - start_us
        else:
            inherited = FORWARD
        if operators.key[operator] in backward:
            inherited = BACKWARD
        elif start_us < marked_until:
            inherited = marked
        phase[operator] = inherited
        stack.append((end_us, operator, inherited))


def _phase_marks(columns: TraceColumns) -> dict[int, list[tuple[float, float, str]]]:
    """By thread: beginning, end and phase of the ranges that PyTorch itself marks, in order."""
    marks: dict[int, list[tuple[float, float, str]]] = defaultdict(list)
    for start_us, duration_us, name, thread in columns.annotated():
        if name.startswith((OPTIMIZER_PREFIX, LOADER_PREFIX)):
            phase = OPTIMIZER if name.startswith(OPTIMIZER_PREFIX) else DATA_LOADER
            marks[thread].append((start_us, start_us + duration_us, phase))
    for ranges in marks.values():
        ranges.sort()
    return marks
