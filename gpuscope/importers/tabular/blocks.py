"""A text file as blocks of whole lines, a few MiB at a time, whatever its encoding, compression and ends of lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gpuscope.importers.compressed import Pieces
from gpuscope.importers.content import Content
from gpuscope.importers.reading import Note, Progress, Reading
from gpuscope.importers.text import encoding_of

MOST_LINE_CHARACTERS = 1_000_000
"""A longer line is no row of a monitor."""
_MOST_LINE_BYTES = 4 * MOST_LINE_CHARACTERS + 4
"""As many characters take no more bytes in UTF-8; what follows in such a line is not kept."""
_PIECE_BYTES = 2 * 1024**2
"""So little that what is worked out of it stays in a processor's cache."""
_PAD = b"\n" * 16
"""Around the content: eight bytes can then be looked at before and behind every cell."""
NEWLINE, TAB, _QUOTE = 10, 9, 34
_FIRST_PRINTABLE, _LAST_PRINTABLE = 32, 126

Positions = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Block:
    """Whole lines of a file, each with its end, and where they begin. Positions count from the pad before them."""

    content: bytes
    first_line: int
    """Number of its first line in the file, from 1."""
    bytes1: NDArray[np.uint8] = field(init=False, repr=False)
    """Content between pads."""
    words: NDArray[np.uint64] = field(init=False, repr=False)
    """Eight bytes from each position on; the first is the lowest."""
    starts: Positions = field(init=False, repr=False)
    ends: Positions = field(init=False, repr=False)
    """Of the lines: where the line's end stands."""

    def __post_init__(self) -> None:
        """Find the lines."""
        padded = _PAD + self.content + _PAD
        self.bytes1 = np.frombuffer(padded, np.uint8)
        self.words = np.ndarray((len(padded) - 7,), "<u8", buffer=padded, strides=(1,))
        inner = self.bytes1[len(_PAD) : len(_PAD) + len(self.content)]
        self.ends = np.flatnonzero(inner == NEWLINE) + len(_PAD)
        self.starts = np.concatenate(([len(_PAD)], self.ends[:-1] + 1)) if len(self.ends) else self.ends

    def line(self, index: int) -> bytes:
        """A line without its end."""
        return self.text_bytes(int(self.starts[index]), int(self.ends[index]))

    def text_bytes(self, start: int, end: int) -> bytes:
        """What stands between two positions."""
        return self.content[start - len(_PAD) : end - len(_PAD)]

    def plain_lines(self) -> Mask:
        """Which lines are of printable ASCII and tabs alone, without quotes, and not too long."""
        inner = self.bytes1[len(_PAD) : len(_PAD) + len(self.content)]
        odd = (inner < _FIRST_PRINTABLE) & (inner != NEWLINE) & (inner != TAB)
        odd |= (inner > _LAST_PRINTABLE) | (inner == _QUOTE)
        plain = self.ends - self.starts <= MOST_LINE_CHARACTERS
        if odd.any():
            plain[np.unique(np.searchsorted(self.ends, np.flatnonzero(odd) + len(_PAD)))] = False
        return plain


class Lines:
    """The blocks of a file, in order."""

    def __init__(self, data: Content, progress: Progress | None = None, *, nul_ends_line: bool = False) -> None:
        """Nothing is read before the first block is asked for.

        Args:
            data: the file, compressed by gzip or not.
            progress: is told the share of the file that was read; to cancel, it raises.
            nul_ends_line: a NUL byte is the end of a line, too.
        """
        self._nul_ends_line = nul_ends_line
        self.nul_bytes = 0
        """Those that ended lines, so far."""
        self._pieces = Pieces(data, _PIECE_BYTES)
        self._is_small = len(data) <= _PIECE_BYTES
        self._progress = progress
        self.rest = b""
        """After the last block: the last line, where the file ends without a line's end."""
        self.encoding: str | None = None
        """Where the file says so, or its NUL bytes do; None: UTF-8, or Latin-1 in lines that are not UTF-8."""

    def __iter__(self) -> Iterator[Block]:
        """The blocks; of a large file, while one is worked on, the next is read, inflated and decoded."""
        blocks = self._blocks()
        for block, share in blocks if self._is_small else _ahead(blocks):
            yield block
            self._tell(share)
        self._tell(1.0)

    def _blocks(self) -> Iterator[tuple[Block, float]]:
        """The blocks and the share of the file up to each; lines that are cut for being too long count as well."""
        number, pending, cut = 1, b"", False
        for piece in self._in_utf8(self._pieces):
            head, newline, tail = piece.rpartition(b"\n")
            if not newline:
                pending, cut = _without_excess(pending + (b"" if cut else piece), was_cut=cut)
                continue
            if cut:
                head = head[head.find(b"\n") :] if b"\n" in head else b""
            content = pending + head + b"\n"
            pending, cut = _without_excess(tail, was_cut=False)
            block = Block(content, number)
            number += len(block.ends)
            yield block, self._pieces.share_read
        self.rest = pending

    def note_losses(self, reading: Reading) -> None:
        """Say where a compressed file broke off."""
        if self._pieces.cut_at is not None:
            sentence = f"The compressed data is cut off at byte {self._pieces.cut_at}: what was before was read."
            reading.notes.append(Note(code="lost", sentence=sentence))

    def _tell(self, share: float) -> None:
        if self._progress is not None:
            self._progress(share)

    def _in_utf8(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces with `\\n` as the only end of a line; UTF-16 becomes UTF-8."""
        decoder: codecs.IncrementalDecoder | None = None
        returned = b""
        for number, piece in enumerate(pieces):
            if number == 0:
                mark_bytes, self.encoding = encoding_of(piece)
                piece = piece[mark_bytes:]
                if self.encoding is not None and self.encoding != "utf-8":
                    decoder = codecs.getincrementaldecoder(self.encoding)(errors="replace")
            content = returned + (piece if decoder is None else decoder.decode(piece).encode(errors="replace"))
            returned = b"\r" if content.endswith(b"\r") else b""  # the other half of the end may come next
            yield self._without_nul(with_newlines(content[: len(content) - len(returned)]))
        if returned:
            yield b"\n"

    def _without_nul(self, content: bytes) -> bytes:
        if not self._nul_ends_line or b"\0" not in content:
            return content
        self.nul_bytes += content.count(0)
        return content.replace(b"\0", b"\n")


Item = TypeVar("Item")


def _ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same, the next of them made in a thread meanwhile."""
    with ThreadPoolExecutor(1, "gpuscope-read") as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item


def with_newlines(content: bytes) -> bytes:
    """The same with the ends of lines of Windows and of old Macs as `\\n`."""
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content


def _without_excess(line: bytes, *, was_cut: bool) -> tuple[bytes, bool]:
    """The beginning of a line that goes on, and whether more of it is to be thrown away."""
    return line[:_MOST_LINE_BYTES], was_cut or len(line) > _MOST_LINE_BYTES
