"""`nvidia-smi --query-gpu=... --format=csv`: any fields, with or without header and units, however the log was made.

Logs come with repeated headers (a loop of single calls), error sentences between rows, the rows of several GPUs
interleaved, a last row that was cut, and re-saved by spreadsheets with semicolons and decimal commas.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import NamedTuple

from gpuscope.importers.notes import add_encoding, add_lost
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.smi.columns import Column, columns_of, guessed_columns
from gpuscope.importers.smi.fields import FIGURES, canonical
from gpuscope.importers.smi.rows import RowCollector
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

KIND = "smi_query_csv"
DESCRIPTION = "nvidia-smi --query-gpu, CSV"

_ERRORS = re.compile(
    r"Failed to initialize NVML|NVIDIA-SMI has failed|Unable to determine the device handle|No devices were found"
    r"|Driver/library version mismatch|GPU is lost|command not found|Unknown Error$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"[a-z][a-z0-9_.:()/-]*")
_MOST_LINE = 1_000_000
"""Characters; a longer line is no row of a monitor."""


class Dialect(NamedTuple):
    """How the file separates its cells."""

    delimiter: str
    decimal_comma: bool


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a log."""
    lines = [line for line in head.splitlines()[:50] if line.strip() and not _ERRORS.search(line)]
    dialect = _dialect(lines)
    if dialect is None:
        return False
    rows = [_cells(line, dialect) for line in lines]
    return any(map(_is_header, rows)) or _is_bare_row(rows[0])


def read(data: bytes) -> Reading:
    """Read a whole log; what cannot be read is skipped and noted, with its line."""
    text, encoding = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    add_encoding(reading, encoding)
    lines = text.split("\n")
    complete = not lines[-1].strip()
    dialect = _dialect(lines[:200]) or Dialect(",", decimal_comma=False)
    _Log(reading, dialect, last_line=None if complete else len(lines)).read(lines)
    return reading


class _Log:
    """The state of reading one log: which columns hold, and what has been said already."""

    def __init__(self, reading: Reading, dialect: Dialect, last_line: int | None) -> None:
        self._reading = reading
        self._dialect = dialect
        self._cut_line = last_line
        self._columns: list[Column] = []
        self._collector = RowCollector(reading)
        self._errors: list[tuple[int, str]] = []
        self._unreadable: list[int] = []

    def read(self, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._line(number, line)
        self._collector.finish()
        self._note_errors()

    def _line(self, number: int, line: str) -> None:
        if len(line) > _MOST_LINE:
            self._unreadable.append(number)
            return
        cells = _cells(line, self._dialect)
        if _is_header(cells):
            self._columns = columns_of(cells, decimal_comma=self._dialect.decimal_comma)
            return
        if not self._columns and _is_bare_row(cells):
            self._columns = guessed_columns(cells, decimal_comma=self._dialect.decimal_comma)
            self._reading.notes.append(
                Note(
                    code="assumed",
                    sentence="The file has no header line: the columns were guessed from their values and have to be "
                    "checked.",
                    line=number,
                )
            )
        if _ERRORS.search(line) and len(cells) != len(self._columns):
            self._errors.append((number, line.strip()))
        elif not self._columns or len(cells) != len(self._columns) or self._is_cut(number, cells):
            self._lost(number)
        else:
            self._collector.add(number, self._columns, cells)

    def _is_cut(self, number: int, cells: list[str]) -> bool:
        """The file ends without a line's end: the last cell may lack digits, unless it still has its unit."""
        if number != self._cut_line:
            return False
        column = self._columns[-1]
        return not column.unit_printed or column.unit.lower() not in cells[-1].lower()

    def _lost(self, number: int) -> None:
        if number == self._cut_line:
            self._reading.notes.append(
                Note(code="lost", sentence="The last row is incomplete and was left out.", line=number)
            )
        else:
            self._unreadable.append(number)

    def _note_errors(self) -> None:
        for text in dict.fromkeys(text for _, text in self._errors):
            numbers = [number for number, same in self._errors if same == text]
            self._reading.notes.append(
                Note(code="driver_error", sentence=f"nvidia-smi said: {text}", line=numbers[0], count=len(numbers))
            )
        add_lost(self._reading, self._unreadable)


def _cells(line: str, dialect: Dialect) -> list[str]:
    try:
        row = next(csv.reader([line], delimiter=dialect.delimiter, skipinitialspace=True))
    except (csv.Error, StopIteration):
        return []
    return [cell.strip() for cell in row]


def _dialect(lines: Iterable[str]) -> Dialect | None:
    """By the first header or row: the separator that gives the most known columns, and whether commas are decimal."""
    rows = [line for line in lines if line.strip()]
    for delimiter in (",", ";", "\t"):
        dialect = Dialect(delimiter, decimal_comma=False)
        if any(_is_header(_cells(line, dialect)) or _is_bare_row(_cells(line, dialect)) for line in rows):
            return Dialect(delimiter, delimiter != "," and any(map(_has_decimal_comma, rows)))
    return None


def _has_decimal_comma(line: str) -> bool:
    return re.search(r"[;\t]\d[\d.]*,\d+(?=[;\t ]|$)", line) is not None


def _is_header(cells: list[str]) -> bool:
    names = [canonical(cell)[0] for cell in cells]
    return any(name in FIGURES for name in names) and all(_FIELD.fullmatch(name) for name in names if name)


def _is_bare_row(cells: list[str]) -> bool:
    """A row of a log without header begins with a time stamp and goes on with values."""
    return len(cells) >= 2 and _is_time(cells[0])


def _is_time(cell: str) -> bool:
    return parse_time(cell) is not None and not cell.isdigit()
