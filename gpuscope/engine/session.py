"""Open sessions the way every use case wants them: with what an interrupted run left behind already folded in."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gpuscope.engine.profile import adopt
from gpuscope.errors import SessionError, UnusableSessionError
from gpuscope.runner.process import read_workload_note, workload_alive
from gpuscope.store.reader import SessionReader, SessionState
from gpuscope.store.schema import run_folder
from gpuscope.store.writer import put_document


def open_session(path: Path) -> SessionReader:
    """Open a session; one whose supervisor and workload are gone is completed first, where it can be written.

    Raises:
        UnusableSessionError: it cannot be opened.
    """
    reader = read_session(path)
    if not is_abandoned(reader):
        return reader
    reader.close()
    with contextlib.suppress(SessionError):  # read-only, or taken over by somebody else meanwhile: show what is there
        adopt(path)
    return read_session(path)


def read_session(path: Path) -> SessionReader:
    """Open a session as it is.

    Raises:
        UnusableSessionError: it cannot be opened.
    """
    try:
        return SessionReader(path)
    except SessionError as error:
        raise UnusableSessionError(str(error)) from error


def is_abandoned(reader: SessionReader) -> bool:
    """True when nobody writes the session any more and its workload, if any, has ended: it only needs closing."""
    if reader.state() is not SessionState.INTERRUPTED or reader.damaged:
        return False
    folder = run_folder(reader.path)
    return folder.is_dir() and os.access(reader.path, os.W_OK) and not workload_alive(read_workload_note(folder))


def is_orphan(path: Path) -> bool:
    """True when the workload of an interrupted session runs on: the session can be adopted."""
    return workload_alive(read_workload_note(run_folder(path)))


def keep_document(path: Path, kind: str, value: object) -> None:
    """Store a document in a finished session; one that cannot be written (read-only, live) is left as it is."""
    with contextlib.suppress(SessionError):
        put_document(path, kind, value)
