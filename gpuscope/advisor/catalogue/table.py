"""Read the catalogue's CSV files so that each mistake is named with its file and line."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from gpuscope.errors import CatalogueError


class Remedy(NamedTuple):
    """What a person can do about a file that is wrong, as sentences."""

    line: str
    """About one line."""
    file: str
    """About a file that cannot be read at all."""


SHIPPED = Remedy("Correct the line or take the file from the gpuscope release.", "Reinstall gpuscope.")
GIVEN = Remedy("Correct the line.", "Give a CSV file in UTF-8 with a header line.")
"""For files that the person gave."""


class Row:
    """One line of a catalogue file. An empty cell is None.

    Args:
        path: the file, for messages.
        line: line number in it.
        cells: by column name.
        remedy: what to do about a mistake.
    """

    def __init__(self, path: Path, line: int, cells: dict[str, str], remedy: Remedy = SHIPPED) -> None:
        self._path = path
        self._line = line
        self._cells = cells
        self._remedy = remedy

    def error(self, problem: str) -> CatalogueError:
        """An error that names this file and line."""
        return CatalogueError(f"{self._path}, line {self._line}: {problem}. {self._remedy.line}")

    def has(self, column: str) -> bool:
        """Whether the file has such a column."""
        return column in self._cells

    def optional(self, column: str) -> str | None:
        """Text, or None when the cell is empty."""
        return self._cells[column].strip() or None

    def text(self, column: str) -> str:
        """Text that may be empty."""
        return self._cells[column].strip()

    def required(self, column: str) -> str:
        """Text that has to be there.

        Raises:
            CatalogueError: the cell is empty.
        """
        value = self.optional(column)
        if value is None:
            raise self.error(f"the column {column} is empty")
        return value

    def number(self, column: str) -> float | None:
        """A number that is not negative, or None when the cell is empty.

        Raises:
            CatalogueError: the cell is no number, is negative or is not finite.
        """
        text = self.optional(column)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            raise self.error(f"{text!r} in the column {column} is not a number") from None
        if not math.isfinite(value) or value < 0:
            raise self.error(f"{text} in the column {column} must be a number that is not negative")
        return value

    def positive(self, column: str) -> float:
        """A number above zero that has to be there.

        Raises:
            CatalogueError: it is missing or not above zero.
        """
        value = self.number(column)
        if not value:
            raise self.error(f"the column {column} needs a number above zero")
        return value

    def price(self, column: str) -> float | None:
        """A price, or None when it is not known. A price of 0 is a mistake: nothing is free.

        Raises:
            CatalogueError: the price is 0, negative or no number.
        """
        value = self.number(column)
        if value == 0:
            raise self.error(f"the price in the column {column} is 0; leave it empty when it is not known")
        return value

    def whole(self, column: str) -> int | None:
        """A whole number, or None when the cell is empty.

        Raises:
            CatalogueError: it is none.
        """
        value = self.number(column)
        if value is None:
            return None
        if value != int(value):
            raise self.error(f"{value:g} in the column {column} is not a whole number")
        return int(value)

    def day(self, column: str) -> str | None:
        """An ISO date, or None when the cell is empty.

        Raises:
            CatalogueError: it is no date.
        """
        text = self.optional(column)
        if text is not None:
            try:
                date.fromisoformat(text)
            except ValueError:
                raise self.error(f"{text!r} in the column {column} is not a date like 2026-07-20") from None
        return text


def read_header(path: Path, remedy: Remedy = SHIPPED) -> tuple[str, ...]:
    """Names of the columns of a CSV file.

    Raises:
        CatalogueError: the file cannot be read.
    """
    try:
        return tuple(csv.DictReader(io.StringIO(_text(path, remedy), newline="")).fieldnames or ())
    except csv.Error as error:
        raise _unreadable(path, error, remedy) from error


def read_rows(path: Path, columns: Sequence[str], remedy: Remedy = SHIPPED) -> Iterator[Row]:
    """The rows of a catalogue file.

    Args:
        path: a UTF-8 CSV file with a header line.
        columns: names of the columns that have to be there; others are ignored.
        remedy: what to do about a mistake.

    Raises:
        CatalogueError: the file cannot be read, lacks a column, or a line has another number of cells.
    """
    # Read at once: a reader that gives up after a wrong row leaves no open file behind.
    reader = csv.DictReader(io.StringIO(_text(path, remedy), newline=""))
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise CatalogueError(f"{path}, line 1: the column {missing[0]} is missing. Put it back.")
        for cells in reader:
            row = Row(path, reader.line_num, cells, remedy)
            if None in cells or None in cells.values():
                raise row.error("the line has another number of cells than the header")
            yield row
    except csv.Error as error:
        raise _unreadable(path, error, remedy) from error


def _text(path: Path, remedy: Remedy) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error, remedy) from error


def _unreadable(path: Path, error: Exception, remedy: Remedy) -> CatalogueError:
    return CatalogueError(f"The catalogue file {path} cannot be read: {error}. {remedy.file}")
