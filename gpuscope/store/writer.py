"""The one writer of a session file."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.base import to_json, to_msgpack
from gpuscope.domain.device import Device
from gpuscope.domain.events import SUPERVISOR
from gpuscope.domain.reasons import Reason
from gpuscope.domain.run import Manifest
from gpuscope.domain.sample import Frame
from gpuscope.errors import SessionError
from gpuscope.store.block_rows import insert_columns
from gpuscope.store.compactor import Compactor
from gpuscope.store.lock import SessionLock
from gpuscope.store.schema import (
    APPLICATION_ID,
    COLUMNS_SINCE,
    DDL,
    SCHEMA_VERSION,
    UNREADABLE,
    check_schema,
    harden,
    on_network_file_system,
    run_folder,
)

CHECKPOINT_INTERVAL_S = 5.0
CLOSE_PATIENCE_S = 2.0


class SessionWriter:
    """Appends to a session; nothing is on disk before `commit`.

    Any method may raise SessionError when the disk is full or the file was taken away.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: SessionLock, manifest: Manifest) -> None:
        """Use `create` or `adopt`."""
        self.path = path
        self.manifest = manifest
        self._connection = connection
        self._lock = lock
        self._last_checkpoint = time.monotonic()
        self._compactor = Compactor(connection, manifest) if _version(connection) >= COLUMNS_SINCE else None
        self._next_frame = 1 + _last_frame(connection, blocks=self._compactor is not None)

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> SessionWriter:
        """Start a new session; the manifest is on disk when this returns. The file gets mode 0600.

        Raises:
            SessionError: the file exists, or cannot be written.
        """
        path = path.resolve()
        lock = SessionLock(path)
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            os.close(descriptor)
        except FileExistsError as error:
            lock.discard()
            raise SessionError(f"{path} exists already: choose another name, nothing was overwritten.") from error
        except OSError as error:
            lock.discard()
            raise SessionError(f"{path} cannot be written ({error.strerror}): choose another file.") from error
        connection = _connect(path)
        try:
            with _translated(path):
                _lay_out(connection, manifest)
                _enter_wal(connection, path)
        except BaseException:  # no half session is left behind
            connection.close()
            _remove_session_file(path)
            lock.discard()
            raise
        return cls(path, connection, lock, manifest)

    @classmethod
    def adopt(cls, path: Path, *, finished: bool = False) -> SessionWriter:
        """Go on writing a session whose writer died, or, with `finished`, add something to a closed one.

        Raises:
            SessionError: it is still being written, is not a session, or is finished where it should not be (somebody
                else was quicker: what they found out stays) or the other way round. Nothing is changed then.
        """
        path = path.resolve()
        if not path.is_file():
            raise SessionError(f"{path} does not exist.")
        lock = SessionLock(path)
        connection = _connect(path)
        try:
            with _translated(path):
                check_schema(connection, path)
                row = connection.execute("SELECT value FROM meta WHERE key='manifest'").fetchone()
                manifest = msgspec.json.decode(row[0], type=Manifest)
                if _is_closed(connection) is not finished:
                    what = "is not finished yet" if finished else "is finished already: there is nothing to take over"
                    raise SessionError(f"{path} {what}.")
                _enter_wal(connection, path)
        except BaseException:
            connection.close()
            lock.discard()
            raise
        writer = cls(path, connection, lock, manifest)
        if finished:
            writer._compactor = None  # what was recorded stays as it is, and so does its fingerprint
        return writer

    def session_time(self, monotonic_s: float) -> float:
        """Seconds since the session began, from the system's monotonic clock."""
        return monotonic_s - self.manifest.created_monotonic_s

    def add_device(self, device: Device) -> None:
        """Add or replace the static facts of a device."""
        self._run("INSERT OR REPLACE INTO devices VALUES (?, ?)", (device.uuid, to_msgpack(device)))

    def add_frame(self, frame: Frame) -> None:
        """Append what the sampler saw."""
        for device in frame.devices or ():
            self.add_device(device)
        row = (self._next_frame, self.session_time(frame.monotonic_s), to_msgpack(frame))
        self._run("INSERT INTO frames (seq, t, data) VALUES (?, ?, ?)", row)
        self._next_frame += 1

    def add_columns(
        self,
        device_uuid: str,
        t_s: NDArray[np.float64],
        columns: Mapping[str, NDArray[np.float64]],
        reasons: Mapping[str, Reason],
    ) -> None:
        """Append many readings of one device at once, as another program recorded them.

        Several calls may name the same device; where their times overlap, readers put them in order.

        Args:
            device_uuid: the GPU, or `host` for the machine's own figures.
            t_s: session seconds that never fall; any number of them.
            columns: by the names of `GpuSample` (or `HostSample`), as long as `t_s`; NaN where a value is missing.
            reasons: why values of these figures are missing; NaN of others were not read at that time.

        Raises:
            ValueError: times fall, or are no numbers.
        """
        with _translated(self.path):
            insert_columns(self._connection, self.manifest, device_uuid, t_s, columns, reasons)

    def add_event(self, monotonic_s: float, kind: str, data: dict[str, Any], source: str = SUPERVISOR) -> None:
        """Append an event of the probe or of the supervisor."""
        row = (self.session_time(monotonic_s), source, kind, to_msgpack(data))
        self._run("INSERT INTO events (t, source, kind, data) VALUES (?, ?, ?, ?)", row)

    def add_output(self, monotonic_s: float, data: bytes) -> None:
        """Append a piece of the workload's output, as it came."""
        self._run("INSERT INTO output (t, data) VALUES (?, ?)", (self.session_time(monotonic_s), data))

    def put_document(self, kind: str, value: Any) -> None:
        """Store or replace outcome, footprint or recommendation (JSON)."""
        self._run("INSERT OR REPLACE INTO documents VALUES (?, ?)", (kind, to_json(value)))

    def put_meta(self, key: str, value: Any) -> None:
        """Store or replace a small fact such as how far the output file was read (JSON)."""
        self._run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, to_json(value)))

    def get_meta(self, key: str, default: Any = None) -> Any:
        """What `put_meta` stored."""
        with _translated(self.path):
            row = self._connection.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return default if row is None else msgspec.json.decode(row[0])

    def commit(self) -> None:
        """Put everything added so far on disk; every few seconds also checkpoint the WAL."""
        with _translated(self.path):
            self._connection.commit()
            now = time.monotonic()
            if now - self._last_checkpoint >= CHECKPOINT_INTERVAL_S:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                self._last_checkpoint = now

    def compact(self) -> bool:
        """Bring some older frames into their compact form: some milliseconds of work, committed; False: none is due.

        Called after each `commit`, it keeps up with any recording.
        """
        if self._compactor is None:
            return False
        with _translated(self.path):
            return self._compactor.step(self._next_frame)

    def close(self) -> None:
        """Commit, compact and turn the session into one plain file; followers have a moment to let go of it."""
        with _translated(self.path):
            self._connection.commit()
            if self._compactor is not None:
                self._compactor.finish(self._next_frame)
            self.put_meta("closed", value=True)
            self._connection.commit()
            _leave_wal(self._connection)
        self._connection.close()
        _remove_run_folder(self.path)
        self._lock.release()

    def abandon(self) -> None:
        """Let go without closing the session: it stays open for adoption."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.commit()
        self._connection.close()
        self._lock.release()

    def _run(self, sql: str, row: tuple[Any, ...]) -> None:
        with _translated(self.path):
            self._connection.execute(sql, row)


def tidy(path: Path) -> None:
    """Turn a closed session that could not leave WAL mode (someone was reading it) into one plain file."""
    with path.open("rb") as file:
        header = file.read(100)
    if header[18:19] != b"\x02" or not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return
    with contextlib.suppress(sqlite3.Error, *UNREADABLE), contextlib.closing(_connect(path, timeout_s=0)) as connection:
        if _is_closed(connection):
            connection.execute("PRAGMA journal_mode=delete").fetchall()


@contextlib.contextmanager
def _translated(path: Path) -> Any:
    try:
        yield
    except (sqlite3.Error, *UNREADABLE, msgspec.MsgspecError) as error:
        text = str(error)
        if "full" in text:
            text = "the disk is full"
        raise SessionError(f"{path} cannot be written: {text}.") from error


def _connect(path: Path, timeout_s: float = 5.0) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=timeout_s, isolation_level="DEFERRED")
    harden(connection)
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _last_frame(connection: sqlite3.Connection, *, blocks: bool) -> int:
    """The highest number that a frame has, in a row or in a block; 0 when there is none."""
    sql = "SELECT max(seq) FROM frames"
    highest = connection.execute(sql).fetchone()[0] or 0
    if blocks:
        highest = max(highest, connection.execute("SELECT max(last_seq) FROM blocks").fetchone()[0] or 0)
    return int(highest)


def _is_closed(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT value FROM meta WHERE key='closed'").fetchone() is not None


def _lay_out(connection: sqlite3.Connection, manifest: Manifest) -> None:
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # before the first table, or it has no effect
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.executescript(DDL)
    connection.execute("INSERT INTO meta VALUES ('manifest', ?)", (to_json(manifest),))
    connection.commit()


def _enter_wal(connection: sqlite3.Connection, path: Path) -> None:
    if not on_network_file_system(path):
        connection.execute("PRAGMA journal_mode=wal").fetchall()
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")


def _leave_wal(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA busy_timeout=100")
    deadline = time.monotonic() + CLOSE_PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.execute("PRAGMA journal_mode=delete").fetchall()
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.05)
        else:
            return


def _remove_run_folder(path: Path) -> None:
    folder = run_folder(path)
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def delete_session(path: Path) -> None:
    """Remove a session that nobody writes, with everything that lies beside it."""
    _remove_run_folder(path)
    _remove_session_file(path)


def _remove_session_file(path: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def put_document(path: Path, kind: str, value: Any) -> None:
    """Store or replace a document in a closed session.

    Raises:
        SessionError: the session is being written, or cannot be.
    """
    writer = SessionWriter.adopt(path, finished=True)
    writer.put_document(kind, value)
    writer.close()
