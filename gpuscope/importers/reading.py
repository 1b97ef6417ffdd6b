"""What a reader gets out of a file: devices, figures over time, processes, notes on what was lost or looks wrong."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuscope.domain.base import Value
from gpuscope.domain.device import Device
from gpuscope.domain.imported import AllocatorDetails, TraceDetails
from gpuscope.domain.reasons import Reason
from gpuscope.domain.series import FloatArray
from gpuscope.importers.cells import Cell

Progress = Callable[[float], None]
"""Is told the share of a file that was read, 0 to 1. To cancel, it raises."""


class Note(Value, frozen=True, kw_only=True):
    """Something that the person has to know about a file."""

    code: str
    """lost, assumed, contradiction, finding, driver_error, encoding or missing"""
    sentence: str
    line: int | None = None
    """Of the file, counted from 1."""
    count: int = 1
    """Rows, messages or values that it is about."""


class ImportedProcess(Value, frozen=True, kw_only=True):
    """A process on a GPU as a file lists it."""

    pid: int | None
    name: str | None = None
    device: str | None = None
    """UUID or key of the device; null: the file does not say."""
    memory_bytes: int | None = None
    kind: str | None = None
    """compute, graphics, or both"""
    sm_percent: float | None = None
    """Share of time in which a kernel of the process ran."""
    memory_controller_percent: float | None = None
    """Share of time in which the process moved data in device memory; not how much of it it holds."""
    encoder_percent: float | None = None
    decoder_percent: float | None = None
    wall_s: float | None = None


_NOTHING = array("d")


def _append(column: array[float], values: Iterable[float]) -> None:
    if isinstance(values, np.ndarray):
        column.frombytes(np.ascontiguousarray(values, np.float64).data.cast("B"))
    else:
        column.extend(values)


@dataclass(slots=True)
class Track:
    """Figures of one device over time, column by column: NaN is a value that is missing.

    `wall_s` is seconds since 1970 by the clock of the file, whose zone it usually does not state.
    """

    device: Device
    wall_s: array[float] = field(default_factory=lambda: array("d"))
    columns: dict[str, array[float]] = field(default_factory=dict)
    """By field of GpuSample, in its units; figures that it has no field for stand under their own heading."""
    reasons: dict[str, Reason] = field(default_factory=dict)
    """Why a field was last missing."""

    def extend(self, wall_s: Iterable[float], columns: Mapping[str, Sequence[float] | FloatArray]) -> None:
        """Append rows; a field that was not there before was missing until now."""
        before = len(self.wall_s)
        _append(self.wall_s, wall_s)
        for name, values in columns.items():
            column = self.columns.get(name)
            if column is None:
                column = self.columns[name] = array("d", [math.nan]) * before
            _append(column, values)
        for column in self.columns.values():
            column.extend([math.nan] * (len(self.wall_s) - len(column)))

    def add_figure(self, name: str, values: FloatArray) -> None:
        """Set a field that the track has not yet, with a value for each of its rows."""
        self.columns[name] = array("d")
        _append(self.columns[name], values)

    def times(self) -> FloatArray:
        """`wall_s` as numpy sees it: valid until rows are appended."""
        return np.frombuffer(self.wall_s)

    def values(self, name: str) -> FloatArray:
        """A field as numpy sees it, empty where the file has none: valid until rows are appended."""
        return np.frombuffer(self.columns.get(name) or _NOTHING)

    def known(self, name: str) -> list[float | None]:
        """Values of a field, None where it is missing."""
        return [None if math.isnan(value) else value for value in self.columns.get(name, ())]


class ImportedEvent(Value, frozen=True, kw_only=True):
    """Something that happened, under the names that the probe gives it (domain/events.py)."""

    wall_s: float
    """By the clock of the file."""
    kind: str
    data: dict[str, Any]


@dataclass(slots=True)
class Reading:
    """One file, read."""

    kind: str
    """Key of the reader: smi_query_csv, smi_apps_csv ..."""
    description: str
    """What the file is, in words."""
    tracks: dict[str, Track] = field(default_factory=dict)
    """By key of the device."""
    processes: list[ImportedProcess] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    rows: int = 0
    """Samples that were read."""
    zone_known: bool = False
    """Whether the times are seconds since 1970 in UTC."""
    events: list[ImportedEvent] = field(default_factory=list)
    """Of one process of the job: its steps, operators, memory."""
    details: TraceDetails | tuple[AllocatorDetails, ...] | None = None
    """What files of a framework tell beyond that."""

    def add(self, key: str, device: Device, wall_s: float, cells: Mapping[str, Cell]) -> Track:
        """Append one sample of a device; the device's facts are those of its first sample.

        Args:
            key: that tells the device from the file's others.
            device: its facts.
            wall_s: time of the sample.
            cells: figures and reasons by field of GpuSample (or by heading, where that has no field for it).
        """
        track = self.tracks.get(key)
        if track is None:
            track = self.tracks[key] = Track(device)
        track.extend([wall_s], {name: [cell.value] for name, cell in cells.items() if cell.reason is None})
        track.reasons.update({name: cell.reason for name, cell in cells.items() if cell.reason is not None})
        self.rows += 1
        return track
