"""Small files of /proc and /sys: read often, gone at any moment, and sometimes not what they should be.

These modules know nothing but Python's own library and `Reason`, so that they also work on a machine that has nothing
but a Python from 3.9 on.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Union

from gpuscope.domain.reasons import Reason

Figures = dict[str, Any]
"""Figures by field name; one that is missing has its `Reason` as value."""
Number = Union[float, Reason]  # noqa: UP007 # an expression that Python 3.9 runs
PIECE_BYTES = 1 << 16
MOST_CPUS = 8191
"""The highest number of a processor that Linux can be built for; a list that goes on beyond is damaged."""

_REASONS = {
    errno.EACCES: Reason.SYSTEM_REFUSES,
    errno.EPERM: Reason.SYSTEM_REFUSES,
    errno.ENOENT: Reason.NOT_OFFERED,
    errno.ENOTDIR: Reason.NOT_OFFERED,
    errno.EOPNOTSUPP: Reason.NOT_OFFERED,
    errno.ENOSYS: Reason.NOT_OFFERED,
    errno.ENODEV: Reason.NOT_OFFERED,
    errno.EINVAL: Reason.NOT_OFFERED,  # the link speed of an interface that is down
}


def reason_of(error: OSError) -> Reason:
    """Why a file of the system could not be read."""
    return _REASONS.get(error.errno or 0, Reason.UNREADABLE)


def read_text(path: Path) -> str | Reason:
    """A small file's text without surrounding white space, or why it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8", "replace").strip()
    except OSError as error:
        return reason_of(error)


def read_number(path: Path) -> Number:
    """The number that a file consists of, or why there is none."""
    return number(read_text(path))


def number(text: str | Reason) -> Number:
    """The finite number that a text is; a reason stays what it is."""
    if isinstance(text, Reason):
        return text
    try:
        return int(text)
    except ValueError:
        return Reason.UNREADABLE


def names_in(folder: Path) -> list[str]:
    """Names in a folder in order; none where it is missing or closed."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 # names alone: Path objects for 1000 processes cost too much
    except OSError:
        return []


def numbers_of_list(text: str | Reason) -> list[int] | Reason:
    """The numbers that a list such as `0-3,8,10-11` names."""
    if isinstance(text, Reason):
        return text
    numbers: list[int] = []
    try:
        for part in text.split(","):
            if part.strip():
                first, _, last = part.partition("-")
                numbers += range(int(first), min(int(last or first), MOST_CPUS) + 1)
    except ValueError:
        return Reason.UNREADABLE
    return numbers


def count_of_list(text: str | Reason) -> int | Reason:
    """How many numbers a list such as `0-3,8,10-11` names."""
    numbers = numbers_of_list(text)
    return numbers if isinstance(numbers, Reason) else len(numbers)


def reading_of(figures: Figures) -> dict[str, Any]:
    """Figures that are there under their names, the reasons for the others under `unavailable`."""
    reasons = {name: value for name, value in figures.items() if isinstance(value, Reason)}
    reading = {name: value for name, value in figures.items() if name not in reasons}
    return {**reading, "unavailable": reasons}


class KeptFile:
    """A file that is read again and again through one descriptor, which costs half of opening it each time."""

    def __init__(self, path: Path, *, in_one_piece: bool = False) -> None:
        """Nothing is opened yet.

        Args:
            path: of the file.
            in_one_piece: the kernel makes the text of this file as a whole (single_open), so that a reading that does
                not fill the buffer has all of it. Of others, such as /proc/diskstats, it gives some lines at a time.
        """
        self._path = path
        self._in_one_piece = in_one_piece
        self._descriptor: int | None = None

    def read(self) -> bytes | Reason:
        """All of it as it is now, or why it cannot be read; a file that was missing is looked for again."""
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            pieces: list[bytes] = []
            size = 0
            while piece := os.pread(self._descriptor, PIECE_BYTES, size):
                pieces.append(piece)
                size += len(piece)
                if self._in_one_piece and len(piece) < PIECE_BYTES:
                    break
        except OSError as error:
            self.close()
            return reason_of(error)
        return b"".join(pieces)

    def close(self) -> None:
        """Let go of the descriptor; the next reading opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        """A file that nobody knows any more holds no descriptor."""
        self.close()
