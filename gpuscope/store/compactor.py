"""Moves what a recording wrote a minute ago from rows into blocks of columns, a small piece of work at a time.

Rows of frames are the journal: whatever happens, they are on disk at most a tick after they were read. A block takes
their place in one transaction, so that a reader finds every frame in exactly one of the two.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from gpuscope.domain.base import from_msgpack, to_json, to_msgpack
from gpuscope.domain.run import Manifest
from gpuscope.domain.sample import Frame
from gpuscope.store.block_rows import LevelRow, clock_zero_us, encode_times, insert_level, level_row
from gpuscope.store.codec import IntArray, deflate, seal
from gpuscope.store.figures import MICROSECONDS, encode_device, is_time
from gpuscope.store.frame_columns import Splitter
from gpuscope.store.levels import FACTOR, coarser, decode_levels, joined, level_zero

BLOCK_ROWS = 900
"""Frames of a block: a minute and a half at ten a second."""
JOURNAL_ROWS = 600
"""The newest frames stay rows: a live view reads them so, a minute of them at ten a second."""
LEAST_BLOCK_ROWS = 30
"""Smaller blocks, for rings that hold little, would be all overhead."""
ROWS_A_STEP = 100
DEFLATE = 6
KEPT_PARTS = 8
"""A ring drops whole blocks: it has about so many."""
KEPT_FROM = "kept_from_s"
"""Name of the fact from which session time on a ring recording still has everything."""


class _Encoded(NamedTuple):
    """A device's part of a block, ready to be written."""

    device: str
    data: bytes
    level: LevelRow


class Compactor:
    """Works on the session that its connection writes."""

    def __init__(self, connection: sqlite3.Connection, manifest: Manifest) -> None:
        """Nothing is read yet; `manifest` says how much a ring recording keeps."""
        self._connection = connection
        self._zero_us = clock_zero_us(manifest)
        self._keep_s = manifest.keep_s
        self._block_rows, self._journal_rows = BLOCK_ROWS, JOURNAL_ROWS
        if manifest.keep_s is not None:
            part = max(LEAST_BLOCK_ROWS, int(manifest.keep_s / manifest.interval_s / KEPT_PARTS))
            self._block_rows, self._journal_rows = min(BLOCK_ROWS, part), min(JOURNAL_ROWS, part)
        self._first_seq: int | None = None
        self._work: Iterator[None] | None = None
        self._young: dict[tuple[str, int], int] = {}

    def step(self, next_seq: int) -> bool:
        """Do a piece of the work, of some milliseconds; True when there was some. Commits on its own.

        Args:
            next_seq: number of the frame that comes next.
        """
        if self._work is None:
            if self._first_seq is None:
                self._begin(next_seq)
            if next_seq - (self._first_seq or 0) < self._block_rows + self._journal_rows:
                return False
            self._work = self._block(self._block_rows)
        return self._advance()

    def finish(self, next_seq: int) -> None:
        """Bring all frames into blocks, where there are enough of them to be worth it, and free the space."""
        while self._work is not None:
            self._advance()
        if self._first_seq is None:
            self._begin(next_seq)
        begun = self._connection.execute("SELECT 1 FROM blocks LIMIT 1").fetchone() is not None
        while next_seq - (self._first_seq or 0) >= (1 if begun else self._block_rows):
            begun = True
            for _ in self._block(self._block_rows):
                pass
        if begun:
            self._connection.executescript("PRAGMA incremental_vacuum")  # execute() would free one page only

    def _begin(self, next_seq: int) -> None:
        row = self._connection.execute("SELECT min(seq) FROM frames").fetchone()
        self._first_seq = next_seq if row[0] is None else int(row[0])
        self._count_young()

    def _count_young(self) -> None:
        sql = "SELECT device, level, count(*) FROM levels WHERE young GROUP BY device, level"
        self._young = {(device, level): count for device, level, count in self._connection.execute(sql)}

    def _advance(self) -> bool:
        assert self._work is not None
        if next(self._work, self) is self:
            self._work = None
        return True

    def _block(self, count: int) -> Iterator[None]:
        """Make one block of the oldest rows."""
        first = self._first_seq or 0
        frames: list[Frame] = []
        while len(frames) < count:
            wanted = min(ROWS_A_STEP, count - len(frames))
            taken = self._frames(first + len(frames), wanted)
            frames += taken
            yield
            if len(taken) < wanted:
                break
        if not frames:
            self._step_over()
            return
        splitter = Splitter(frames)
        yield
        t_us, wall_us = self._times(frames)
        encoded = []
        for device in splitter.devices:
            readings = splitter.readings(device)
            yield
            rows = np.array(readings.rows, dtype=np.int64)
            clock_us = t_us[rows] + self._zero_us
            data = encode_device(rows, readings.columns, readings.reasons, clock_us, DEFLATE)
            yield
            levels = coarser(level_zero(t_us[rows], readings.columns))
            encoded.append(_Encoded(device, data, level_row(device, 1, levels, young=True, deflate=DEFLATE)))
            yield
        left = splitter.remainders()
        rest = seal(deflate(to_msgpack(left), DEFLATE)) if left else None
        times = encode_times(t_us, wall_us, DEFLATE)
        yield
        self._write(first, len(frames), (times, rest), t_us, encoded)
        self._connection.commit()
        self._first_seq = first + len(frames)
        yield
        yield from self._merge()
        self._drop_old()

    def _frames(self, first: int, count: int) -> list[Frame]:
        """Frames with these numbers, up to the first that is not there or cannot be read."""
        sql = "SELECT seq, data FROM frames WHERE seq >= ? AND seq < ? ORDER BY seq"
        frames: list[Frame] = []
        for seq, data in self._connection.execute(sql, (first, first + count)):
            try:
                if seq != first + len(frames):
                    break
                frames.append(from_msgpack(data, Frame))
            except msgspec.MsgspecError:
                break
        return frames

    def _step_over(self) -> None:
        """Leave a frame that cannot be read, or a hole in the numbers, as it is, and go on after it."""
        sql = "SELECT min(seq) FROM frames WHERE seq > ?"
        row = self._connection.execute(sql, (self._first_seq,)).fetchone()
        self._first_seq = (self._first_seq or 0) + 1 if row[0] is None else int(row[0])

    def _times(self, frames: list[Frame]) -> tuple[IntArray, IntArray]:
        clock_us = [_microseconds(frame.monotonic_s) for frame in frames]
        wall_us = [_microseconds(frame.wall_s) for frame in frames]
        clock = np.array(clock_us, dtype=np.int64)
        return clock - self._zero_us, np.array(wall_us, dtype=np.int64) - clock

    def _write(
        self, first: int, count: int, blobs: tuple[bytes, bytes | None], t_us: IntArray, encoded: list[_Encoded]
    ) -> None:
        times = int(t_us.min()) / MICROSECONDS, int(t_us.max()) / MICROSECONDS
        row = (first, first + count - 1, *times, count, *blobs)
        sql = "INSERT INTO blocks (first_seq, last_seq, start_s, end_s, rows, times, rest) VALUES (?, ?, ?, ?, ?, ?, ?)"
        block = self._connection.execute(sql, row).lastrowid
        for device, data, level in encoded:
            self._connection.execute(
                "INSERT INTO columns (device, block, data) VALUES (?, ?, ?)", (device, block, data)
            )
            self._insert_level(level)
        self._connection.execute("DELETE FROM frames WHERE seq >= ? AND seq < ?", (first, first + count))

    def _insert_level(self, row: LevelRow) -> None:
        insert_level(self._connection, row)
        self._young[row.device, row.level] = self._young.get((row.device, row.level), 0) + row.young

    def _merge(self) -> Iterator[None]:
        """Join the young rows of a level into one, and make the next level's entries of them."""
        ready = [key for key, count in self._young.items() if count >= FACTOR]
        while ready:
            device, level = ready.pop()
            sql = "SELECT id, data FROM levels WHERE device=? AND level=? AND young ORDER BY start_s"
            rows = self._connection.execute(sql, (device, level)).fetchall()
            whole = joined([decode_levels(data) for _, data in rows])
            self._insert_level(level_row(device, level, whole, young=False, deflate=DEFLATE))
            self._connection.executemany("DELETE FROM levels WHERE id=?", [(number,) for number, _ in rows])
            self._young[device, level] = 0
            self._insert_level(level_row(device, level + 1, coarser(whole), young=True, deflate=DEFLATE))
            self._connection.commit()
            if self._young[device, level + 1] >= FACTOR:
                ready.append((device, level + 1))
            yield

    def _drop_old(self) -> None:
        """Of a ring recording, drop what is older than it keeps; the space is used again."""
        if self._keep_s is None:
            return
        newest = self._connection.execute("SELECT max(t) FROM frames").fetchone()[0]
        if newest is None:
            newest = self._connection.execute("SELECT max(end_s) FROM blocks").fetchone()[0]
        limit_s = newest - self._keep_s
        sql = "SELECT block FROM blocks WHERE end_s < ? AND first_seq IS NOT NULL"
        old = self._connection.execute(sql, (limit_s,)).fetchall()
        if not old:
            return
        self._connection.executemany("DELETE FROM columns WHERE block=?", old)
        self._connection.executemany("DELETE FROM blocks WHERE block=?", old)
        self._connection.execute("DELETE FROM levels WHERE end_s < ?", (limit_s,))
        kept_from = self._connection.execute("SELECT min(start_s) FROM blocks").fetchone()[0]
        row = (KEPT_FROM, to_json(limit_s if kept_from is None else kept_from))
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)
        self._connection.commit()
        self._count_young()


def _microseconds(seconds: float) -> int:
    """0 for what is no time; such frames are kept whole."""
    return round(seconds * MICROSECONDS) if is_time(seconds) else 0
