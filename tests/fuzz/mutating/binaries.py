"""Damage that keeps the form of a pickle, an archive or a database, so that it gets past the first check."""

from __future__ import annotations

import contextlib
import gzip
import io
import pickletools
import random
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.mutating.extremes import WORDS
from tests.fuzz.mutating.plain import PLAIN, Mutation

GZIP, SQLITE, PICKLE = b"\x1f\x8b", b"SQLite format 3\0", b"\x80"
_HOSTILE = (
    b"cos\nsystem\n", b"(S'x'\nios\nsystem\n", b"R", b"b", b"o", b"\x81", b"\x92", b"\x93", b"\x82\x01",
    b"\x83\x01\x00",
    b"\x84\x01\x00\x00\x00", b"Px\n", b"Q", b"\x96\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x97", b"\x98", b"\x8f", b"\x90",
    b"\x91", b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff", b"X\xff\xff\xff\xff", b"\x8b\xff\xff\xff\x7f",
    b"\x8b\xff\xff\xff\xff", b"\x8d\0\0\0\0\x01\0\0\0", b"]" * 2000, b"2", b"0", b"(", b"t", b"e", b"u", b"s", b"a",
    b"}",
    b"h\0", b"j\xff\xff\xff\xff", b"r\xff\xff\xff\xff", b"\x94" * 50,
    b"I99999999999999999999999999999999999999999999\n",
    b"Fnan\n", b"F1e309\n", b"L-1L\n", b"V\\ud800\n", b"S'\\x'\n", b"\x95\xff\xff\xff\xff\xff\xff\xff\xff", b"\x88",
    b"N",
)  # fmt: skip
"""Operations that call, allocate or go wrong."""
_CELLS: tuple[object, ...] = (
    None,
    -1,
    2**63 - 1,
    -(2**63),
    1e308,
    "",
    "x",
    b"",
    b"\xff",
    b"\xdf\xff\xff\xff\xff",
    "null",
)


def pickle_changed(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """Operations of a pickle left out, doubled, changed with one another, or hostile ones put between them."""
    try:
        starts = [at for _, _, at in pickletools.genops(data) if at is not None]
    except (ValueError, IndexError, MemoryError, OverflowError):
        return data
    parts = [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
    for _number in range(chance.choice((1, 1, 3))):
        one, other = chance.randrange(len(parts)), chance.randrange(len(parts))
        match chance.randrange(4):
            case 0:
                parts[one] = b""
            case 1:
                parts[one] *= chance.choice((2, 100))
            case 2:
                parts[one], parts[other] = parts[other], parts[one]
            case _:
                parts[one:one] = [chance.choice(_HOSTILE)]
    return b"".join(parts)


def compressed(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """A file in gzip (whole, cut, in several members, twice, with wrong ends) or in a zip."""
    packed = _packed(data)
    match chance.randrange(7):
        case 0:
            return packed
        case 1:
            return packed[: chance.randrange(len(packed))]
        case 2:
            return packed + _packed(chance.choice(seeds))
        case 3:
            return _packed(packed)
        case 4:
            return packed[:-8] + chance.randbytes(8)
        case 5:
            return packed + chance.choice(WORDS)
        case _:
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
                file.writestr(zipfile.ZipInfo("data.csv"), data)
            return archive.getvalue()


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def inside_gzip(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """What is compressed damaged, and compressed again."""
    try:
        content = zlib.decompressobj(31).decompress(data, 200_000)
    except zlib.error:
        return data
    return _packed(chance.choice(PLAIN)(content, seeds, chance))


def database_changed(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """One value of a session changed, so that SQLite itself finds nothing wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        path.write_bytes(data)
        try:
            _change_a_value(path, seeds, chance)
        except (sqlite3.Error, UnicodeDecodeError, IndexError):  # it was damaged before: there is no table
            return data
        return path.read_bytes()


def _change_a_value(path: Path, seeds: Sequence[bytes], chance: random.Random) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA journal_mode=MEMORY")
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")]
        table = chance.choice(tables)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        keys = [row[0] for row in connection.execute(f"SELECT {columns[0]} FROM {table} LIMIT 500")]
        if keys:
            key, column = chance.choice(keys), chance.choice(columns)
            row = connection.execute(f"SELECT {column} FROM {table} WHERE {columns[0]} IS ?", (key,)).fetchone()
            value = chance.choice(_CELLS)
            if row is not None and isinstance(row[0], bytes) and chance.random() < 0.8:
                value = chance.choice(PLAIN)(row[0], (row[0],), chance)
            connection.execute(f"UPDATE {table} SET {column}=? WHERE {columns[0]} IS ?", (value, key))


def binaries_for(data: bytes) -> tuple[Mutation, ...]:
    """What fits to a binary file, by its first bytes; nothing for a text."""
    if data.startswith(GZIP):
        return (inside_gzip, inside_gzip, compressed)
    if data.startswith(SQLITE):
        return (database_changed, database_changed)
    return (pickle_changed, pickle_changed) if data.startswith(PICKLE) else ()
