"""Tables with one row a moment and a column for each figure of each device."""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.importers.cells import Cell, parse_cell
from gpuscope.importers.content import Content
from gpuscope.importers.notes import OTHER_WIDTH, LostLines
from gpuscope.importers.reading import Progress, Reading, Track
from gpuscope.importers.tabular.blocks import Block, Lines, Mask, Positions
from gpuscope.importers.tabular.clocks import read_times
from gpuscope.importers.tabular.grid import (
    Grid,
    Separators,
    delimited,
    lines_with_numbers,
    of_texts,
    rows_at,
    separators_of,
)
from gpuscope.importers.tabular.merge import GrowingColumn, GrowingFigures, Rows, add_column, joined, merged
from gpuscope.importers.tabular.numbers import NumberReader
from gpuscope.importers.text import decode_line

_MOST_CELL = 1_000_000
_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,15},\d{1,9}\b.*")


class Target(NamedTuple):
    """What a column is."""

    device: str
    """Key of the device; empty: the time of the row."""
    field: str
    """Of GpuSample, or the column's own name; for the time: absolute or relative (seconds since the beginning)."""
    scale: float = 1.0


TIME, SECONDS = Target("", "absolute"), Target("", "relative")

TargetsOf = Callable[[list[str], list[str]], list[Target | None]]
"""The columns' names and the cells of the first row → what each column is; None: nothing that is read."""


class _TargetColumn:
    """How the cells of a column read."""

    def __init__(self, scale: float, decimal_mark: str) -> None:
        self._scale = scale
        self.decimal_mark = decimal_mark

    def number(self, cell: str) -> Cell:
        found = parse_cell(cell, decimal_comma=self.decimal_mark == ",")[0]
        if found.reason is Reason.NOT_SUPPORTED and not cell.strip():
            return Cell(math.nan, Reason.NO_DATA)
        return found._replace(value=found.value * self._scale)

    def factor(self, _: str) -> float:
        return self._scale


class WideTable:
    """One table, read in blocks of lines."""

    def __init__(self, reading: Reading, targets_of: TargetsOf, make: Callable[[str], Device]) -> None:
        """Nothing is read yet.

        Args:
            reading: gets a track of each device, and a note on rows of another width.
            targets_of: is asked once, when the heading and the first row are known.
            make: the device of a key.
        """
        self.encoding = "utf-8"
        """latin-1, where a line is not UTF-8."""
        self.names: list[str] = []
        self.last_row: list[str] = []
        """Cells of the last row that was read."""
        self._reading = reading
        self._targets_of = targets_of
        self._make = make
        self._delimiter = ","
        self._targets: list[Target | None] | None = None
        self._readers: list[NumberReader] = []
        self._count = 0
        self._times = GrowingColumn()
        self._figures: dict[Target, GrowingFigures] = defaultdict(GrowingFigures)
        self._lost = LostLines()

    def read(self, lines: Lines) -> None:
        """Read all of a file.

        Raises:
            UsageError: `targets_of` finds nothing in the heading.
        """
        block = None
        for block in lines:
            self._add(block)
        if lines.rest.strip():
            number = 1 if block is None else block.first_line + len(block.ends)
            self._add(Block(lines.rest + b"\n", number))
        if self._targets is None:
            self._set_columns([], [])
        self._finish()
        lines.note_losses(self._reading)

    def _add(self, block: Block) -> None:
        rows = block.ends > block.starts
        if self._targets is None:
            rows[: self._first_row(block, rows)] = False
        if not self.names or not rows.any():
            return
        separators = separators_of(block, self._delimiter)
        plain = rows & block.plain_lines() & lines_with_numbers(block, separators)
        grid, regular = self._regular_rows(block, separators, plain)
        single = self._single_rows(block, np.flatnonzero(rows & ~regular))
        parts = [self._read(part) for part in (grid, single) if part.rows]
        if parts:
            self._store(merged(parts))
            last = max((part for part in (grid, single) if part.rows), key=lambda part: int(part.lines[-1]))
            self.last_row = [last.text(at, last.rows - 1) for at in range(len(self.names))]

    def _first_row(self, block: Block, rows: Mask) -> int:
        """The line behind the heading; the columns are known then."""
        written = np.flatnonzero(rows)
        texts = [self._text(block.line(int(index))) for index in written[:2]]
        if not texts:
            return len(rows)
        self._delimiter = delimiter_of(texts[0])
        cells = [heading_of(text, self._delimiter) for text in texts]
        self._set_columns(cells[0], cells[1] if len(cells) > 1 else [])
        return int(written[0]) + 1

    def _text(self, line: bytes) -> str:
        text, encoding = decode_line(line)
        if encoding != "utf-8":
            self.encoding = encoding
        return text

    def _set_columns(self, names: list[str], first: list[str]) -> None:
        self.names = names
        self._targets = self._targets_of(names, first)
        has_decimal_comma = self._delimiter != "," and any(_DECIMAL_COMMA.fullmatch(cell) for cell in first)
        mark = "," if has_decimal_comma else "."
        self._readers = [
            NumberReader(_TargetColumn(1.0 if target is None else target.scale, mark)) for target in self._targets
        ]

    def _regular_rows(self, block: Block, separators: Separators, plain: Mask) -> tuple[Grid, Mask]:
        """The rows as wide as the heading; a comma at the end of each is no column."""
        width = len(self.names)
        for extra in (0, 1):
            regular = plain & (separators.counts == width + extra)
            if regular.any():
                break
        grid = delimited(block, separators, np.flatnonzero(regular), width + extra)
        if extra and grid.rows:
            ends_empty = grid.starts[-1] >= grid.ends[-1]
            regular[np.flatnonzero(regular)[~ends_empty]] = False
            grid = rows_at(grid, ends_empty)
            grid = grid._replace(starts=grid.starts[:-1], ends=grid.ends[:-1])
        return grid, regular

    def _single_rows(self, block: Block, indices: Positions) -> Grid:
        """The rows among lines that are in some way irregular; headings that come again are none."""
        rows: list[tuple[int, list[str]]] = []
        for index in indices.tolist():
            text = self._text(block.line(index))
            cells = row_of(text, len(self.names), self._delimiter) if text.strip() else self.names
            if cells is None or len(cells) != len(self.names):
                self._lost.add(block.first_line + index)
            elif cells != self.names:
                rows.append((block.first_line + index, cells))
        return of_texts(rows, len(self.names))

    def _read(self, grid: Grid) -> Rows:
        rows = Rows(grid.lines, np.full(grid.rows, math.nan))
        for at, target in enumerate(self._targets or ()):
            if target == TIME:
                wall_s = read_times(grid, at).wall_s
                rows.wall_s = np.where(np.isnan(wall_s), rows.wall_s, wall_s)
            elif target == SECONDS:
                seconds = self._readers[at].read(grid, at).values
                rows.wall_s = np.where(np.isnan(seconds), rows.wall_s, seconds)
            elif target is not None:
                key = target._replace(scale=1.0)
                figures = self._readers[at].read(grid, at)
                rows.figures[key] = joined(figures, rows.figures[key]) if key in rows.figures else figures
        return rows

    def _store(self, rows: Rows) -> None:
        self._times.add(self._count, rows.wall_s)
        for key, figures in rows.figures.items():
            self._figures[key].add(self._count, figures)
        self._count += len(rows.lines)

    def _finish(self) -> None:
        """Fill the tracks; without any time, the rows are a second apart."""
        wall_s = self._times.taken(self._count, math.nan, np.float64)
        if np.isnan(wall_s).all():
            wall_s = np.arange(self._count, dtype=np.float64)
        self._reading.rows = self._count
        targets = [target for target in self._targets or () if target is not None and target.device]
        for key in dict.fromkeys(target.device for target in targets) if self._count else ():
            track = self._reading.tracks[key] = Track(self._make(key))
            track.extend(wall_s, {})
        for target, figures in self._figures.items():
            add_column(self._reading.tracks[target.device], target.field, figures.taken(self._count))
        self._lost.note(self._reading, OTHER_WIDTH)


def read_table(
    reading: Reading, data: Content, progress: Progress | None, targets_of: TargetsOf, make: Callable[[str], Device]
) -> WideTable:
    """Read a table into a reading; see `WideTable`."""
    table = WideTable(reading, targets_of, make)
    table.read(Lines(data, progress))
    return table


def delimiter_of(heading: str) -> str:
    """What stands between the names of a heading: a semicolon where the decimal mark is a comma, or a tab."""
    counts = {mark: heading.count(mark) for mark in ",;\t"}
    return max(counts, key=lambda mark: counts[mark])


def heading_of(line: str, delimiter: str | None = None) -> list[str]:
    """The names of a heading line; a comma at its end is no column."""
    row = row_of(line, None, delimiter or delimiter_of(line)) if line.strip() else None
    return row or []


def row_of(line: str, width: int | None, delimiter: str = ",") -> list[str] | None:
    """Cells of a line; None where it is no row. An empty cell behind as many as there should be is none.

    Args:
        line: not empty.
        width: how many cells there should be; None: an empty one at the end is none in any case.
        delimiter: of the table (`delimiter_of`).
    """
    if len(line) > _MOST_CELL:
        return None
    try:
        row = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True, delimiter=delimiter))]
    except (csv.Error, StopIteration):
        return None
    is_excess = (len(row) > 1 and width is None) or (width is not None and len(row) == width + 1)
    return row[:-1] if is_excess and not row[-1] else row
