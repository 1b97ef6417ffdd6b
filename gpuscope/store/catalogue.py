"""Which blocks a session has and whose columns are in them, kept up to date while it grows."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpuscope.store.block_rows import decode_times
from gpuscope.store.codec import DamagedChunkError, IntArray, unpack
from gpuscope.store.figures import StoredDevice, decode_device
from gpuscope.store.row_reading import rows_after
from gpuscope.store.schema import UNREADABLE

KEPT_TIMES = 2_000_000
"""Times of blocks that are remembered: 16 MB; all figures of all devices of a block have the same."""


class Block(NamedTuple):
    """A row of the table `blocks`, without its blobs."""

    number: int
    first_seq: int | None
    """None: the recording of another program, of one device."""
    last_seq: int | None
    start_s: float
    end_s: float
    rows: int


class Catalogue:
    """The blocks of one session file."""

    def __init__(self, connection: sqlite3.Connection, note_damage: Callable[[str], None]) -> None:
        """Nothing has been read yet.

        Args:
            connection: of a session of version 2 or later.
            note_damage: is told what could not be read.
        """
        self._connection = connection
        self._note_damage = note_damage
        self._blocks: dict[int, Block] = {}
        self._columns: dict[str, dict[int, int]] = {}
        """Row of `columns` by device and block."""
        self._last_block = self._last_column = 0
        self._times: OrderedDict[int, tuple[IntArray, IntArray | None]] = OrderedDict()

    def refresh(self) -> None:
        """Look for new blocks, and forget those that a ring recording has dropped."""
        for row in rows_after(
            self._connection, "blocks", "block, first_seq, last_seq, start_s, end_s, rows", self._last_block, -1,
            self._note_damage,
        ):  # fmt: skip
            self._last_block = row[0]
            with self.damage_noted("blocks"):
                self._blocks[row[0]] = _checked(row)
        for number, device, block in self._new_columns():
            self._last_column = max(self._last_column, number)
            self._columns.setdefault(str(device), {})[block] = number
        self._forget_dropped()

    @property
    def blocks(self) -> list[Block]:
        """All blocks known since the last refresh, as they were written."""
        return list(self._blocks.values())

    @property
    def devices(self) -> list[str]:
        """Keys of the devices that have columns."""
        return list(self._columns)

    def blocks_of(self, device: str) -> list[Block]:
        """The blocks with columns of a device, by their beginning."""
        found = [self._blocks[number] for number in self._columns.get(device, {}) if number in self._blocks]
        return sorted(found, key=lambda block: block.start_s)

    def devices_of(self, block: Block) -> list[str]:
        """The devices of a block, in the order in which they were written."""
        found = [
            (numbers[block.number], device) for device, numbers in self._columns.items() if block.number in numbers
        ]
        return [device for _, device in sorted(found)]

    def times(self, block: Block) -> tuple[IntArray, IntArray | None] | None:
        """Session times of a block in microseconds, and its wall clock; None where they are damaged or dropped."""
        if block.number in self._times:
            self._times.move_to_end(block.number)
            return self._times[block.number]
        row = self._row("SELECT times FROM blocks WHERE block=?", block.number)
        if row is None:
            return None
        with self.damage_noted("blocks"):
            self._times[block.number] = decode_times(row[0])
            while sum(len(t_us) for t_us, _ in self._times.values()) > KEPT_TIMES and len(self._times) > 1:
                self._times.popitem(last=False)
            return self._times[block.number]
        return None

    def stored(self, device: str, block: Block) -> StoredDevice | None:
        """The columns of a device in a block, still packed; None where they are damaged or dropped."""
        row = self._row("SELECT data FROM columns WHERE id=?", self._columns[device][block.number])
        if row is None:
            return None
        with self.damage_noted("columns"):
            return decode_device(row[0])
        return None

    @staticmethod
    def rows_of(stored: StoredDevice, count: int) -> IntArray:
        """Which of the `count` times of its block the readings of a device belong to.

        Raises:
            DamagedChunkError: it has readings at times that the block has not.
        """
        if stored.rows.count == count:  # all of them: they rise
            return np.arange(count)
        rows = np.asarray(unpack(stored.rows), dtype=np.int64)
        if rows.min() < 0 or rows.max() >= count or (np.diff(rows) <= 0).any():
            raise DamagedChunkError("readings at no time")
        return rows

    def rest(self, block: Block) -> bytes | None:
        """What of a block's frames is in no column, as it is stored."""
        row = self._row("SELECT rest FROM blocks WHERE block=?", block.number)
        return None if row is None else row[0]

    def damage_noted(self, what: str) -> contextlib.AbstractContextManager[None]:
        """Swallows what damaged blobs raise, and notes it."""
        return _Noting(self._note_damage, what)

    def _row(self, sql: str, key: int) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = self._connection.execute(sql, (key,)).fetchone()
        except sqlite3.ProgrammingError:  # closed: not the file's fault
            raise
        except UNREADABLE:
            self._note_damage("columns")
            return None
        return row

    def _new_columns(self) -> list[tuple[int, Any, int]]:
        after = self._last_column
        with contextlib.suppress(*UNREADABLE):
            sql = "SELECT id, device, block FROM columns WHERE id > ? ORDER BY id"
            if not after:  # answered by the index alone
                sql = "SELECT id, device, block FROM columns WHERE id > ?"
            return self._connection.execute(sql, (after,)).fetchall()
        rows = rows_after(self._connection, "columns", "id, device, block", after, -1, self._note_damage)
        return [(row[0], row[1], row[2]) for row in rows]

    def _forget_dropped(self) -> None:
        if not self._blocks:
            return
        with contextlib.suppress(*UNREADABLE):
            first = self._connection.execute("SELECT min(block) FROM blocks").fetchone()[0]
            for number in [number for number in self._blocks if first is not None and number < first]:
                del self._blocks[number]
                self._times.pop(number, None)
                for numbers in self._columns.values():
                    numbers.pop(number, None)


class _Noting:
    def __init__(self, note_damage: Callable[[str], None], what: str) -> None:
        self._note_damage = note_damage
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, (DamagedChunkError, TypeError, ValueError, OverflowError)):
            self._note_damage(self._what)
            return True
        return False


def _checked(row: tuple[Any, ...]) -> Block:
    """A block whose figures are of the types that they should be."""
    number, first, last, start_s, end_s, rows = row
    if (first is None) is not (last is None) or not all(isinstance(value, (int, float)) for value in (start_s, end_s)):
        raise DamagedChunkError("a block without times")
    if not all(isinstance(value, int) for value in (number, first or 0, last or 0, rows)):
        raise DamagedChunkError("a block without numbers")
    return Block(number, first, last, float(start_s), float(end_s), int(rows))
