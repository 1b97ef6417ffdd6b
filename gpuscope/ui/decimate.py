"""Reduce a series to what the pixels of a plot can show: the lowest and highest value of each column, and the gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def min_max(t: FloatArray, values: FloatArray, start: float, end: float, columns: int) -> tuple[FloatArray, FloatArray]:
    """At most three points a pixel column: lowest, highest, and a NaN where the column holds a gap.

    Args:
        t: times, rising.
        values: NaN where missing.
        start: left edge of the plot.
        end: right edge.
        columns: pixel columns between them.

    Returns:
        Times and values of the points within [start, end] and one neighbour on each side; the points themselves when
        they are few enough.
    """
    low, high = np.searchsorted(t, [start, end])
    low, high = max(0, low - 1), min(len(t), high + 1)
    t, values = t[low:high], values[low:high]
    if len(t) <= 2 * columns or end <= start:
        return t, values
    column = np.floor((t - start) * (columns / (end - start)))
    first = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    missing = np.isnan(values)
    lowest = np.minimum.reduceat(np.where(missing, np.inf, values), first)
    highest = np.maximum.reduceat(np.where(missing, -np.inf, values), first)
    has_gap = np.logical_or.reduceat(missing, first)
    empty = np.isinf(lowest) & np.isinf(highest)
    lowest[empty] = highest[empty] = np.nan
    points = np.stack([lowest, highest, np.full(len(first), np.nan)], axis=1)
    kept = np.stack([~empty, ~empty & (highest != lowest), has_gap], axis=1)
    times = np.repeat(t[first][:, None], 3, axis=1)
    return times[kept], points[kept]
