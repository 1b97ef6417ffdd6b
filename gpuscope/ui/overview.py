"""The past of one figure, coarse in memory, with the readings themselves where somebody looks closely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.series import Envelope, Series

FloatArray = NDArray[np.float64]

FACTOR = 8
"""Stretches of one step in a stretch of the next coarser one."""
GAP_INTERVALS = 3.0
"""A hole of more than this many usual intervals is a gap."""


class Overview:
    """Draws any part of the past from as few stretches as the pixels need."""

    def __init__(self, envelope: Envelope) -> None:
        """Take over at least one stretch."""
        self._steps = [_with_holes(envelope)]
        self._detail: Series | None = None
        self._detail_span = (np.inf, -np.inf)
        between = envelope.start_s[1:] - envelope.end_s[:-1]
        self.usual_interval_s = float(np.median(between)) if len(between) else 0.0
        self.end_s = float(envelope.end_s[-1])

    def is_coarse(self, start_s: float, end_s: float, columns: int) -> bool:
        """Whether so many pixels could show more of this part than there is in memory."""
        fine = self._steps[0]
        low, high = np.searchsorted(fine.start_s, [start_s, min(end_s, self.end_s)])
        several = bool((fine.end_s[low:high] > fine.start_s[low:high]).any())
        return several and high - low < columns and not self._has_detail(start_s, end_s)

    def take_detail(self, span: tuple[float, float], readings: Series) -> None:
        """Remember the readings of a part, instead of those of another."""
        self._detail, self._detail_span = readings, span

    def between(self, start_s: float, end_s: float, columns: int | None) -> tuple[FloatArray, FloatArray]:
        """Times and values in [start_s, end_s] and a neighbour on each side; NaN is a gap."""
        if self._detail is not None and self._has_detail(start_s, end_s):
            low, high = np.searchsorted(self._detail.t, [start_s, end_s])
            cut = slice(max(0, low - 1), high + 1)
            return self._detail.t[cut], self._detail.values[cut]
        return _points(self._step(start_s, end_s, columns), start_s, end_s)

    def at(self, t: float) -> float | None:
        """The value at a moment: the reading, or, where only stretches are in memory, the mean of its stretch."""
        if self._detail is not None and self._has_detail(t, t):
            place = int(np.searchsorted(self._detail.t, t, side="right")) - 1
            value = self._detail.values[place] if place >= 0 else np.nan
            return None if np.isnan(value) else float(value)
        fine = self._steps[0]
        place = int(np.searchsorted(fine.start_s, t, side="right")) - 1
        if place < 0 or np.isnan(fine.mean[place]) or (t > fine.end_s[place] and fine.gap[place]):
            return None
        return float(fine.mean[place])

    def _has_detail(self, start_s: float, end_s: float) -> bool:
        return self._detail_span[0] <= start_s and min(end_s, self.end_s) <= self._detail_span[1]

    def _step(self, start_s: float, end_s: float, columns: int | None) -> Envelope:
        """The coarsest step that has a stretch for each pixel."""
        number = 0
        while columns is not None:
            low, high = np.searchsorted(self._steps[number].start_s, [start_s, end_s])
            if high - low < FACTOR * columns:
                break
            number += 1
            if number == len(self._steps):
                self._steps.append(_coarser(self._steps[-1]))
        return self._steps[number]


def _with_holes(envelope: Envelope) -> Envelope:
    """Stretches after which nothing was recorded for a while have a gap, too."""
    between = envelope.start_s[1:] - envelope.end_s[:-1]
    if not len(between):
        return envelope
    gap = envelope.gap.copy()
    gap[:-1] |= between > GAP_INTERVALS * np.median(between)
    return Envelope(envelope.start_s, envelope.end_s, envelope.low, envelope.high, envelope.mean, gap)


def _coarser(envelope: Envelope) -> Envelope:
    first = np.arange(0, len(envelope), FACTOR)
    last = np.minimum(first + FACTOR, len(envelope)) - 1
    return Envelope(
        envelope.start_s[first],
        envelope.end_s[last],
        np.fmin.reduceat(envelope.low, first),
        np.fmax.reduceat(envelope.high, first),
        envelope.mean[first],  # only the finest step is asked for it
        np.logical_or.reduceat(envelope.gap, first),
    )


def _points(step: Envelope, start_s: float, end_s: float) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest of each stretch, and a NaN where it has a gap."""
    low, high = np.searchsorted(step.start_s, [start_s, end_s])
    cut = slice(max(0, low - 1), high + 1)
    t, gap = step.start_s[cut], step.gap[cut]
    values = np.stack([step.low[cut], step.high[cut], np.full(len(t), np.nan)], axis=1)
    times = np.stack([t, t, step.end_s[cut]], axis=1)
    kept = np.stack([np.ones(len(t), bool), step.high[cut] != step.low[cut], gap], axis=1)
    return times[kept], values[kept]
