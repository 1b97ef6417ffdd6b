"""Sets of intervals of time: how long at least one of them lasted, and where none did."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def union(starts: Sequence[float] | Floats, durations: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    """Beginnings and ends of the moments at which at least one interval lasted, in order, without overlaps."""
    begin = np.asarray(starts, dtype=float)
    order = np.argsort(begin, kind="stable")
    begin = begin[order]
    end = np.maximum.accumulate(begin + np.asarray(durations, dtype=float)[order]) if len(begin) else begin
    if not len(begin):
        return begin, end
    is_first = np.concatenate(([True], begin[1:] > end[:-1]))
    is_last = np.concatenate((is_first[1:], [True]))
    return begin[is_first], end[is_last]


def length(starts: Sequence[float] | Floats, durations: Sequence[float] | Floats) -> float:
    """How long at least one of the intervals lasted.

    Where none overlap this is the sum of their durations, which is exact; differences of time stamps of 13 digits are
    not.
    """
    begin, end = union(starts, durations)
    if len(begin) == len(starts):
        return float(np.sum(np.asarray(durations, dtype=float)))
    return float(np.sum(end - begin))


def longest_gap(begin: Floats, end: Floats) -> float:
    """Longest time between two parts of a union; 0 where there is only one."""
    return float(np.max(begin[1:] - end[:-1])) if len(begin) > 1 else 0.0


def share_by_window(begin: Floats, end: Floats, edges: Floats) -> Floats:
    """Share of each window between successive edges that the parts of a union cover, 0 to 1."""
    covered = np.interp(edges, *_covered_until(begin, end)) if len(begin) else np.zeros(len(edges))
    return np.clip(np.diff(covered) / np.diff(edges), 0.0, 1.0)


def _covered_until(begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Corner points of the function "covered time until t"."""
    times = np.stack((begin, end), axis=1).ravel()
    lengths = np.stack((np.zeros(len(begin)), end - begin), axis=1).ravel()
    return times, np.cumsum(lengths)


def inside(times: Floats, bounds: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
    """Which moments lie in one of several intervals, the end not included; without intervals, all do."""
    if not bounds:
        return np.ones(len(times), dtype=bool)
    begin, end = np.array(sorted(bounds)).T
    places = np.searchsorted(begin, times, side="right") - 1
    return (places >= 0) & (times < np.maximum.accumulate(end)[np.maximum(places, 0)])
