"""Files that a person gives, and standard input."""

from __future__ import annotations

import os
import select
import stat
import sys
from io import FileIO
from pathlib import Path

from gpuscope.domain.units import format_bytes
from gpuscope.errors import UsageError

STANDARD_INPUT = "-"
_PIECE_BYTES = 1024**2
_PIPE_WAIT_S = 10.0
"""A pipe with a name into which nobody writes for so long is given up; standard input is waited for without end."""


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """The whole of a file or a pipe, or of standard input for `-`.

    Args:
        path: the file.
        most_bytes: what is larger is refused, a file before it is read.

    Raises:
        UsageError: it cannot be read, is no file (a folder, a device), or is larger.
    """
    if str(path) == STANDARD_INPUT:
        data = sys.stdin.buffer.read(most_bytes + 1)
    else:
        try:
            data = _read(path, most_bytes)
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    if len(data) > most_bytes:
        raise _too_large(path, most_bytes)
    return data


def _read(path: Path, most_bytes: int) -> bytes:
    if is_pipe(path):
        return _read_pipe(path, most_bytes)
    # What stands there now may be something else in a moment: the opened file itself is looked at again.
    with open(path, "rb", opener=_open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is no file but a device: name a file, or - for standard input.")
        if status.st_size > most_bytes:
            raise _too_large(path, most_bytes)
        return file.read(most_bytes + 1)


def is_pipe(path: Path) -> bool:
    """Whether a path is a pipe, as `<(program)` of a shell is: it can be read once only."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False


def _open_without_waiting(name: str, flags: int) -> int:
    """Opening a pipe or some devices would wait until there is something at their other end."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _read_pipe(path: Path, most_bytes: int) -> bytes:
    pieces: list[bytes] = []
    left = most_bytes + 1
    with open(path, "rb", 0, opener=_open_without_waiting) as pipe:
        os.set_blocking(pipe.fileno(), True)
        while left and (piece := _next_piece(pipe, path, left)):
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces)


def _next_piece(pipe: FileIO, path: Path, left: int) -> bytes:
    """What is in the pipe, as soon as there is something; empty at its end."""
    ready, _, _ = select.select([pipe], [], [], _PIPE_WAIT_S)
    if not ready:
        raise UsageError(
            f"{path} is a pipe into which nothing was written for {_PIPE_WAIT_S:g} s: write into it first, or give - "
            "and the data on standard input."
        )
    return pipe.read(min(left, _PIECE_BYTES))


def _too_large(path: Path, most_bytes: int) -> UsageError:
    most = format_bytes(most_bytes)
    return UsageError(f"{path} is larger than {most}, the most that is read: of a log, give a part.")
