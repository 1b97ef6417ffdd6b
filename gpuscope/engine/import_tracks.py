"""Figures of files as the columns of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpuscope.domain.sample_fields import GPU_FIGURES, is_whole
from gpuscope.domain.series import FloatArray
from gpuscope.importers.reading import Reading, Track
from gpuscope.store.writer import SessionWriter

_MOST = 2.0**62
"""No figure of a GPU is larger, and the whole numbers of a session are not."""


def write_tracks(
    writer: SessionWriter, readings: Sequence[Reading], start_s: float, progress: Callable[[float], None]
) -> float:
    """Store the figures of all devices that a sample has fields for; returns the session time of the last.

    Args:
        writer: of the session.
        readings: the files; their clocks are taken to agree.
        start_s: session time 0, by that clock.
        progress: is told the share of the figures that is stored; to cancel, it raises.
    """
    tracks = [track for reading in readings for track in reading.tracks.values() if len(track.wall_s)]
    end_s = 0.0
    for number, track in enumerate(tracks):
        progress(number / len(tracks))
        end_s = max(end_s, _write(writer, track, start_s))
    return end_s


def _write(writer: SessionWriter, track: Track, start_s: float) -> float:
    """A device's figures in the order of their time: a clock that was set back, or a file of several, is not."""
    t_s = track.times() - start_s
    order = np.argsort(t_s, kind="stable") if (np.diff(t_s) < 0).any() else None
    columns = {name: _column(track, name, order) for name in track.columns if name in GPU_FIGURES}
    reasons = {name: reason for name, reason in track.reasons.items() if name in GPU_FIGURES}
    for name in reasons:
        columns.setdefault(name, np.full(len(t_s), np.nan))
    writer.add_columns(track.device.uuid, t_s if order is None else t_s[order], columns, reasons)
    return float(t_s.max())


def _column(track: Track, name: str, order: np.ndarray[tuple[int], np.dtype[np.intp]] | None) -> FloatArray:
    values = track.values(name) if order is None else track.values(name)[order]
    if not is_whole(name):
        return values
    return np.where(np.abs(values) < _MOST, np.rint(values), np.nan)
