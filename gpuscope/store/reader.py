"""Read a session: finished, still growing, interrupted or damaged."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

import msgspec

from gpuscope.domain.base import from_msgpack
from gpuscope.domain.device import Device
from gpuscope.domain.event_fields import plausible
from gpuscope.domain.events import Event
from gpuscope.domain.run import Manifest
from gpuscope.domain.sample import Frame
from gpuscope.domain.series import EMPTY, Envelope, Past, Series, Timeline
from gpuscope.domain.units import format_duration
from gpuscope.errors import SessionError
from gpuscope.store import salvage
from gpuscope.store.block_rows import clock_zero_us
from gpuscope.store.catalogue import Block, Catalogue
from gpuscope.store.compactor import KEPT_FROM
from gpuscope.store.figures import is_time
from gpuscope.store.level_reading import LevelReader, envelope_of_readings, joined_envelopes
from gpuscope.store.lock import is_being_written
from gpuscope.store.past import PastReader
from gpuscope.store.row_reading import rows_after
from gpuscope.store.schema import COLUMNS_SINCE, UNREADABLE, check_schema, harden, is_session_header, run_folder
from gpuscope.store.stored_frames import StoredFrames
from gpuscope.store.stored_timeline import BlockSeries, StoredTimeline
from gpuscope.store.writer import tidy

T = TypeVar("T")

_DAMAGE = (*UNREADABLE, msgspec.MsgspecError, TypeError, ValueError, OverflowError)
"""What a value that was damaged or made up raises when it is read; TypeError: NULL or a text in the place of bytes."""

_EVIDENCE = (
    "SELECT value FROM meta WHERE key='manifest'",
    "SELECT data FROM documents WHERE kind='outcome'",
    "SELECT uuid, data FROM devices ORDER BY uuid",
    "SELECT seq, data FROM frames ORDER BY seq",
    "SELECT seq, source, kind, data FROM events ORDER BY seq",
    "SELECT seq, data FROM output ORDER BY seq",
    "SELECT block, times, rest FROM blocks ORDER BY block",
    "SELECT block, device, data FROM columns ORDER BY id",
)


class SessionState(StrEnum):
    """Whether more is to come."""

    LIVE = "live"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"


class SessionReader:
    """A read-only view of a session file.

    Attributes:
        path: the file.
        notes: sentences about what may be missing; empty for a whole session.
        manifest: what the session is.
        damaged: the file lost parts; what is left is shown.
    """

    def __init__(self, path: Path) -> None:
        """Open a session.

        Raises:
            SessionError: there is no such file, it cannot be read, or it is not a session.
        """
        self.path = path
        self.notes: list[str] = []
        self._temporary: Path | None = None
        self.damaged = False
        header = _read_header(path)
        self._had_wal = path.with_name(path.name + "-wal").exists()
        self._connection = self._open(header)
        try:
            self.manifest = self._read_manifest()
            self._catalogue = self._open_catalogue()
        except BaseException:
            self.close()
            raise
        self._past = None
        if self._catalogue is not None:
            levels = LevelReader(self._connection, self._note_damage)
            self._past = PastReader(self._catalogue, levels, clock_zero_us(self.manifest))
        self._frames = StoredFrames(self._connection, self._catalogue, self.manifest, self._note_damage)
        if not self.notes and self.state() is SessionState.INTERRUPTED:
            self.notes.append(self._interrupted_note(header))
        self._note_ring()

    def __enter__(self) -> Self:
        """The reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Let go of the file; harmless when done twice."""
        self._connection.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    def state(self) -> SessionState:
        """Live while its writer lives; closed when it was finished; else interrupted."""
        if self.meta("closed", default=False):
            return SessionState.CLOSED
        return SessionState.LIVE if is_being_written(self.path) else SessionState.INTERRUPTED

    def meta(self, key: str, default: Any = None) -> Any:
        """A small fact that the writer stored."""
        with contextlib.suppress(*_DAMAGE):
            row = self._connection.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
            if row is not None:
                return msgspec.json.decode(row[0])
        return default

    def devices(self) -> list[Device]:
        """The GPUs and MIG instances seen, by index; without those that are damaged."""
        rows, found = [], []
        with self._decoding("devices"):
            rows = self._connection.execute("SELECT data FROM devices").fetchall()
        for (data,) in rows:
            with self._decoding("devices"):
                found.append(from_msgpack(data, Device))
        return sorted(found, key=lambda device: (device.index, device.kind, device.uuid))

    def frames(self, after: int = 0, limit: int = -1) -> Iterator[tuple[int, Frame]]:
        """Frames with a sequence number above `after`, in order, with their numbers."""
        return self._frames.after(after, limit)

    def recorded_frames(self, after: int = 0, limit: int = -1) -> Iterator[tuple[int, Frame]]:
        """As `frames`, but without what came through `SessionWriter.add_columns`."""
        return self._frames.recorded(after, limit)

    def remainders(self) -> Iterator[Frame]:
        """What of the frames is no figure over time: process lists, devices, states. Much faster than whole frames.

        Frames that are still stored as such are given whole.
        """
        return self._frames.remainders()

    def last_frame_s(self) -> float:
        """Session time of the newest frame; 0 when there is none."""
        newest = [0.0]
        with contextlib.suppress(*_DAMAGE):
            row = self._connection.execute("SELECT t FROM frames ORDER BY seq DESC LIMIT 1").fetchone()
            newest += [float(row[0])] if row is not None else []
        return max(*newest, self._blocks_end_s())

    def events(self, after: int = 0, limit: int = -1) -> Iterator[Event]:
        """Events with a sequence number above `after`, in order."""
        for seq, t, source, kind, data in self._rows("events", "seq, t, source, kind, data", after, limit):
            with self._decoding("events"):
                written = msgspec.msgpack.decode(data, type=dict[str, Any])
                fields = plausible(written)
                if len(fields) < len(written):
                    self._note_damage("events")
                yield Event(seq=seq, t=float(t), source=source, kind=kind, data=fields)

    def output(self, after: int = 0, limit: int = -1) -> Iterator[tuple[int, float, bytes]]:
        """Pieces of the workload's output: number, session time, bytes."""
        for seq, t, data in self._rows("output", "seq, t, data", after, limit):
            with self._decoding("output"):
                yield seq, t, bytes(data)

    def document(self, kind: str, type_: type[T]) -> T | None:
        """`outcome`, `footprint` or `recommendation`; None when there is none (yet) or it is damaged."""
        try:
            row = self._connection.execute("SELECT data FROM documents WHERE kind=?", (kind,)).fetchone()
            value = None if row is None else msgspec.json.decode(row[0], type=type_)
            msgspec.msgpack.encode(value)  # which has no whole numbers beyond 64 bits
            return value
        except _DAMAGE:
            self._note_damage(f"the stored {kind}")
            return None

    def evidence_sha256(self) -> str:
        """Fingerprint of what was recorded: the same in every copy of a finished session, whatever advice was added.

        SHA-256 over manifest, outcome, devices, frames, events, output, blocks and columns as they are stored; each
        value is preceded by its length as 8 bytes.
        """
        digest = hashlib.sha256()
        for sql in _EVIDENCE:
            with contextlib.suppress(*UNREADABLE):
                for row in self._connection.execute(sql):
                    for value in row:
                        data = value if isinstance(value, bytes) else str(value).encode()
                        digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest()

    def timeline(self) -> Timeline:
        """All scalar figures of the session; those in blocks are read when they are asked for, from the open file."""
        timeline = Timeline(self.manifest.created_monotonic_s)
        with self._snapshot():
            blocks = self._blocks()
            if self._catalogue is not None and blocks:
                series = BlockSeries(self._catalogue, clock_zero_us(self.manifest))
                timeline = StoredTimeline(self.manifest.created_monotonic_s, series, self._blocks_end_s())
            last = max((block.last_seq or 0 for block in blocks), default=0)
            return timeline.extend(frame for _, frame in self._frames.rows(last))

    def past(self, names: Collection[str]) -> tuple[Past, int] | None:
        """The older part of a long session as coarse curves of these figures; see `PastReader.past`."""
        return None if self._past is None else self._past.past(names)

    def series(self, device: str, name: str, start_s: float, end_s: float, points: int) -> Envelope:
        """A figure between two moments in about `points` stretches or more; single readings where there are fewer.

        Args:
            device: UUID, `host` or `sampler`.
            name: of the figure.
            start_s: session time.
            end_s: session time.
            points: such as the pixels of a plot.
        """
        with self._snapshot():
            last = max((block.last_seq or 0 for block in self._blocks()), default=0)
            frames = Timeline(self.manifest.created_monotonic_s).extend(f for _, f in self._frames.rows(last))
            newer = envelope_of_readings(frames.get(device, name).between(start_s, end_s))
            if self._past is None:
                return newer
            return joined_envelopes([self._past.envelope(device, name, start_s, end_s, points), newer])

    def readings(self, device: str, name: str, start_s: float, end_s: float) -> Series:
        """Every reading of a figure in blocks between two moments."""
        self._blocks()
        return EMPTY if self._past is None else self._past.readings(device, name, start_s, end_s)

    def save_copy(self, target: Path) -> None:
        """Write a whole, plain copy, also of a session that is still growing.

        Raises:
            SessionError: the target exists or cannot be written.
        """
        if target.exists():
            raise SessionError(f"{target} exists already: choose another name, nothing was overwritten.")
        try:
            with contextlib.closing(sqlite3.connect(target)) as copy:
                target.chmod(0o600)
                self._connection.backup(copy)
                copy.execute("PRAGMA journal_mode=delete").fetchall()
        except (sqlite3.Error, OSError) as error:
            raise SessionError(f"{target} cannot be written: {error}.") from error

    def _open(self, header: bytes) -> sqlite3.Connection:
        share = salvage.missing_share(self.path, header)
        if share > 0 and not self._had_wal:
            amount = f"{share:.0%}" if share >= 0.01 else "less than 1%"
            return self._open_damaged(f"The file was cut off: {amount} of it is missing, from the end.")
        modes = ["mode=ro", "mode=ro&immutable=1"]
        if not is_being_written(self.path):
            tidy(self.path)
            if not self._had_wal:
                modes = ["mode=ro&immutable=1"]  # leaves no -wal and -shm beside a file that had none
        for mode in modes:
            connection = _connect(self.path, mode)
            try:
                check_schema(connection, self.path)
                connection.execute("SELECT max(seq) FROM frames").fetchone()
            except sqlite3.OperationalError:
                connection.close()
            except UNREADABLE:
                connection.close()
                return self._open_damaged("The file is damaged.")
            except BaseException:
                connection.close()
                raise
            else:
                if "immutable" in mode and self._had_wal:
                    self.notes.append("The newest part, in the -wal file, could not be read: the folder is read-only.")
                return connection
        return self._open_damaged("The file is damaged.")

    def _open_damaged(self, what: str) -> sqlite3.Connection:
        self.damaged = True
        self.notes.append(f"{what} Everything that could still be read is shown; figures may lack parts.")
        self._temporary = salvage.padded_copy(self.path)
        connection = _connect(self._temporary, "mode=ro&immutable=1")
        try:
            check_schema(connection, self.path)
        except (*UNREADABLE, SessionError) as error:
            connection.close()
            self._temporary.unlink(missing_ok=True)
            raise SessionError(f"Too little is left of {self.path} to open it.") from error
        return connection

    def _read_manifest(self) -> Manifest:
        try:
            row = self._connection.execute("SELECT value FROM meta WHERE key='manifest'").fetchone()
            manifest = None if row is None else msgspec.json.decode(row[0], type=Manifest)
        except _DAMAGE as error:
            raise SessionError(f"Too little is left of {self.path} to open it.") from error
        if manifest is None:
            raise SessionError(f"{self.path} has no manifest: it is not a gpuscope session.")
        if not (is_time(manifest.created_wall_s) and is_time(manifest.created_monotonic_s)):
            raise SessionError(f"{self.path} is damaged: the time at which it began cannot be.")
        return manifest

    def _open_catalogue(self) -> Catalogue | None:
        version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        return Catalogue(self._connection, self._note_damage) if version >= COLUMNS_SINCE else None

    def _note_ring(self) -> None:
        kept_from_s = self.meta(KEPT_FROM)
        if self.manifest.keep_s is not None and isinstance(kept_from_s, float):
            kept, dropped = format_duration(self.manifest.keep_s), format_duration(kept_from_s)
            self.notes.append(f"Only about the last {kept} were to be kept (--keep): the first {dropped} were dropped.")

    def _interrupted_note(self, header: bytes) -> str:
        if header[18:19] == b"\x02" and not self._had_wal and not run_folder(self.path).exists():
            return "The session was copied without its -wal file while it was being written: its end may be missing."
        return "The session was not closed: its writer ended early, the last second may be missing."

    def _rows(self, table: str, columns: str, after: int, limit: int) -> Iterator[tuple[Any, ...]]:
        return rows_after(self._connection, table, columns, after, limit, self._note_damage)

    def _blocks_end_s(self) -> float:
        return max((block.end_s for block in self._blocks()), default=0.0)

    def _blocks(self) -> list[Block]:
        if self._catalogue is None:
            return []
        self._catalogue.refresh()
        return self._catalogue.blocks

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Several looks at one moment of a file that grows."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    @contextlib.contextmanager
    def _decoding(self, table: str) -> Iterator[None]:
        try:
            yield
        except _DAMAGE:
            self._note_damage(table)

    def _note_damage(self, what: str) -> None:
        sentence = f"Some of {what} could not be read."
        if sentence not in self.notes:
            self.notes.append(sentence)


def _read_header(path: Path) -> bytes:
    try:
        if not path.is_file() and path.exists() and not path.is_dir():
            raise SessionError(f"{path} is a pipe or a device: a session is a file.")
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError as error:
        raise SessionError(f"There is no file {path}.") from error
    except OSError as error:
        raise SessionError(f"{path} cannot be read ({error.strerror}).") from error
    if not is_session_header(header):
        raise SessionError(f"{path} is not a gpuscope session.")
    return header


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fsencode(path.resolve()))}?{mode}"
    # The follower opens in one thread and closes in another; SQLite itself is built thread-safe.
    connection = sqlite3.connect(uri, uri=True, timeout=2.0, check_same_thread=False)
    harden(connection)
    return connection
