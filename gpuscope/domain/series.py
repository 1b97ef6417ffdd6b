"""Figures over time: what plots, footprints and reports read from frames."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.base import Compact
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame

FloatArray = NDArray[np.float64]

HOST_KEY = "host"
SAMPLER_KEY = "sampler"

_FIGURE_TYPES = frozenset({int, float})


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of one device: times in session seconds, values in the field's own unit, NaN where it was missing."""

    t: FloatArray
    values: FloatArray

    @property
    def known(self) -> FloatArray:
        """The values that are there."""
        return self.values[~np.isnan(self.values)]

    @property
    def known_points(self) -> tuple[FloatArray, FloatArray]:
        """Times and values of those that are there."""
        present = ~np.isnan(self.values)
        return self.t[present], self.values[present]

    def between(self, start_s: float, end_s: float) -> Series:
        """The part in [start_s, end_s]."""
        low = np.searchsorted(self.t, start_s)
        high = np.searchsorted(self.t, end_s + 1e-12, side="right")  # hours from 0 the sum is end_s itself
        return Series(self.t[low:high], self.values[low:high])


EMPTY = Series(np.empty(0), np.empty(0))


@dataclass(frozen=True, slots=True)
class Envelope:
    """A figure in stretches of time, one after the other: what a plot of a long recording shows.

    Values are in the field's own unit, NaN where nothing in the whole stretch was known.
    """

    start_s: FloatArray
    """Session time of the first reading in a stretch."""
    end_s: FloatArray
    """And of the last."""
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    """To 1/255 of the distance between low and high where stretches hold several readings."""
    gap: NDArray[np.bool_]
    """A value is missing in the stretch for a reason, or it was not recorded for a while."""

    def __len__(self) -> int:
        """How many stretches there are."""
        return len(self.start_s)


class Newest(NamedTuple):
    """The last that was read of a figure."""

    t: float
    """Session time."""
    value: float | None
    reason: Reason | None
    """Why there is no value."""


@dataclass(frozen=True, slots=True)
class Past:
    """The older part of a session, for a viewer that follows the rest frame by frame."""

    end_s: float
    """Session time up to which it reaches."""
    curves: dict[tuple[str, str], Envelope]
    """By device key and figure."""
    newest: dict[tuple[str, str], Newest]


@dataclass(slots=True)
class _Column:
    """Eight bytes a number: lists of Python's own would take four times as much, hundreds of MB for an hour."""

    t: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))


class Timeline:
    """All scalar figures of a session by (device key, field); grows as frames are added.

    The device key is the GPU's UUID, `host`, or `sampler`.
    """

    def __init__(self, created_monotonic_s: float = 0.0) -> None:
        """Session time 0 is `created_monotonic_s` of the frames' clock."""
        self._zero = created_monotonic_s
        self._columns: dict[str, dict[str, _Column]] = defaultdict(lambda: defaultdict(_Column))
        self._reasons: dict[tuple[str, str], Reason] = {}
        self.end_s = 0.0

    def add(self, frame: Frame) -> None:
        """Append one frame; frames come in the order of their time."""
        t = frame.monotonic_s - self._zero
        self.end_s = max(self.end_s, t)
        for gpu in frame.gpus or ():
            self._add_sample(gpu.uuid, t, gpu, gpu.unavailable)
        if frame.host is not None:
            self._add_sample(HOST_KEY, t, frame.host, frame.host.unavailable)
        if frame.sampler is not None:
            self._add_sample(SAMPLER_KEY, t, frame.sampler, {})

    def extend(self, frames: Iterable[Frame]) -> Timeline:
        """Append several frames; returns itself."""
        for frame in frames:
            self.add(frame)
        return self

    def _add_sample(self, key: str, t: float, sample: Compact, unavailable: dict[str, Reason]) -> None:
        columns = self._columns[key]
        for name in sample.__struct_fields__:
            value = getattr(sample, name)
            if type(value) in _FIGURE_TYPES:
                column = columns[name]
                column.t.append(t)
                column.values.append(value)
        for name, reason in unavailable.items():
            column = columns[name]
            column.t.append(t)
            column.values.append(math.nan)
            self._reasons[key, name] = reason

    def get(self, key: str, name: str) -> Series:
        """The series of a field; empty when it was never read."""
        column = self._columns[key].get(name) if key in self._columns else None
        return EMPTY if column is None else Series(np.array(column.t), np.array(column.values))

    def reason(self, key: str, name: str) -> Reason | None:
        """Why the field was last missing; None when it never was."""
        return self._reasons.get((key, name))
