"""`nvidia-smi --query-gpu=... --format=csv`: any fields, with or without header and units, however the log was made.

Logs come with repeated headers (a loop of single calls), error sentences between rows, the rows of several GPUs
interleaved, a last row that was cut, and re-saved by spreadsheets with semicolons and decimal commas.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gpuscope.errors import UsageError
from gpuscope.importers.content import Content
from gpuscope.importers.notes import LostLines, add_encoding
from gpuscope.importers.reading import Note, Progress, Reading
from gpuscope.importers.smi.columns import Column, columns_of, guessed_columns
from gpuscope.importers.smi.fields import FIGURES, IDENTITIES, canonical
from gpuscope.importers.smi.rows import RowCollector, TableColumns
from gpuscope.importers.tabular.blocks import MOST_LINE_CHARACTERS, Block, Lines, Mask, Positions
from gpuscope.importers.tabular.grid import Grid, delimited, lines_with_numbers, of_texts, separators_of
from gpuscope.importers.tabular.sections import by_heading
from gpuscope.importers.text import decode_line
from gpuscope.importers.times import parse_time

KIND = "smi_query_csv"
DESCRIPTION = "nvidia-smi --query-gpu, CSV"

_ERRORS = re.compile(
    r"Failed to initialize NVML|NVIDIA-SMI has failed|Unable to determine the device handle|No devices were found"
    r"|Driver/library version mismatch|GPU is lost|command not found|Unknown Error$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"[a-z][a-z0-9_.:()/-]*")
_SAMPLED_LINES = 200
"""The first lines tell how the file separates its cells."""
_MOST_HEADINGS = 1000
"""Different ones in a file: with more, it is none of nvidia-smi's."""
_MOST_ERRORS = 100
"""Different sentences of the driver that are told each by itself."""


_OTHER_ERRORS = "other errors, in lines of their own"


class Dialect(NamedTuple):
    """How the file separates its cells."""

    delimiter: str
    decimal_comma: bool


_USUAL = Dialect(",", decimal_comma=False)


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a log."""
    lines = [line for line in head.splitlines()[:50] if line.strip() and not _ERRORS.search(line)]
    dialect = _dialect(lines)
    if dialect is None:
        return False
    rows = [_cells(line, dialect) for line in lines]
    return any(map(_is_header, rows)) or _is_bare_row(rows[0])


def read(data: Content, progress: Progress | None = None) -> Reading:
    """Read a whole log; what cannot be read is skipped and noted, with its line.

    Args:
        data: the file, compressed by gzip or not.
        progress: is told the share that was read; to cancel, it raises.

    Raises:
        UsageError: its rows cannot be those of one machine's GPUs.
    """
    reading = Reading(KIND, DESCRIPTION)
    lines = Lines(data, progress)
    log = _Log(reading)
    for block in lines:
        log.add(block)
    log.finish(lines.rest)
    add_encoding(reading, lines.encoding or log.encoding)
    lines.note_losses(reading)
    return reading


class _Log:
    """The state of reading one log: which columns hold, and what has been said already."""

    def __init__(self, reading: Reading) -> None:
        self.encoding = "utf-8"
        self._reading = reading
        self._dialect: Dialect | None = None
        self._table: TableColumns | None = None
        self._tables: dict[tuple[str, ...], TableColumns] = {}
        self._collector = RowCollector(reading)
        self._errors: dict[str, LostLines] = {}
        self._lost = LostLines()
        self._lines = 0

    def add(self, block: Block) -> None:
        """Read the lines of a block."""
        if self._dialect is None:
            self._set_dialect([self._text(block.line(index)) for index in range(len(block.ends))[:_SAMPLED_LINES]])
        separators = separators_of(block, self._delimiter)
        plain = block.plain_lines() & lines_with_numbers(block, separators)
        written = block.ends > block.starts
        grids: list[tuple[TableColumns, Grid]] = []
        for table, own in self._sections(block, plain, written).items():
            width = len(table.columns)
            regular = plain[own] & (separators.counts[own] == width)
            grids.append((table, delimited(block, separators, own[regular], width)))
            grids.append((table, self._single_rows(block, own[~regular], table)))
        self._collector.add(grids)
        self._lines += len(block.ends)

    def finish(self, rest: bytes) -> None:
        """Read the last line, where the file ends without a line's end, and tell what was found."""
        text = self._text(rest)
        if text.strip():
            self._last_line(self._lines + 1, text)
        self._collector.finish()
        for sentence, lines in self._errors.items():
            self._reading.notes.append(
                Note(code="driver_error", sentence=f"nvidia-smi said: {sentence}", line=lines.first, count=lines.count)
            )
        self._lost.note(self._reading)

    def _sections(self, block: Block, plain: Mask, written: Mask) -> dict[TableColumns, Positions]:
        """Lines that are not empty and no headings, by the heading that holds for them."""
        begin = self._first_row(block, written)
        changes = [(begin, self._table)]
        rows = written.copy()
        rows[:begin] = False
        for index in np.flatnonzero(rows & ~plain).tolist():
            table = self._heading(block.line(index))
            if table is not None:
                rows[index] = False
                if table is not self._table:
                    self._table = table
                    changes.append((index, table))
        return by_heading(rows, changes)

    def _first_row(self, block: Block, written: Mask) -> int:
        """The line from which on columns are known: at the beginning, until there is a heading or a row like one."""
        for index in np.flatnonzero(written).tolist() if self._table is None else ():
            number, text = block.first_line + index, self._text(block.line(index))
            self._table = self._heading(block.line(index))
            if self._table is not None:
                return index + 1
            if self._guess(number, text):
                return index
            self._leave_out(number, text)
        return len(written) if self._table is None else 0

    def _heading(self, line: bytes) -> TableColumns | None:
        """The columns of a heading line; None: it is none."""
        if len(line) > MOST_LINE_CHARACTERS:
            return None
        cells = self._cells(self._text(line))
        if not _is_header(cells):
            return None
        key = tuple(cells)
        if key not in self._tables:
            if len(self._tables) >= _MOST_HEADINGS:
                raise UsageError(
                    f"The file has more than {_MOST_HEADINGS} different headings, as no log of nvidia-smi has."
                )
            self._tables[key] = TableColumns(columns_of(cells, decimal_comma=self._decimal_comma))
        return self._tables[key]

    def _guess(self, number: int, text: str) -> bool:
        """Take a row without a heading for the beginning of a log without one."""
        cells = self._cells(text)
        if not _is_bare_row(cells):
            return False
        self._table = TableColumns(guessed_columns(cells, decimal_comma=self._decimal_comma))
        sentence = "The file has no header line: the columns were guessed from their values and have to be checked."
        self._reading.notes.append(Note(code="assumed", sentence=sentence, line=number))
        return True

    def _single_rows(self, block: Block, indices: Positions, table: TableColumns) -> Grid:
        """The rows among lines that are in some way irregular; what is none is noted."""
        rows: list[tuple[int, list[str]]] = []
        width = len(table.columns)
        for index in indices.tolist():
            number, text = block.first_line + index, self._text(block.line(index))
            cells = self._cells(text)
            if len(cells) == width:
                rows.append((number, cells))
            else:
                self._leave_out(number, text)
        return of_texts(rows, width)

    def _leave_out(self, number: int, text: str) -> None:
        """Note a line that is no row."""
        sentence = text.strip()
        if not sentence:
            return
        if len(sentence) <= MOST_LINE_CHARACTERS and _ERRORS.search(sentence):
            if sentence not in self._errors and len(self._errors) >= _MOST_ERRORS:
                sentence = _OTHER_ERRORS
            self._errors.setdefault(sentence, LostLines()).add(number)
        else:
            self._lost.add(number)

    def _last_line(self, number: int, text: str) -> None:
        """A line without its end: its last cell may lack digits, unless it still has its unit."""
        if self._dialect is None:
            self._set_dialect([text])
        cells = self._cells(text)
        if _is_header(cells):
            return
        if self._table is None:
            self._guess(number, text)
        columns = () if self._table is None else self._table.columns
        if _ERRORS.search(text) and len(cells) != len(columns):
            self._leave_out(number, text)
        elif self._table is None or len(cells) != len(columns) or _is_cut(columns[-1], cells[-1]):
            sentence = "The last row is incomplete and was left out."
            self._reading.notes.append(Note(code="lost", sentence=sentence, line=number))
        else:
            self._collector.add([(self._table, of_texts([(number, cells)], len(columns)))])

    def _text(self, line: bytes) -> str:
        text, encoding = decode_line(line)
        if encoding != "utf-8":
            self.encoding = encoding
        return text

    def _cells(self, text: str) -> list[str]:
        return [] if len(text) > MOST_LINE_CHARACTERS else _cells(text, self._dialect or _USUAL)

    def _set_dialect(self, lines: list[str]) -> None:
        self._dialect = _dialect(lines) or _USUAL

    @property
    def _delimiter(self) -> str:
        return (self._dialect or _USUAL).delimiter

    @property
    def _decimal_comma(self) -> bool:
        return (self._dialect or _USUAL).decimal_comma


def _is_cut(column: Column, cell: str) -> bool:
    return not column.unit_printed or column.unit.lower() not in cell.lower()


def _cells(line: str, dialect: Dialect) -> list[str]:
    try:
        row = next(csv.reader([line], delimiter=dialect.delimiter, skipinitialspace=True))
    except (csv.Error, StopIteration):
        return []
    return [cell.strip() for cell in row]


def _dialect(lines: Iterable[str]) -> Dialect | None:
    """By a header, else a row: the first separator that makes one, and whether commas are decimal."""
    rows = [line for line in lines if line.strip()]
    for begins in (_is_header, _is_bare_row):  # a time with a decimal comma could be two cells of a row: headings first
        for delimiter in (",", ";", "\t"):
            dialect = Dialect(delimiter, decimal_comma=False)
            if any(begins(_cells(line, dialect)) for line in rows):
                return Dialect(delimiter, delimiter != "," and any(map(_has_decimal_comma, rows)))
    return None


def _has_decimal_comma(line: str) -> bool:
    return re.search(r"[;\t] ?\d[\d.]*,\d+(?=[;\t ]|$)", line) is not None


def _is_header(cells: list[str]) -> bool:
    names = [canonical(cell)[0] for cell in cells]
    figures = sum(name in FIGURES for name in names)
    if not figures or not all(_FIELD.fullmatch(name) for name in names if name):
        return False
    strange = sum(name not in {*FIGURES, *IDENTITIES, "timestamp"} for name in names)
    # nvidia-smi's own names have dots; a home-made table may share a name or two with it.
    return any("." in cell for cell in cells) or figures >= strange


def _is_bare_row(cells: list[str]) -> bool:
    """A row of a log without header begins with a time stamp and goes on with values."""
    return len(cells) >= 2 and _is_time(cells[0])


def _is_time(cell: str) -> bool:
    return parse_time(cell) is not None and not cell.isdigit()
