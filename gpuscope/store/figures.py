"""The figures of one device over time, as they are stored: a state for each reading, and the values that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.reasons import Reason
from gpuscope.store.codec import (
    LARGEST_WHOLE,
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

StateArray = NDArray[np.uint8]

NOT_READ, PRESENT, FIRST_REASON = 0, 1, 2
"""State of a reading: not asked for in this frame, a value, or missing for a reason (the rest, an index)."""
MICROSECONDS = 1_000_000
MAX_ROWS = 65_536
"""Of a block; the writer makes smaller ones."""
MAX_FIGURES = 1000
MAX_PARTS = 8192
"""Of a figure that is several numbers at once, one for each core of the host."""

RESOLUTIONS = (
    ("_per_s", 1),  # bytes a second
    ("_percent", 100),
    ("_percents", 100),
    ("_percent_per_core", 100),
    ("_bytes", 1),
    ("_w", 1000),  # NVML tells milliwatts
    ("_j", 1000),  # and millijoules
    ("_mhz", 1000),
    ("_c", 1000),
    ("_s", MICROSECONDS),
)
"""Steps that a unit is stored in, by the end of the figure's name: finer than any meter. Others are kept exactly."""
EXACT_SCALES = (1, 10, 100, 1000)
ON_THE_FRAMES_CLOCK = frozenset({"read_start_s", "read_end_s"})
"""Moments: stored as distances from their frame's."""


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of one device, one state for each of its readings and the values of those that are present.

    With `parts` above 1 each reading is that many values, one after the other.
    """

    states: StateArray
    values: IntArray | FloatArray
    parts: int = 1

    def filled(self) -> FloatArray:
        """A value for each reading, NaN where there is none; of figures with one part."""
        if len(self.values) == len(self.states):
            return np.asarray(self.values, dtype=np.float64)
        filled = np.full(len(self.states), np.nan)
        filled[self.states == PRESENT] = self.values
        return filled


class StoredFigure(msgspec.Struct, frozen=True, array_like=True):
    """A column in the file."""

    name: str
    states: Chunk
    values: Chunk | None
    """None where no reading has one."""
    scale: int
    """Steps a unit; 0: floating-point numbers as they are."""
    parts: int = 1


class StoredDevice(msgspec.Struct, frozen=True, array_like=True):
    """The readings of one device in one block."""

    rows: Chunk
    """Which of the block's times each reading belongs to."""
    figures: tuple[StoredFigure, ...]
    reasons: tuple[str, ...]
    """What the states from `FIRST_REASON` on stand for."""


def is_time(seconds: float) -> bool:
    """Whether a clock's reading can be stored in microseconds."""
    return abs(seconds) * MICROSECONDS < LARGEST_WHOLE  # False for NaN


def scale_of(name: str) -> int:
    """Steps that a unit of a figure is stored in; 0 where its name says nothing of it."""
    return next((scale for ending, scale in RESOLUTIONS if name.endswith(ending)), 0)


def pack_figure(name: str, column: Column, clock_us: IntArray, level: int) -> StoredFigure:
    """Store a column.

    Args:
        name: of the figure: its end says how fine the values are.
        column: what to store; whole numbers below `LARGEST_WHOLE` in size.
        clock_us: the monotonic clock at each reading.
        level: of deflate.
    """
    states = pack_whole(column.states.astype(np.int64), level)
    if not len(column.values):
        return StoredFigure(name, states, None, 1, column.parts)
    values = column.values
    if column.parts > 1:  # all values of one part are alike, not those of one reading
        values = values.reshape(-1, column.parts).T.reshape(-1)
    if values.dtype == np.int64:
        return StoredFigure(name, states, pack_whole(values.astype(np.int64), level), 1, column.parts)
    fractions = values.astype(np.float64)
    scaled, scale = in_steps(name, fractions)
    if scaled is None:
        return StoredFigure(name, states, pack_floats(fractions, level), 0, column.parts)
    if name in ON_THE_FRAMES_CLOCK:
        scaled -= clock_us[column.states == PRESENT]
    return StoredFigure(name, states, pack_whole(scaled, level), scale, column.parts)


def in_steps(name: str, values: FloatArray, scale: int | None = None) -> tuple[IntArray | None, int]:
    """Values as whole steps, and how many of these a unit is; None and 0 where they have to stay as they are.

    Args:
        name: of the figure.
        values: at least one.
        scale: steps a unit, where it is not the name that says so.
    """
    stated = scale or scale_of(name)
    for candidate in (stated,) if stated else EXACT_SCALES:
        if not (np.abs(values) < LARGEST_WHOLE / candidate).all():  # also where one is no number
            break
        scaled = np.rint(values * candidate)
        if stated or (scaled / candidate == values).all():
            return scaled.astype(np.int64), candidate
    return None, 0


def unpack_figure(figure: StoredFigure, clock_us: IntArray) -> Column:
    """The column that was stored.

    Args:
        figure: as it is in the file.
        clock_us: the monotonic clock at each reading of the device.

    Raises:
        DamagedChunkError: the parts do not fit together.
    """
    if not 0 < figure.parts <= MAX_PARTS or figure.states.count != len(clock_us):
        raise DamagedChunkError(f"{figure.name} does not fit its times")
    states = unpack(figure.states).astype(np.uint8)
    present = states == PRESENT
    if figure.values is None:
        return Column(states, np.empty(0), figure.parts)
    if figure.values.count != int(present.sum()) * figure.parts:
        raise DamagedChunkError(f"{figure.name} has too few values")
    values = unpack(figure.values)
    if figure.name in ON_THE_FRAMES_CLOCK and figure.scale:
        values = values + clock_us[present]
    if figure.parts > 1:
        values = values.reshape(figure.parts, -1).T.reshape(-1)
    return Column(states, values / figure.scale if figure.scale > 1 else values, figure.parts)


def encode_device(
    rows: IntArray, columns: dict[str, Column], reasons: Sequence[Reason], clock_us: IntArray, level: int
) -> bytes:
    """A device's readings as the blob that is stored."""
    figures = tuple(pack_figure(name, column, clock_us, level) for name, column in columns.items())
    stored = StoredDevice(pack_whole(rows, level), figures, tuple(reason.value for reason in reasons))
    return encode_blob(stored, level)


def decode_device(blob: object) -> StoredDevice:
    """What `encode_device` made; its figures are still packed.

    Raises:
        DamagedChunkError: it is no such blob.
    """
    stored = decode_blob(blob, StoredDevice)
    if stored.rows.count > MAX_ROWS or len(stored.figures) > MAX_FIGURES:
        raise DamagedChunkError("more than any block holds")
    return stored


def reason_of(code: str) -> Reason:
    """The reason with this code; codes of a newer version are unknown ones."""
    try:
        return Reason(code)
    except ValueError:
        return Reason.UNKNOWN_ERROR
