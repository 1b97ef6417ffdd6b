"""Rows of a table that may be damaged: what can be read is, and the rest is stepped over."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from gpuscope.store.schema import UNREADABLE

_MAX_SKIP = 1 << 40


def rows_after(
    connection: sqlite3.Connection, table: str, columns: str, after: int, limit: int, note_damage: Callable[[str], None]
) -> Iterator[tuple[Any, ...]]:
    """Rows in the order of their key, which is the first of the columns.

    Args:
        connection: of the session.
        table: our own name of it.
        columns: our own names, the integer primary key first.
        after: rows with a larger key are given.
        limit: at most so many; -1: all.
        note_damage: is told the table's name where something could not be read.
    """
    key = columns.split(",", 1)[0]
    sql = f"SELECT {columns} FROM {table} NOT INDEXED WHERE {key} > ? ORDER BY {key} LIMIT ?"  # noqa: S608 - our names
    skip = 1
    while True:
        try:
            for row in connection.execute(sql, (after, limit)):
                if row[0] <= after:  # keys only rise in a whole file: without this, damage could loop for ever
                    note_damage(table)
                    return
                after = row[0]
                skip = 1
                yield row
        except sqlite3.ProgrammingError:  # closed: not the file's fault
            raise
        except UNREADABLE:
            note_damage(table)
            if skip > _MAX_SKIP:
                return
            after += skip  # step over the damaged pages in growing strides
            skip *= 2
        else:
            return
