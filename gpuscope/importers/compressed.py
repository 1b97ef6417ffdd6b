"""gzip, read piece by piece: a stream that ends early gives what was before, one that swells without end is refused."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from gpuscope.errors import UsageError
from gpuscope.importers.content import Content

PIECE_BYTES = 8 * 1024**2
MOST_INFLATED_BYTES = 4 * 1024**3
"""A trace of so many bytes is opened with tools that keep it in a database."""
MOST_RATIO = 200
"""Traces shrink 8 to 40 times; a file of zeros shrinks a thousand times."""
_RATIO_FROM_BYTES = 16 * 1024**2
"""A smaller file may be as regular as it likes."""
_GZIP = b"\x1f\x8b"
_WITH_GZIP_HEADER = 31


def is_gzip(data: Content) -> bool:
    """Whether the bytes are a gzip stream, by their first two."""
    return data[: len(_GZIP)] == _GZIP


def head_of(data: Content, count: int) -> bytes:
    """The first bytes of a file, inflated where it is compressed; whatever can be had of a damaged one."""
    if not is_gzip(data):
        return data[:count]
    try:
        return zlib.decompressobj(_WITH_GZIP_HEADER).decompress(data[:count], count)
    except zlib.error:
        return b""


class Pieces:
    """The content of a file in pieces of some MiB, inflated where it is compressed."""

    def __init__(self, data: Content, piece_bytes: int = PIECE_BYTES) -> None:
        """Nothing is read before the first piece is asked for."""
        self._data = data
        self._piece_bytes = piece_bytes
        self.cut_at: int | None = None
        """Byte of the file at which the compressed stream broke off; None: it did not."""
        self.share_read = 0.0
        """Of the file's bytes, how many the pieces so far took: 0 to 1."""

    def __iter__(self) -> Iterator[bytes]:
        """The pieces, in order.

        Raises:
            UsageError: the stream swells beyond what a recording can be.
        """
        return self._inflated() if is_gzip(self._data) else self._plain()

    def _plain(self) -> Iterator[bytes]:
        for start in range(0, len(self._data), self._piece_bytes):
            self.share_read = min(1.0, (start + self._piece_bytes) / len(self._data))
            yield self._data[start : start + self._piece_bytes]

    def _inflated(self) -> Iterator[bytes]:
        """All members of the stream: `cat a.gz b.gz` is one, too."""
        stream, at, inflated = zlib.decompressobj(_WITH_GZIP_HEADER), 0, 0
        while True:
            given = stream.unconsumed_tail or self._data[at : at + self._piece_bytes]
            at += 0 if stream.unconsumed_tail else len(given)
            try:
                piece = stream.decompress(given, self._piece_bytes)
            except zlib.error:
                self.cut_at = at
                return
            inflated += len(piece)
            self.share_read = at / len(self._data)
            _refuse_bombs(inflated, at)
            if piece:
                yield piece
            if stream.eof:
                at -= len(stream.unused_data)
                if not is_gzip(self._data[at : at + 2]):
                    return
                stream = zlib.decompressobj(_WITH_GZIP_HEADER)
            elif not piece and at >= len(self._data):
                self.cut_at = at
                return


def bounded(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """The pieces up to a total of `most` bytes.

    Raises:
        UsageError: there are more.
    """
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > most:
            raise UsageError(f"The compressed file holds more than {most // 1024**2} MiB: give a part of it.")
        yield piece


def _refuse_bombs(inflated: int, read: int) -> None:
    if inflated > MOST_INFLATED_BYTES:
        raise UsageError("The compressed file holds more than 4 GiB: record fewer steps.")
    if inflated > _RATIO_FROM_BYTES and inflated > MOST_RATIO * read:
        raise UsageError(
            f"The compressed file swells more than {MOST_RATIO} times, as no recording does: it is refused."
        )
