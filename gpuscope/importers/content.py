"""A file's bytes where they are: in memory, or on the disk and read when they are asked for."""

from __future__ import annotations

from typing import BinaryIO, Protocol


class Content(Protocol):
    """What a reader needs of `bytes`: its length and parts of it."""

    def __len__(self) -> int:
        """How many bytes."""
        ...

    def __getitem__(self, part: slice, /) -> bytes:
        """A part."""
        ...


class FileContent:
    """A file on disk: parts are read when they are asked for, so that its size costs no memory.

    The length is that at the beginning: of a log that is still being written, the rest is left alone. A file that
    became shorter gives what is there.
    """

    def __init__(self, file: BinaryIO, length: int) -> None:
        """Read a file that its owner keeps open; it is `length` bytes long."""
        self._file = file
        self._length = length

    def __len__(self) -> int:
        """Its size in bytes at the beginning."""
        return self._length

    def __getitem__(self, part: slice, /) -> bytes:
        """Bytes of a part without steps.

        Raises:
            OSError: the disk fails.
        """
        start, stop, _ = part.indices(self._length)
        self._file.seek(start)
        pieces, missing = [], max(0, stop - start)
        while missing and (piece := self._file.read(missing)):
            pieces.append(piece)
            missing -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
