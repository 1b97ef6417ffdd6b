"""Series cut down to what a picture can show, without losing a peak or bridging a gap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.series import FloatArray, Series
from gpuscope.report.model import PlotLine

COLUMNS = 600
"""About one column for each 0.3 mm of a plot across an A4 page."""

GAP_INTERVALS = 3.0
"""So many times the usual distance between two readings without one is a gap."""
MIN_GAP_S = 0.5
"""Shorter pauses are jitter of the sampler, not missing data."""


def plot_line(label: str, parts: list[Series], start_s: float, end_s: float, *, gaps: bool = True) -> PlotLine | None:
    """One line out of the readings of one or several devices; None when there is no reading.

    Each column keeps lowest, mean and highest value of all readings in it. With `gaps`, missing readings and long
    pauses cut the line; without, only missing readings do (steps end when they end).
    """
    columns = _merged(parts)
    if columns is None:
        return None
    times, values, distance_s = columns
    pauses = np.diff(times) > max(GAP_INTERVALS * distance_s, MIN_GAP_S) if gaps else np.zeros(len(times) - 1, bool)
    known = ~np.isnan(values)
    if not known.any():
        return None
    rows: list[tuple[float, float | None, float | None, float | None]] = []
    width_s = max(end_s - start_s, 1e-9) / COLUMNS
    for first, last in _stretches(known, pauses):
        if rows:
            rows.append(((rows[-1][0] + float(times[first])) / 2, None, None, None))
        rows.extend(_columns(times[first:last], values[first:last], start_s, width_s))
    return PlotLine(
        label=label,
        t_s=tuple(row[0] for row in rows),
        low=tuple(row[1] for row in rows),
        mean=tuple(row[2] for row in rows),
        high=tuple(row[3] for row in rows),
    )


def _merged(parts: list[Series]) -> tuple[FloatArray, FloatArray, float] | None:
    """All readings in order of time, and the usual distance between those of one device."""
    if len(parts) > 1:  # one device's missing reading is no gap while others have one
        known = [~np.isnan(part.values) for part in parts]
        parts = [Series(part.t[keep], part.values[keep]) for part, keep in zip(parts, known, strict=True)]
    parts = [part for part in parts if len(part.t)]
    if not parts:
        return None
    distances = np.concatenate([np.diff(part.t) for part in parts])
    times = np.concatenate([part.t for part in parts])
    order = np.argsort(times, kind="stable")
    values = np.concatenate([part.values for part in parts])
    return times[order], values[order], float(np.median(distances)) if len(distances) else 0.0


def _stretches(known: NDArray[np.bool_], pauses: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Index ranges [first, last) of readings without a gap between them."""
    begins = known.copy()
    begins[1:] &= ~known[:-1] | pauses
    ends = known.copy()
    ends[:-1] &= ~known[1:] | pauses
    return list(zip(np.flatnonzero(begins).tolist(), (np.flatnonzero(ends) + 1).tolist(), strict=True))


def _columns(
    times: FloatArray, values: FloatArray, start_s: float, width_s: float
) -> list[tuple[float, float, float, float]]:
    """Time, lowest, mean, highest for each column that holds a reading."""
    column = np.floor((times - start_s) / width_s)
    first = np.flatnonzero(np.concatenate([[True], np.diff(column) > 0]))
    count = np.diff(np.concatenate([first, [len(times)]]))
    low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    mean, middle = np.add.reduceat(values, first) / count, np.add.reduceat(times, first) / count
    return [
        (round(float(t), 4), _short(a), _short(m), _short(b))
        for t, a, m, b in zip(middle, low, mean, high, strict=True)
    ]


def _short(value: float) -> float:
    """Six significant figures: more than a picture shows, half the size."""
    return float(f"{value:.6g}")
