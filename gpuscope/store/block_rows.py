"""Blocks, columns and levels as rows of the session file: what is written together."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.reasons import Reason
from gpuscope.domain.run import Manifest
from gpuscope.store.codec import (
    LARGEST_WHOLE,
    Chunk,
    DamagedChunkError,
    IntArray,
    decode_blob,
    encode_blob,
    pack_whole,
    unpack,
)
from gpuscope.store.figures import FIRST_REASON, MAX_ROWS, MICROSECONDS, NOT_READ, PRESENT, Column, encode_device
from gpuscope.store.levels import FACTOR, FULL_ENTRIES, Levels, coarser, encode_levels, joined, level_zero

IMPORTED_ROWS = FULL_ENTRIES * FACTOR
"""Of a block of another program's recording: its first level is one full row."""
IMPORT_DEFLATE = 1
"""Level of deflate: fast, for a week of readings is written at once."""


class BlockTimes(msgspec.Struct, frozen=True, array_like=True):
    """When the readings of a block were."""

    t_us: Chunk
    """Session time."""
    wall_us: Chunk | None = None
    """Unix time less the monotonic clock; None where the session's beginning tells it."""


def clock_zero_us(manifest: Manifest) -> int:
    """The monotonic clock at session time 0, in microseconds."""
    return round(manifest.created_monotonic_s * MICROSECONDS)


def encode_times(t_us: IntArray, wall_us: IntArray | None, level: int) -> bytes:
    """A block's times as they are stored."""
    wall = None if wall_us is None else pack_whole(wall_us, level)
    return encode_blob(BlockTimes(pack_whole(t_us, level), wall), level)


def decode_times(blob: object) -> tuple[IntArray, IntArray | None]:
    """What `encode_times` was given.

    Raises:
        DamagedChunkError: it is no such blob.
    """
    times = decode_blob(blob, BlockTimes)
    if times.t_us.count > MAX_ROWS or (times.wall_us is not None and times.wall_us.count != times.t_us.count):
        raise DamagedChunkError("times that do not fit together")
    wall = None if times.wall_us is None else np.asarray(unpack(times.wall_us), dtype=np.int64)
    return np.asarray(unpack(times.t_us), dtype=np.int64), wall


class LevelRow(NamedTuple):
    """A row of the table `levels`."""

    device: str
    level: int
    young: bool
    """The next level has not been made from it yet."""
    start_s: float
    end_s: float
    data: bytes


def level_row(device: str, level: int, levels: Levels, *, young: bool, deflate: int) -> LevelRow:
    """Entries of a level, ready to be stored."""
    start_s, end_s = int(levels.start_us[0]) / MICROSECONDS, int(levels.end_us[-1]) / MICROSECONDS
    return LevelRow(device, level, young, start_s, end_s, encode_levels(levels, deflate))


def insert_level(connection: sqlite3.Connection, row: LevelRow) -> None:
    """Store entries of a level."""
    sql = "INSERT INTO levels (device, level, young, start_s, end_s, data) VALUES (?, ?, ?, ?, ?, ?)"
    connection.execute(sql, row)


def insert_columns(
    connection: sqlite3.Connection,
    manifest: Manifest,
    device: str,
    t_s: NDArray[np.float64],
    columns: Mapping[str, NDArray[np.float64]],
    reasons: Mapping[str, Reason],
) -> None:
    """Store the readings of one device with all levels; see `SessionWriter.add_columns`."""
    scaled = np.rint(np.asarray(t_s, dtype=np.float64) * MICROSECONDS)
    if not (np.abs(scaled) < LARGEST_WHOLE).all() or (np.diff(scaled) < 0).any():
        raise ValueError("times have to be numbers that never fall")
    t_us = scaled.astype(np.int64)
    first_levels = []
    for start in range(0, len(t_us), IMPORTED_ROWS):
        part = slice(start, start + IMPORTED_ROWS)
        stored, used = _stored_columns({name: values[part] for name, values in columns.items()}, reasons)
        _insert_block(connection, manifest, device, t_us[part], stored, used)
        first_levels.append(coarser(level_zero(t_us[part], stored)))
    if first_levels:
        _insert_all_levels(connection, device, joined(first_levels))


def _insert_block(
    connection: sqlite3.Connection,
    manifest: Manifest,
    device: str,
    t_us: IntArray,
    columns: dict[str, Column],
    reasons: list[Reason],
) -> None:
    times = encode_times(t_us, None, IMPORT_DEFLATE)
    row = (int(t_us[0]) / MICROSECONDS, int(t_us[-1]) / MICROSECONDS, len(t_us), times)
    block = connection.execute("INSERT INTO blocks (start_s, end_s, rows, times) VALUES (?, ?, ?, ?)", row).lastrowid
    clock_us = t_us + clock_zero_us(manifest)
    data = encode_device(np.arange(len(t_us)), columns, reasons, clock_us, IMPORT_DEFLATE)
    connection.execute("INSERT INTO columns (device, block, data) VALUES (?, ?, ?)", (device, block, data))


def _stored_columns(
    columns: Mapping[str, NDArray[np.float64]], reasons: Mapping[str, Reason]
) -> tuple[dict[str, Column], list[Reason]]:
    """Columns with the state of each reading, and the reasons in the order in which the states count them."""
    used = list(dict.fromkeys(reasons[name] for name in columns if name in reasons))
    stored = {}
    for name, values in columns.items():
        there = ~np.isnan(values)
        absent = FIRST_REASON + used.index(reasons[name]) if name in reasons else NOT_READ
        states = np.where(there, PRESENT, absent).astype(np.uint8)
        stored[name] = Column(states, np.asarray(values, dtype=np.float64)[there])
    return stored, used


def _insert_all_levels(connection: sqlite3.Connection, device: str, levels: Levels) -> None:
    """All levels of a recording that is complete: none of their rows is young."""
    number = 1
    while True:
        for start in range(0, len(levels), FULL_ENTRIES):
            part = levels.part(start, start + FULL_ENTRIES)
            insert_level(connection, level_row(device, number, part, young=False, deflate=IMPORT_DEFLATE))
        if len(levels) <= FACTOR:
            break
        levels = coarser(levels)
        number += 1
