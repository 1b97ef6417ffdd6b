"""Layout of a session file, and what is checked before one is trusted."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from gpuscope.errors import SessionError

APPLICATION_ID = 0x47505553
"""`GPUS`: tells our files from other SQLite files (byte 68 of the header)."""
SCHEMA_VERSION = 2
"""1: every frame is a row. 2: long recordings are blocks of columns, with coarse levels beside them."""
COLUMNS_SINCE = 2
SUFFIX = ".gpuscope"
SQLITE_MAGIC = b"SQLite format 3\x00"
MAX_VALUE_BYTES = 64 * 1024 * 1024
"""Files come from strangers: no single value is larger than this."""

TABLES = ("meta", "devices", "frames", "events", "output", "documents")
COLUMN_TABLES = ("blocks", "columns", "levels")
"""Since version 2."""

DDL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE devices (uuid TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE frames (seq INTEGER PRIMARY KEY, t REAL NOT NULL, data BLOB NOT NULL);
CREATE TABLE events (seq INTEGER PRIMARY KEY, t REAL NOT NULL, source TEXT NOT NULL, kind TEXT NOT NULL,
                     data BLOB NOT NULL);
CREATE TABLE output (seq INTEGER PRIMARY KEY, t REAL NOT NULL, data BLOB NOT NULL);
CREATE TABLE documents (kind TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE blocks (block INTEGER PRIMARY KEY, first_seq INTEGER, last_seq INTEGER, start_s REAL NOT NULL,
                     end_s REAL NOT NULL, rows INTEGER NOT NULL, times BLOB NOT NULL, rest BLOB);
CREATE INDEX blocks_by_seq ON blocks (last_seq);
CREATE TABLE columns (id INTEGER PRIMARY KEY, device TEXT NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX columns_by_device ON columns (device, block);
CREATE INDEX columns_by_block ON columns (block);
CREATE TABLE levels (id INTEGER PRIMARY KEY, device TEXT NOT NULL, level INTEGER NOT NULL, young INTEGER NOT NULL,
                     start_s REAL NOT NULL, end_s REAL NOT NULL, data BLOB NOT NULL);
CREATE INDEX levels_by_device ON levels (device, level, young);
"""
"""Frames are rows at first and become blocks later; a block is the frames from `first_seq` to `last_seq`, or, where
these are null, readings of one device that another program recorded. `young` rows of a level are not in the next
level yet."""

UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading damaged pages raises; the second where the damage got into a name that SQLite's own message quotes."""

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "lustre", "gpfs", "beegfs"}
)


def harden(connection: sqlite3.Connection) -> None:
    """Make a connection safe for files from strangers and bounded in memory."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse files that are not sessions, come from a newer version, or hide something behind our table names.

    Raises:
        SessionError: says which of these.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise SessionError(f"{path} was written by a newer gpuscope (format {version}): update gpuscope to open it.")
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    plain = {name for kind, name, sql in rows if kind == "table" and str(sql).upper().startswith("CREATE TABLE")}
    wanted = TABLES + (COLUMN_TABLES if version >= COLUMNS_SINCE else ())
    missing = [table for table in wanted if table not in plain]
    if missing:
        raise SessionError(f"{path} is not a complete gpuscope session: it has no table {missing[0]!r}.")
    if any(kind in {"trigger", "view"} for kind, _, _ in rows):
        raise SessionError(f"{path} holds SQL triggers or views, which no gpuscope session does: it is not opened.")


def is_session_header(header: bytes) -> bool:
    """True when the first 100 bytes are those of a gpuscope session."""
    return (
        len(header) >= 100
        and header.startswith(SQLITE_MAGIC)
        and int.from_bytes(header[68:72], "big") == APPLICATION_ID
    )


def run_folder(path: Path) -> Path:
    """Folder beside a session, there only while its run lasts: lock, workload output, probe events."""
    return path.with_name(path.name + ".run")


def on_network_file_system(path: Path) -> bool:
    """True where SQLite's WAL is unsafe because memory is not shared between machines."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    folder = str(path.resolve().parent)
    best, kind = "", ""
    for line in mounts:
        parts = line.split(" ")
        point = parts[1].replace("\\040", " ")
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, parts[2]
    return kind in NETWORK_FILE_SYSTEMS
