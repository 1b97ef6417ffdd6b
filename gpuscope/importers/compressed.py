"""gzip, read piece by piece: a stream that ends early gives what was before, one that swells without end is refused."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator

from gpuscope.errors import UsageError
from gpuscope.importers.content import Content

PIECE_BYTES = 8 * 1024**2
MOST_INFLATED_BYTES = 4 * 1024**3
"""A trace of so many bytes is opened with tools that keep it in a database."""
MOST_RATIO = 200
"""Traces shrink 8 to 40 times; a file of zeros shrinks a thousand times."""
_RATIO_FROM_BYTES = 16 * 1024**2
"""A smaller file may be as regular as it likes."""
_STEP_BYTES = 65536
"""Of the compressed file, at once: members may be as small as twenty bytes."""
_GZIP = b"\x1f\x8b"
_WITH_GZIP_HEADER = 31
_ARCHIVES = (
    (b"PK\x03\x04", "ZIP"),
    (_GZIP, "gzip (twice)"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!", "RAR"),
)
"""How packed files begin. One within gzip is packed twice."""


def is_gzip(data: Content) -> bool:
    """Whether the bytes are a gzip stream, by their first two."""
    return data[: len(_GZIP)] == _GZIP


def archive_kind(head: bytes) -> str | None:
    """What a file is packed with, of what is not unpacked here; None: nothing that is known."""
    return next((name for start, name in _ARCHIVES if head.startswith(start)), None)


def head_of(data: Content, count: int) -> bytes:
    """The first bytes of a file, inflated where it is compressed; whatever can be had of a damaged one."""
    if not is_gzip(data):
        return data[:count]
    try:
        return zlib.decompressobj(_WITH_GZIP_HEADER).decompress(data[:count], count)
    except zlib.error:
        return _salvaged(zlib.decompressobj(_WITH_GZIP_HEADER).decompress, data[:count])[0][:count]


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
        """What the members hold, in pieces of about the size that was asked for."""
        ready: list[bytes] = []
        count = 0
        for part in self._members():
            ready.append(part)
            count += len(part)
            if count >= self._piece_bytes:
                yield b"".join(ready)
                ready, count = [], 0
        if ready:
            yield b"".join(ready)

    def _members(self) -> Iterator[bytes]:
        """All members of the stream: `cat a.gz b.gz` is one, too."""
        stream, given, at, inflated = zlib.decompressobj(_WITH_GZIP_HEADER), b"", 0, 0
        while True:
            if not given:
                given = self._data[at : at + _STEP_BYTES]
                at += len(given)
            before, ended = stream.copy(), not given
            try:
                part = stream.decompress(given, self._piece_bytes)
            except zlib.error:
                part, used = _salvaged(before.decompress, given)
                self.cut_at = at - len(given) + used
                yield part
                return
            inflated += len(part)
            self.share_read = at / len(self._data)
            _refuse_bombs(inflated, at)
            if part:
                yield part
            given = stream.unconsumed_tail
            if stream.eof:
                given = stream.unused_data
                if len(given) < len(_GZIP):
                    more = self._data[at : at + _STEP_BYTES]
                    given, at = given + more, at + len(more)
                if not is_gzip(given):
                    return
                stream = zlib.decompressobj(_WITH_GZIP_HEADER)
            elif ended and not part:
                self.cut_at = at
                return


def _salvaged(decompress: Callable[[bytes], bytes], data: bytes) -> tuple[bytes, int]:
    """What can be inflated before the data break, and how many of their bytes that took."""
    parts: list[bytes] = []
    for at in range(len(data)):
        try:
            parts.append(decompress(data[at : at + 1]))
        except zlib.error:
            return b"".join(parts), at
    return b"".join(parts), len(data)


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
