"""The steps of a trace: marked by `torch.profiler`, else by the optimizer's calls."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.imported import TracedStep
from gpuscope.importers.pytorch import intervals
from gpuscope.importers.pytorch.trace_columns import LOADER_PREFIX, OPTIMIZER_PREFIX, TraceColumns

BY_PROFILER, BY_OPTIMIZER = "ProfilerStep", "Optimizer.step"
_PROFILER_STEP = re.compile(r"ProfilerStep#(\d+)")
_FEWEST_OPTIMIZER_STEPS = 3
"""The first call only marks where the first whole step begins; two whole ones make it a rhythm."""
_STUB_SHARE = 0.05
"""A last step without work of its own, shorter than this share of the usual one, was only begun."""


@dataclass(slots=True)
class Launched:
    """Work of all GPUs with the moment of its launch; its own beginning where the launch is not in the trace."""

    at_us: NDArray[np.float64]
    start_us: NDArray[np.float64]
    duration_us: NDArray[np.float64]


@dataclass(slots=True)
class Steps:
    """Steps in order, the times of their beginnings and ends in the trace's clock."""

    marked_by: str | None = None
    steps: list[TracedStep] = field(default_factory=list)
    bounds_us: list[tuple[float, float]] = field(default_factory=list)

    @property
    def complete(self) -> list[tuple[float, float]]:
        """Bounds of the steps that were done."""
        return [bounds for bounds, step in zip(self.bounds_us, self.steps, strict=True) if step.complete]


def steps_of(columns: TraceColumns, launched: Launched) -> Steps:
    """The steps of the process that marked most of them; none where nothing marks them."""
    named = _profiler_steps(columns)
    if named:
        return steps_between(named, BY_PROFILER, columns, launched)
    named = _optimizer_steps(columns)
    return steps_between(named, BY_OPTIMIZER, columns, launched) if named else Steps()


def steps_between(
    named: list[tuple[str, float, float]], marked_by: str, columns: TraceColumns, launched: Launched
) -> Steps:
    """Steps with known bounds.

    A step's range may be another process's than its operators' (a wrapper that traces for its child): what belongs to
    a step is told by time alone.

    Args:
        named: name, beginning and end (µs) of each, in order; at least one.
        marked_by: what marks them.
        columns: the trace.
        launched: the work of all GPUs.
    """
    operators = np.sort(np.array(columns.operators.start_us))
    order = np.argsort(launched.at_us, kind="stable")
    sorted_at = launched.at_us[order]
    usual_us = float(np.median([end - start for _, start, end in named]))
    result = Steps(marked_by)
    for number, (name, start_us, end_us) in enumerate(named):
        mine = order[np.searchsorted(sorted_at, start_us) : np.searchsorted(sorted_at, end_us)]
        busy_us = intervals.length(launched.start_us[mine], launched.duration_us[mine])
        works = len(mine) > 0 or np.searchsorted(operators, start_us) < np.searchsorted(operators, end_us)
        stub = number == len(named) - 1 > 0 and not works and end_us - start_us < usual_us * (1 - _STUB_SHARE)
        step = TracedStep(
            name=name,
            start_s=(start_us - columns.first_us) * 1e-6,
            duration_s=(end_us - start_us) * 1e-6,
            busy_s=busy_us * 1e-6,
            complete=not stub,
        )
        result.steps.append(step)
        result.bounds_us.append((start_us, end_us))
    return result


def optimizer_of(columns: TraceColumns) -> str | None:
    """Class of the optimizer that is called most (`Optimizer.step#AdamW.step`); None: the trace marks no call."""
    calls = Counter(name for _, _, name, _ in columns.annotated() if name.startswith(OPTIMIZER_PREFIX))
    most = calls.most_common(1)
    return most[0][0].removeprefix(OPTIMIZER_PREFIX).removesuffix(".step") if most else None


def data_loader_s(columns: TraceColumns, steps: list[tuple[float, float]]) -> float | None:
    """Seconds of a mean step inside the DataLoader's next; None where nothing tells."""
    waits = [(start, duration) for start, duration, name, _ in columns.annotated() if name.startswith(LOADER_PREFIX)]
    if not steps or not waits:
        return None
    starts, durations = np.array(waits).T
    inside = intervals.inside(starts, steps)
    return intervals.length(starts[inside], durations[inside]) * 1e-6 / len(steps)


def _profiler_steps(columns: TraceColumns) -> list[tuple[str, float, float]]:
    """Name, beginning and end, in order."""
    by_thread: dict[int, list[tuple[float, float, str]]] = defaultdict(list)
    for start_us, duration_us, name, thread in columns.annotated():
        if _PROFILER_STEP.fullmatch(name):
            by_thread[thread].append((start_us, start_us + duration_us, name))
    most = max(by_thread.values(), key=len, default=[])
    return [(name, start_us, end_us) for start_us, end_us, name in sorted(most)]


def _optimizer_steps(columns: TraceColumns) -> list[tuple[str, float, float]]:
    """From the end of one call of the optimizer to the end of the next."""
    calls: dict[tuple[int, str], list[float]] = defaultdict(list)
    for start_us, duration_us, name, thread in columns.annotated():
        if name.startswith(OPTIMIZER_PREFIX):
            calls[thread, name].append(start_us + duration_us)
    busiest: list[float] = max(calls.values(), key=len, default=[])
    ends = sorted(busiest)
    if len(ends) < _FEWEST_OPTIMIZER_STEPS:
        return []
    return [
        (f"step {number}", start_us, end_us) for number, (start_us, end_us) in enumerate(itertools.pairwise(ends), 1)
    ]
