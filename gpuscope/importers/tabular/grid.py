"""The cells of a block's regular rows, as positions, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuscope.importers.tabular.blocks import NEWLINE, TAB, Block, Mask, Positions

_BLANK, _NINE = 32, 9
_MOST_BLANKS = 64
"""Around a cell; a row with more is read line by line."""


class Grid(NamedTuple):
    """Cells of rows of one width, without the blanks around them."""

    block: Block
    starts: Positions
    """(columns, rows)."""
    ends: Positions
    """(columns, rows): behind the last character."""
    lines: Positions
    """Number of each row's line in the file."""

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.lines)

    def text(self, column: int, row: int) -> str:
        """One cell."""
        return self.block.text_bytes(int(self.starts[column, row]), int(self.ends[column, row])).decode()


class Separators(NamedTuple):
    """Where the cells of a block's lines end."""

    at: Positions
    """Positions of delimiters and ends of lines."""
    last: Positions
    """For each line, the index of its end in `at`."""
    counts: Positions
    """Cells of each line."""


def separators_of(block: Block, delimiter: str) -> Separators:
    """Find the delimiters of a block, whatever its lines hold."""
    inner = block.bytes1[: int(block.ends[-1]) + 1] if len(block.ends) else block.bytes1[:0]
    found = (inner == ord(delimiter)) | (inner == NEWLINE)
    at = np.flatnonzero(found)
    at = at[np.searchsorted(at, block.starts[0]) :] if len(block.starts) else at
    last = np.flatnonzero(block.bytes1[at] == NEWLINE)
    return Separators(at, last, np.diff(last, prepend=-1))


def lines_with_numbers(block: Block, separators: Separators) -> Mask:
    """Which lines have a cell that begins with a digit, behind at most one blank: they are no headings."""
    if not len(block.ends):
        return np.empty(0, np.bool_)
    starts = np.concatenate((block.starts[:1], separators.at[:-1] + 1))
    first = block.bytes1[starts]
    first = np.where(first == _BLANK, block.bytes1[starts + 1], first)
    # Unsigned: characters before 0 wrap around, to more than 9.
    found: Mask = np.logical_or.reduceat(first - np.uint8(ord("0")) <= _NINE, separators.last - separators.counts + 1)
    return found


def delimited(block: Block, separators: Separators, chosen: Positions, width: int) -> Grid:
    """The cells of lines that all hold `width` of them.

    Args:
        block: the lines.
        separators: its delimiters.
        chosen: indices of lines with `width` cells each.
        width: columns.
    """
    behind = np.arange(width - 1, -1, -1)[:, None]
    ends = separators.at[separators.last[chosen][None, :] - behind]
    starts = np.empty_like(ends)
    starts[0] = block.starts[chosen]
    starts[1:] = ends[:-1] + 1
    return stripped(Grid(block, starts, ends, chosen + block.first_line))


class Words(NamedTuple):
    """What stands between blanks in a block's lines."""

    starts: Positions
    ends: Positions
    first: Positions
    """For each line, the index of its first word."""
    counts: Positions
    """Words of each line."""


def words_of(block: Block) -> Words:
    """Find the words of a block, whatever its lines hold."""
    if not len(block.ends):
        return Words(*[block.ends] * 4)
    begin = int(block.starts[0])
    black = block.bytes1[begin - 1 : int(block.ends[-1]) + 1] > _BLANK
    edges = np.diff(black.view(np.int8))
    starts, ends = (np.flatnonzero(edges == change) + begin for change in (1, -1))
    behind = np.searchsorted(starts, block.ends)
    first = np.concatenate(([0], behind[:-1]))
    return Words(starts, ends, first, behind - first)


def of_words(block: Block, words: Words, chosen: Positions, width: int) -> Grid:
    """The cells of lines that all hold `width` words."""
    at = words.first[chosen][None, :] + np.arange(width)[:, None]
    return Grid(block, words.starts[at], words.ends[at], chosen + block.first_line)


def stripped(grid: Grid) -> Grid:
    """Without the blanks and tabs around the cells; a cell with very many keeps some, and is read line by line."""
    bytes1, starts, ends = grid.block.bytes1, grid.starts, grid.ends
    for _ in range(_MOST_BLANKS):
        first = bytes1[starts]
        blank = ((first == _BLANK) | (first == TAB)) & (starts < ends)
        if not blank.any():
            break
        starts = starts + blank
    for _ in range(_MOST_BLANKS):
        last = bytes1[ends - 1]
        blank = ((last == _BLANK) | (last == TAB)) & (starts < ends)
        if not blank.any():
            break
        ends = ends - blank
    return grid._replace(starts=starts, ends=ends)


def rows_at(grid: Grid, chosen: Mask) -> Grid:
    """Some of the rows."""
    if chosen.all():
        return grid
    return grid._replace(starts=grid.starts[:, chosen], ends=grid.ends[:, chosen], lines=grid.lines[chosen])


def of_texts(rows: Sequence[tuple[int, Sequence[str]]], width: int) -> Grid:
    """A grid of rows that were read line by line.

    Args:
        rows: the number of the line, and its cells.
        width: columns: each row has as many cells.
    """
    cells = [cell.encode(errors="replace") for _, row in rows for cell in row]
    block = Block(b"\n".join(cells) + b"\n", 1)
    lengths = np.array([len(cell) for cell in cells], np.intp)
    ends = int(block.starts[0]) + np.cumsum(lengths + 1) - 1 if len(block.starts) else lengths
    shape = (len(rows), width)
    lines = np.array([line for line, _ in rows], np.intp)
    return Grid(block, (ends - lengths).reshape(shape).T, ends.reshape(shape).T, lines)
