"""Coarse levels of a device's figures: lowest, highest and mean value of thirty readings, of thirty such, and so on.

Any stretch of a long recording is drawn from the level that has about as many entries as the plot has pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpuscope.store.codec import (
    Chunk,
    DamagedChunkError,
    FloatArray,
    IntArray,
    decode_blob,
    encode_blob,
    pack_floats,
    pack_whole,
    unpack,
)
from gpuscope.store.figures import FIRST_REASON, MAX_FIGURES, MAX_ROWS, PRESENT, Column, in_steps

FACTOR = 30
"""Entries of one level in an entry of the next."""
FULL_ENTRIES = FACTOR * FACTOR
"""Of a stored row; smaller ones are joined into one as soon as there are so many."""
MEAN_STEPS = 255
"""The mean is stored to this part of the distance between lowest and highest: one byte."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Entries of one device at one level, in the order of time. Matrices have a row a figure, a column an entry."""

    names: tuple[str, ...]
    start_us: IntArray
    """Session time of an entry's first reading."""
    end_us: IntArray
    """And of its last."""
    rows: IntArray
    """Readings of the device in it."""
    longest_us: IntArray
    """The longest time between two readings within it."""
    low: FloatArray
    """NaN where there is no value in the whole entry; likewise the next two."""
    high: FloatArray
    mean: FloatArray
    known: IntArray
    """Readings with a value."""
    missing: IntArray
    """Readings that have none for a reason."""

    def __len__(self) -> int:
        """Entries."""
        return len(self.start_us)

    def part(self, start: int, end: int) -> Levels:
        """Some of the entries."""
        return self.picked(slice(start, end))

    def picked(self, places: slice | NDArray[np.intp]) -> Levels:
        """The entries at these places."""
        return Levels(
            self.names, self.start_us[places], self.end_us[places], self.rows[places], self.longest_us[places],
            self.low[:, places], self.high[:, places], self.mean[:, places], self.known[:, places],
            self.missing[:, places],
        )  # fmt: skip


def level_zero(t_us: IntArray, columns: dict[str, Column]) -> Levels:
    """The readings themselves as entries; figures of several parts are left out."""
    single = {name: column for name, column in columns.items() if column.parts == 1}
    shape = (len(single), len(t_us))
    values = np.empty(shape)
    states = np.empty(shape, dtype=np.uint8)
    for row, column in enumerate(single.values()):
        values[row] = column.filled()
        states[row] = column.states
    whole = np.ones(len(t_us), dtype=np.int64)
    return Levels(
        tuple(single), t_us, t_us, whole, np.zeros_like(whole), values, values, values,
        (states == PRESENT).astype(np.int64), (states >= FIRST_REASON).astype(np.int64),
    )  # fmt: skip


def coarser(levels: Levels) -> Levels:
    """The next level: each entry of it is `FACTOR` of these, the last one maybe fewer."""
    first = np.arange(0, len(levels), FACTOR)
    last = np.minimum(first + FACTOR, len(levels)) - 1
    between = np.zeros_like(levels.start_us)
    between[1:] = levels.start_us[1:] - levels.end_us[:-1]
    between[first] = 0
    known = np.add.reduceat(levels.known, first, axis=1)
    empty = known == 0
    gone = levels.known == 0
    with np.errstate(all="ignore"):  # infinite values, which some program may have written, have no mean
        total = np.add.reduceat(np.where(gone, 0.0, levels.mean * levels.known), first, axis=1)
    low = np.minimum.reduceat(np.where(gone, np.inf, levels.low), first, axis=1)
    high = np.maximum.reduceat(np.where(gone, -np.inf, levels.high), first, axis=1)
    low[empty] = high[empty] = np.nan
    mean = np.full(total.shape, np.nan)
    np.divide(total, known, out=mean, where=~empty)
    return Levels(
        levels.names,
        levels.start_us[first],
        levels.end_us[last],
        np.add.reduceat(levels.rows, first),
        np.maximum.reduceat(np.maximum(levels.longest_us, between), first),
        low,
        high,
        np.clip(mean, low, high),  # a mean of equal numbers is that number
        known,
        np.add.reduceat(levels.missing, first, axis=1),
    )


def joined(parts: Sequence[Levels]) -> Levels:
    """Entries one after the other; a figure that only some of them have is not read in the others."""
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    places = [[names.index(name) for name in part.names] for part in parts]

    def matrix(pieces: list[NDArray[Any]], fill: float) -> NDArray[Any]:
        aligned = [np.full((len(names), piece.shape[1]), fill, dtype=piece.dtype) for piece in pieces]
        for whole, piece, place in zip(aligned, pieces, places, strict=True):
            whole[place] = piece
        return np.concatenate(aligned, axis=1)

    return Levels(
        names,
        np.concatenate([part.start_us for part in parts]),
        np.concatenate([part.end_us for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.longest_us for part in parts]),
        matrix([part.low for part in parts], np.nan),
        matrix([part.high for part in parts], np.nan),
        matrix([part.mean for part in parts], np.nan),
        matrix([part.known for part in parts], 0),
        matrix([part.missing for part in parts], 0),
    )


class _StoredValues(msgspec.Struct, frozen=True, array_like=True):
    """Of the entries that have a value."""

    scale: int
    """Steps a unit; 0: floating-point numbers as they are."""
    low: Chunk
    high: Chunk
    """Less the low ones, except for floating-point numbers."""
    share: Chunk
    """Where the mean is between low (0) and high (`MEAN_STEPS`)."""


class _StoredFigure(msgspec.Struct, frozen=True, array_like=True):
    name: str
    known: Chunk
    missing: Chunk
    values: _StoredValues | None


class _StoredLevels(msgspec.Struct, frozen=True, array_like=True):
    times: tuple[Chunk, ...]
    """Starts, ends, rows and longest times, as in `Levels`."""
    figures: tuple[_StoredFigure, ...]


def encode_levels(levels: Levels, level: int) -> bytes:
    """Entries as the blob that is stored; `level` is that of deflate."""
    figures = []
    for row, name in enumerate(levels.names):
        present = levels.known[row] > 0
        values = None
        if present.any():
            low, high, mean = (matrix[row][present] for matrix in (levels.low, levels.high, levels.mean))
            values = _pack_values(name, low, high, mean, level)
        known, missing = pack_whole(levels.known[row], level), pack_whole(levels.missing[row], level)
        figures.append(_StoredFigure(name, known, missing, values))
    times = (levels.start_us, levels.end_us, levels.rows, levels.longest_us)
    packed = tuple(pack_whole(values, level) for values in times)
    return encode_blob(_StoredLevels(packed, tuple(figures)), level)


def _pack_values(name: str, low: FloatArray, high: FloatArray, mean: FloatArray, level: int) -> _StoredValues:
    with np.errstate(all="ignore"):  # infinite values have no mean between them
        share = np.nan_to_num((mean - low) / (high - low), nan=0.0)
    shares = pack_whole(np.rint(np.clip(share, 0, 1) * MEAN_STEPS).astype(np.int64), level)
    scaled, scale = in_steps(name, np.stack([low, high]))
    if scaled is None:
        return _StoredValues(0, pack_floats(low, level), pack_floats(high, level), shares)
    return _StoredValues(scale, pack_whole(scaled[0], level), pack_whole(scaled[1] - scaled[0], level), shares)


def decode_levels(blob: object, wanted: frozenset[str] | None = None) -> Levels:
    """The entries of a stored blob, of all figures or only those that are wanted.

    Raises:
        DamagedChunkError: it is no such blob.
    """
    stored = decode_blob(blob, _StoredLevels)
    counts = {chunk.count for chunk in stored.times}
    if len(stored.times) != 4 or len(counts) != 1 or max(counts) > MAX_ROWS or len(stored.figures) > MAX_FIGURES:
        raise DamagedChunkError("more than any row holds, or times that do not fit together")
    count = counts.pop()
    figures = [figure for figure in stored.figures if wanted is None or figure.name in wanted]
    low, high, mean = (np.full((len(figures), count), np.nan) for _ in range(3))
    known, missing = (np.zeros((len(figures), count), dtype=np.int64) for _ in range(2))
    for row, figure in enumerate(figures):
        if figure.known.count != count or figure.missing.count != count:
            raise DamagedChunkError(f"{figure.name} does not fit its times")
        known[row], missing[row] = unpack(figure.known), unpack(figure.missing)
        if figure.values is not None:
            present = slice(None) if known[row].all() else known[row] > 0
            count_known = int(np.count_nonzero(known[row]))
            low[row, present], high[row, present], mean[row, present] = _unpack_values(figure.values, count_known)
    start_us, end_us, rows, longest_us = (np.asarray(unpack(chunk), dtype=np.int64) for chunk in stored.times)
    names = tuple(figure.name for figure in figures)
    return Levels(names, start_us, end_us, rows, longest_us, low, high, mean, known, missing)


def _unpack_values(values: _StoredValues, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    if {values.low.count, values.high.count, values.share.count} != {count}:
        raise DamagedChunkError("a level with too few values")
    low, high = unpack(values.low).astype(np.float64), unpack(values.high).astype(np.float64)
    if values.scale:
        low, high = low / values.scale, (low + high) / values.scale
    with np.errstate(all="ignore"):
        return low, high, low + (high - low) * (unpack(values.share) / MEAN_STEPS)
