"""Files that a person gives, and standard input."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import sys
import tempfile
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO, cast

from gpuscope.domain.units import format_bytes
from gpuscope.errors import UsageError
from gpuscope.importers.content import Content, FileContent

STANDARD_INPUT = "-"
_PIECE_BYTES = 1024**2
_MOST_IN_MEMORY_BYTES = 64 * 1024**2
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


@contextlib.contextmanager
def opened(path: Path, most_bytes: int) -> Iterator[Content]:
    """A file to be read in parts; what can be read once only (a pipe, standard input for `-`) is put aside first.

    Args:
        path: the file.
        most_bytes: what is larger is refused.

    Raises:
        UsageError: it cannot be read, is no file (a folder, a device), or is larger.
    """
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(_spooled(path, most_bytes) if is_stream(path) else _regular(path))
            length = file.seek(0, os.SEEK_END)
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
        if length > most_bytes:
            raise _too_large(path, most_bytes)
        yield FileContent(file, length)


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe, or standard input: it can be read once only."""
    return str(path) == STANDARD_INPUT or is_pipe(path)


def _read(path: Path, most_bytes: int) -> bytes:
    if is_pipe(path):
        return b"".join(_pipe_pieces(path, most_bytes + 1))
    with _regular(path) as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            raise _too_large(path, most_bytes)
        return file.read(most_bytes + 1)


def _regular(path: Path) -> BinaryIO:
    """Open a file. What stands there now may be something else in a moment: the opened file itself is looked at."""
    file = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115 - closed by the caller
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise UsageError(f"{path} is no file but a device: name a file, or - for standard input.")


def _spooled(path: Path, most_bytes: int) -> BinaryIO:
    """What a pipe or standard input holds, up to one byte more than the most: in memory, or in a file if it is much."""
    file = tempfile.SpooledTemporaryFile(_MOST_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by the caller
    pieces = _standard_input(most_bytes + 1) if str(path) == STANDARD_INPUT else _pipe_pieces(path, most_bytes + 1)
    try:
        for piece in pieces:
            file.write(piece)
    except BaseException:
        file.close()
        raise
    return cast("BinaryIO", file)


def _standard_input(most_bytes: int) -> Iterator[bytes]:
    left = most_bytes
    while left and (piece := sys.stdin.buffer.read(min(left, _PIECE_BYTES))):
        yield piece
        left -= len(piece)


def is_pipe(path: Path) -> bool:
    """Whether a path is a pipe, as `<(program)` of a shell is: it can be read once only."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False


def _open_without_waiting(name: str, flags: int) -> int:
    """Opening a pipe or some devices would wait until there is something at their other end."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _pipe_pieces(path: Path, most_bytes: int) -> Iterator[bytes]:
    left = most_bytes
    with open(path, "rb", 0, opener=_open_without_waiting) as pipe:
        os.set_blocking(pipe.fileno(), True)
        while left and (piece := _next_piece(pipe, path, left)):
            yield piece
            left -= len(piece)


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
