"""Who writes a session: a lock that the operating system drops when its holder dies."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import IO

from gpuscope.errors import SessionError
from gpuscope.store.schema import run_folder

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


LOCK_PATIENCE_S = 0.5
"""Somebody who only asks whether the session is being written holds the lock for a moment."""


def _patient_lock(file: IO[bytes]) -> bool:
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while not _try_lock(file):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _is_at(file: IO[bytes], path: Path) -> bool:
    """True when the path still leads to this open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


class SessionLock:
    """Held by the one process that writes a session."""

    def __init__(self, session: Path) -> None:
        """Take the lock, creating the run folder.

        Raises:
            SessionError: another process holds it, or the folder cannot be written.
        """
        self._path = run_folder(session) / "lock"
        self._file: IO[bytes] | None = None
        self._made_folder = False
        while self._file is None:
            file = self._open(session)
            if not _patient_lock(file):
                file.close()
                raise SessionError(f"{session} is being written by another gpuscope right now.")
            if _is_at(file, self._path):
                self._file = file
            else:  # who held it has meanwhile finished and removed it: this one guards nothing any more
                file.close()

    def _open(self, session: Path) -> IO[bytes]:
        try:
            self._made_folder = not self._path.parent.exists()
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            return self._path.open("ab")
        except OSError as error:
            raise SessionError(
                f"{session.parent} cannot be written ({error.strerror}): choose another file."
            ) from error

    def release(self) -> None:
        """Give it up; harmless when done twice."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def discard(self) -> None:
        """Give it up where nothing came of it: a run folder that was made for it goes too."""
        if self._made_folder:
            with contextlib.suppress(OSError):
                self._path.unlink()
                self._path.parent.rmdir()
        self.release()


def is_being_written(session: Path) -> bool:
    """True while a live process holds the session's lock."""
    path = run_folder(session) / "lock"
    try:
        with path.open("rb+" if sys.platform == "win32" else "rb") as file:
            return not _try_lock(file)
    except FileNotFoundError:
        return False
    except OSError:
        return os.path.exists(path)  # noqa: PTH110 - not readable for us: someone else's run
