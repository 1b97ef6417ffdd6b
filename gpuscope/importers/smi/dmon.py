"""`nvidia-smi dmon`: one row a GPU and second; which columns there are depends on the driver and on -s."""

from __future__ import annotations

import re

import numpy as np

from gpuscope.domain.whole_numbers import whole_number
from gpuscope.errors import UsageError
from gpuscope.importers.compressed import Pieces, bounded, head_of
from gpuscope.importers.content import Content
from gpuscope.importers.notes import LostLines
from gpuscope.importers.reading import Progress, Reading
from gpuscope.importers.smi.columns import Column
from gpuscope.importers.smi.monitor_table import Heading, heading_of
from gpuscope.importers.smi.rows import RowCollector, TableColumns
from gpuscope.importers.tabular.blocks import Block, Lines, Mask, Positions
from gpuscope.importers.tabular.digits import WORD_BYTES, number_before
from gpuscope.importers.tabular.grid import Grid, of_texts, of_words, rows_at, words_of
from gpuscope.importers.tabular.sections import by_heading
from gpuscope.importers.text import decode_line

KIND = "smi_dmon"
DESCRIPTION = "nvidia-smi dmon"

_MOST_HEADINGS = 1000
"""Different ones in a file: with more, it is no table of dmon."""

_CSV_HEADING = re.compile(rb"(?m)^#\s*(?:Date,\s*Time,\s*)?gpu,")
_HEAD_BYTES = 65536
_MOST_CSV = 256 * 1024**2
"""Bytes (inflated) of what is held at once."""

_NAMES = {
    "gpu": "index", "pwr": "power.draw", "temp": "temperature.gpu", "gtemp": "temperature.gpu",
    "mtemp": "temperature.memory", "sm": "utilization.gpu", "mem": "utilization.memory", "enc": "utilization.encoder",
    "dec": "utilization.decoder", "mclk": "clocks.current.memory", "pclk": "clocks.current.sm", "fb": "memory.used",
    "rxpci": "pcie.rx", "txpci": "pcie.tx",
}  # fmt: skip
"""Columns by their field in query logs; the others keep their names. sm is what query logs call utilization.gpu."""


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a table."""
    return any((names := heading_of(line)) is not None and "pid" not in names for line in head.splitlines()[:200])


def read(data: Content, progress: Progress | None = None) -> Reading:
    """Read a whole table; lines that are no rows are counted.

    Args:
        data: the file, compressed by gzip or not.
        progress: is told the share that was read; to cancel, it raises.

    Raises:
        UsageError: its rows cannot be those of one machine's GPUs.
    """
    reading = Reading(KIND, DESCRIPTION)
    lines = Lines(_with_blanks(data), progress)
    monitor = _Monitor(reading)
    for block in lines:
        monitor.add(block)
    if lines.rest:
        monitor.add(Block(lines.rest + b"\n", monitor.next_line))
    monitor.finish()
    lines.note_losses(reading)
    return reading


def _with_blanks(data: Content) -> Content:
    """The table of `--format csv` as dmon prints it else, with blanks alone between its columns."""
    is_csv = _CSV_HEADING.search(head_of(data, _HEAD_BYTES)) is not None
    return b"".join(bounded(Pieces(data), _MOST_CSV)).replace(b",", b" ") if is_csv else data


class _Monitor:
    """The state of reading one table: which columns hold, and how many lines were none of its rows."""

    def __init__(self, reading: Reading) -> None:
        self.next_line = 1
        self._reading = reading
        self._heading: Heading | None = None
        self._tables: dict[Heading, TableColumns] = {}
        self._collector = RowCollector(reading)
        self._lost = LostLines()

    def add(self, block: Block) -> None:
        """Read the lines of a block."""
        words = words_of(block)
        plain = block.plain_lines()
        headings = block.bytes1[block.starts] == ord("#")
        before = self._heading
        changes: list[tuple[int, Heading | None]] = [(0, before)]
        for index in np.flatnonzero(headings).tolist():
            self._take_heading(decode_line(block.line(index))[0])
            if self._heading != changes[-1][1]:
                changes.append((index, self._heading))
        rows = (words.counts > 0) & ~headings
        first = next((begin for begin, heading in changes if heading is not None), len(rows))
        self._lose(block, np.flatnonzero(rows[:first]))
        grids: list[tuple[TableColumns, Grid]] = []
        for heading, own in by_heading(rows, changes).items():
            regular = plain[own] & (words.counts[own] == len(heading.names))
            grid = of_words(block, words, own[regular], len(heading.names))
            are_rows = _have_index(grid, heading.names.index("gpu"))
            singles = np.concatenate((own[~regular], own[regular][~are_rows]))
            grids.append((self._table(heading), rows_at(grid, are_rows)))
            grids.append((self._table(heading), self._single_rows(block, singles, heading)))
        self._collector.add(grids)
        self.next_line += len(block.ends)

    def finish(self) -> None:
        """Fill the tracks and tell what was left out."""
        self._collector.finish()
        self._lost.note(self._reading)

    def _take_heading(self, text: str) -> None:
        """The first of its two lines has the names, the second the units."""
        names = heading_of(text)
        if names is not None:
            self._heading = Heading(names, ())
        elif self._heading is not None:
            self._heading = self._heading._replace(units=tuple(text[1:].split()))

    def _table(self, heading: Heading) -> TableColumns:
        if heading not in self._tables:
            if len(self._tables) >= _MOST_HEADINGS:
                raise UsageError(f"The file has more than {_MOST_HEADINGS} different headings, as no log of dmon has.")
            self._tables[heading] = TableColumns(_columns(heading))
        return self._tables[heading]

    def _single_rows(self, block: Block, indices: Positions, heading: Heading) -> Grid:
        rows: list[tuple[int, list[str]]] = []
        for index in indices.tolist():
            cells = decode_line(block.line(index))[0].split()
            if len(cells) == len(heading.names) and whole_number(cells[heading.names.index("gpu")]) is not None:
                rows.append((block.first_line + index, cells))
            elif cells:
                self._lose(block, np.array([index]))
        return of_texts(rows, len(heading.names))

    def _lose(self, block: Block, indices: Positions) -> None:
        if len(indices):
            self._lost.add(block.first_line + int(indices[0]), len(indices))


def _have_index(grid: Grid, at: int) -> Mask:
    """Which rows name a GPU by a short number."""
    counts = grid.ends[at] - grid.starts[at]
    _, are_digits = number_before(grid.block.words, grid.ends[at], np.clip(counts, 0, WORD_BYTES))
    found: Mask = are_digits & (counts <= WORD_BYTES)
    return found


def _columns(heading: Heading) -> list[Column]:
    units = heading.units if len(heading.units) == len(heading.names) else ("",) * len(heading.names)
    return [
        Column("timestamp") if name == "time" else Column(_NAMES.get(name, name), _unit(unit))
        for name, unit in zip(heading.names, units, strict=True)
    ]


def _unit(unit: str) -> str:
    return "" if unit in {"Idx", "bool", "errs", "#", "name"} else unit
