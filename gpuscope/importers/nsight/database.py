"""Another program's SQLite file, opened from memory as what a stranger may have made: nothing in it is run."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Any

from gpuscope.errors import UsageError

SQLITE_MAGIC = b"SQLite format 3\x00"
_GPUSCOPE = 0x47505553
"""Application id of gpuscope's own sessions, which have a reader of their own."""
_HEADER_BYTES = 100
_PAGE_SIZE_AT, _PAGE_COUNT_AT, _APPLICATION_AT = slice(16, 18), slice(28, 32), slice(68, 72)
_FORMAT_VERSIONS_AT = slice(18, 20)
_MOST_VALUE_BYTES = 16 * 1024**2
"""Names and ranges are short; no value of an export is larger."""
_MOST_MISSING_BYTES = 1024**3
_MOST_MISSING_TIMES = 20
"""The size of what is there: a small file may promise anything, and what is missing is filled up in memory."""
_MOST_SECONDS = 120.0
_STEPS_BETWEEN_LOOKS = 100_000
"""Of SQLite's virtual machine: some milliseconds."""
_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError)
"""What damaged pages raise; the second where damage got into a name."""

Row = Sequence[Any]


def is_foreign_database(data: bytes) -> bool:
    """Whether a file is an SQLite database that is no session of gpuscope's, by its header."""
    header = data[:_HEADER_BYTES]
    return (
        len(header) == _HEADER_BYTES
        and header.startswith(SQLITE_MAGIC)
        and int.from_bytes(header[_APPLICATION_AT], "big") != _GPUSCOPE
    )


class Database:
    """Plain tables of the file, whatever of them can be read. To be closed."""

    def __init__(self, data: bytes) -> None:
        """Open the bytes of a file; one that was cut off is filled up with empty pages.

        Raises:
            UsageError: it is no database, too little of it is left, or names more than it can hold.
        """
        self.missing_bytes = 0
        """Of the file's end, by what its header promises."""
        self.damaged: set[str] = set()
        """Tables of which rows could not be read."""
        self.refused: set[str] = set()
        """Views, triggers and virtual tables, which no export has: they were not touched."""
        self._deadline = time.monotonic() + _MOST_SECONDS
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        try:
            self._connection.deserialize(self._whole(data))
            self._harden()
            self._columns = self._schema()
        except (*_UNREADABLE, MemoryError) as error:
            self.close()
            raise UsageError("The SQLite file is damaged, and too little of it is left: export it again.") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the memory back."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is a plain table of this name with all of these columns."""
        return table in self._columns and set(columns) <= self._columns[table]

    def first_of(self, table: str, *columns: str) -> str | None:
        """The first of several names under which releases know a column; None: the table has none of them."""
        return next((column for column in columns if self.has(table, column)), None)

    def rows(self, table: str, select: str, rest: str = "") -> Iterator[Row]:
        """Rows of one table; where its pages are damaged, those before the damage.

        Args:
            table: that `has` knows.
            select: the columns, as SQL of ours.
            rest: WHERE and what follows, as SQL of ours.

        Raises:
            UsageError: reading takes longer than two minutes in all.
        """
        try:
            yield from self._connection.execute(f'SELECT {select} FROM "{table}" {rest}')  # noqa: S608 - names of ours
        except _UNREADABLE as error:
            if time.monotonic() > self._deadline:
                raise UsageError("The SQLite file takes too long to read: export a shorter recording.") from error
            self.damaged.add(table)

    def _whole(self, data: bytes) -> bytes:
        """The file with all pages that its header promises, out of WAL mode, which memory does not know."""
        header = bytearray(data[:_HEADER_BYTES])
        size = int.from_bytes(header[_PAGE_SIZE_AT], "big")
        size = 65536 if size == 1 else size
        promised = int.from_bytes(header[_PAGE_COUNT_AT], "big") * size
        self.missing_bytes = max(0, promised - len(data))
        if self.missing_bytes > _MOST_MISSING_BYTES:
            raise UsageError("The SQLite file is cut off: more than 1 GiB of it is missing. Copy or export it again.")
        if self.missing_bytes > _MOST_MISSING_TIMES * len(data):
            raise UsageError("The SQLite file is cut off: too little of it is left. Copy or export it again.")
        if header[_FORMAT_VERSIONS_AT] == b"\x01\x01" and not self.missing_bytes:
            return data
        header[_FORMAT_VERSIONS_AT] = b"\x01\x01"
        return bytes(header) + data[_HEADER_BYTES:] + bytes(self.missing_bytes)

    def _harden(self) -> None:
        self._connection.execute("PRAGMA trusted_schema=OFF")
        self._connection.execute("PRAGMA query_only=ON")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.text_factory = lambda value: value.decode("utf-8", errors="replace")
        self._connection.set_progress_handler(lambda: time.monotonic() > self._deadline, _STEPS_BETWEEN_LOOKS)

    def _schema(self) -> dict[str, set[str]]:
        """Columns of each plain table. Generated columns are not listed by SQLite here, so they are never computed."""
        tables = {}
        for kind, name, sql in self._connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
            if kind == "table" and str(sql).upper().startswith("CREATE TABLE") and '"' not in str(name):
                described = self._connection.execute(f'PRAGMA table_info("{name}")').fetchall()
                tables[str(name)] = {str(row[1]) for row in described}
            elif kind != "index":
                self.refused.add(str(name))
        return tables
