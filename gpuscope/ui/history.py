"""One figure over time: an hour of it in full, days of it as lowest and highest value of each block.

What was recorded before the session was opened is an overview, out of the session file's own coarse levels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from gpuscope.ui.overview import Overview
from gpuscope.ui.rings import Ring

FloatArray = NDArray[np.float64]

GAP_INTERVALS = 3.0
"""A hole of more than this many usual intervals is a gap."""
FINE_ROWS = 40_000
"""More than an hour at ten values a second."""
BLOCK_ROWS = 32
COARSE_ROWS = 100_000
"""More than three days at ten values a second; what is older is in the session file only."""
INTERVALS_KEPT = 31
LEAST_INTERVALS = 2
"""Before so many there is no usual one."""


class History:
    """Times and values of one figure; NaN is a gap, and so is a hole of more than three usual intervals."""

    def __init__(self, interval_s: float, past: Overview | None = None) -> None:
        """Nothing but the past.

        Args:
            interval_s: no two values are expected closer together than this.
            past: what lies before the values that will come.
        """
        self.past = past
        self._least_interval_s = interval_s
        self._intervals: deque[float] = deque(maxlen=INTERVALS_KEPT)
        self._last_t: float | None = None
        self._fine = Ring(2, FINE_ROWS)
        self._coarse = Ring(4, COARSE_ROWS)
        self._block: list[FloatArray] = []
        self._block_rows = 0
        if past is not None:
            self._last_t = past.end_s
            self._intervals.extend([past.usual_interval_s] * LEAST_INTERVALS)

    def __len__(self) -> int:
        """Rows kept in full, gaps included."""
        return len(self._fine)

    def extend(self, times_s: Sequence[float], values: Sequence[float]) -> None:
        """Append values in the order of their time."""
        rows = np.asarray((times_s, values), dtype=np.float64)
        if rows.shape[1]:
            rows = self._with_gaps(rows)
            self._fine.extend(rows)
            self._coarsen(rows)

    def between(self, start_s: float, end_s: float, columns: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Times and values in [start_s, end_s] and a neighbour on each side.

        Coarse where the full ones are gone, and where `columns` pixels have no use for more.
        """
        if self.past is not None and end_s < self.past.end_s:
            return self.past.between(start_s, end_s, columns)
        t, values = self._recent(start_s, end_s, columns)
        if self.past is None or start_s > self.past.end_s:
            return t, values
        older_t, older_values = self.past.between(start_s, end_s, columns)
        return np.concatenate([older_t, t]), np.concatenate([older_values, values])

    def _recent(self, start_s: float, end_s: float, columns: int | None) -> tuple[FloatArray, FloatArray]:
        fine_rows = self._fine.view()
        t, values = _cut(fine_rows[0], fine_rows[1], start_s, end_s)
        fine_from_s = float(t[0]) if len(t) else start_s
        if columns is not None and len(t) > 2 * BLOCK_ROWS * columns:
            fine_from_s = float(t[-BLOCK_ROWS])  # the newest values are in no block yet
        if not len(self._coarse) or fine_from_s <= start_s:
            return t, values
        fine = t >= fine_from_s
        coarse_t, coarse_values = _cut(*self._coarse_before(fine_from_s), start_s, end_s)
        return np.concatenate([coarse_t, t[fine]]), np.concatenate([coarse_values, values[fine]])

    def at(self, t: float) -> float | None:
        """The value that held at a moment: the last one before it, if there is no gap between them."""
        if self.past is not None and t <= self.past.end_s:
            return self.past.at(t)
        times, values = self.between(t, t)
        before = int(np.searchsorted(times, t, side="right")) - 1
        if before < 0 or np.isnan(values[before]):
            return None
        last = before == len(times) - 1
        return None if last and t - times[before] > self._longest_wait_s() else float(values[before])

    def _longest_wait_s(self) -> float:
        usual_s = median(self._intervals) if self._intervals else self._least_interval_s
        return GAP_INTERVALS * max(usual_s, self._least_interval_s)

    def _with_gaps(self, rows: FloatArray) -> FloatArray:
        """Put a NaN into every hole."""
        times = rows[0]
        first_s = times[0] if self._last_t is None else self._last_t
        intervals = np.diff(times, prepend=first_s)[int(self._last_t is None) :]
        self._last_t = float(times[-1])
        if not (intervals > GAP_INTERVALS * self._least_interval_s).any():  # the usual case, and a fast one
            self._intervals.extend(intervals[-INTERVALS_KEPT:].tolist())
            return rows
        skipped = rows.shape[1] - len(intervals)
        holes = [place + skipped for place, interval_s in enumerate(intervals.tolist()) if self._is_hole(interval_s)]
        middles = times[holes] - intervals[np.asarray(holes, dtype=np.intp) - skipped] / 2
        gaps = np.stack([middles, np.full(len(holes), np.nan)])
        return np.insert(rows, holes, gaps, axis=1)

    def _is_hole(self, interval_s: float) -> bool:
        may_be = interval_s > GAP_INTERVALS * self._least_interval_s and len(self._intervals) >= LEAST_INTERVALS
        hole = may_be and interval_s > self._longest_wait_s()
        self._intervals.append(interval_s)
        return hole

    def _coarsen(self, rows: FloatArray) -> None:
        self._block.append(rows)
        self._block_rows += rows.shape[1]
        if self._block_rows < BLOCK_ROWS:
            return
        joined = np.concatenate(self._block, axis=1)
        whole = joined.shape[1] // BLOCK_ROWS * BLOCK_ROWS
        times, values = joined[:, :whole].reshape(2, -1, BLOCK_ROWS)
        missing = np.isnan(values)
        lowest = np.where(missing, np.inf, values).min(axis=1)
        highest = np.where(missing, -np.inf, values).max(axis=1)
        lowest[missing.all(axis=1)] = highest[missing.all(axis=1)] = np.nan
        self._coarse.extend([times[:, 0], lowest, highest, np.asarray(missing.any(axis=1), dtype=np.float64)])
        self._block = [joined[:, whole:]]
        self._block_rows = joined.shape[1] - whole

    def _coarse_before(self, end_s: float) -> tuple[FloatArray, FloatArray]:
        coarse = self._coarse.view()
        t, lowest, highest, has_gap = coarse[:, : np.searchsorted(coarse[0], end_s)]
        times = np.repeat(t[:, None], 3, axis=1)
        values = np.stack([lowest, highest, np.full(len(t), np.nan)], axis=1)
        kept = np.stack([np.ones(len(t), bool), np.ones(len(t), bool), has_gap > 0], axis=1)
        return times[kept], values[kept]


def _cut(t: FloatArray, values: FloatArray, start_s: float, end_s: float) -> tuple[FloatArray, FloatArray]:
    low, high = np.searchsorted(t, [start_s, end_s])
    return t[max(0, low - 1) : high + 1], values[max(0, low - 1) : high + 1]
