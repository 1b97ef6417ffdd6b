"""Tables that no reader knows: what is in them, and what their columns are taken for until the person says it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gpuscope.engine.import_columns import remember, remembered
from gpuscope.engine.input_file import is_stream, opened
from gpuscope.errors import UsageError
from gpuscope.importers.cells import parse_cell
from gpuscope.importers.compressed import head_of
from gpuscope.importers.mapped_csv import guess
from gpuscope.importers.monitors.wide_csv import delimiter_of, heading_of, row_of
from gpuscope.importers.recognise import is_known
from gpuscope.importers.text import decode

_HEAD_BYTES = 100_000
_MOST_FILE_BYTES = 1 << 62
_SAMPLED_ROWS = 3


class UnknownTable(NamedTuple):
    """The beginning of a table."""

    path: Path
    names: tuple[str, ...]
    """Of its columns."""
    rows: tuple[tuple[str, ...], ...]
    """The first ones."""
    meanings: tuple[str, ...]
    """What each column is taken for: what was said of such a table before, else a guess."""


def unknown_table(path: Path) -> UnknownTable | None:
    """Look at a file; None: a reader knows it, it is no table, or it can be read once only.

    Raises:
        UsageError: it cannot be read.
    """
    if is_stream(path):
        return None
    with opened(path, _MOST_FILE_BYTES) as data:
        if is_known(data):
            return None
        text, _ = decode(head_of(data, _HEAD_BYTES))
    lines = [line for line in text.split("\n") if line.strip()][: _SAMPLED_ROWS + 1]
    names = heading_of(lines[0]) if lines else []
    rows = [row_of(line, len(names), delimiter_of(lines[0])) or [] for line in lines[1:]]
    if len(names) < 2 or not rows or not all(_is_row(row, names) for row in rows):
        return None
    said = remembered(tuple(names))
    meanings = tuple(column.meaning for column in guess(names, rows[0], said))
    return UnknownTable(path, tuple(names), tuple(map(tuple, rows)), meanings)


def say_what_it_is(table: UnknownTable, meanings: dict[str, str]) -> None:
    """Read tables with this heading so from now on.

    Args:
        table: one of them.
        meanings: what each column is (importers.mapped_csv).

    Raises:
        UsageError: a column is none of the table's.
    """
    strange = [column for column in meanings if column not in table.names]
    if strange:
        raise UsageError(f"The table has no column {strange[0]!r}.")
    remember(table.names, meanings)


def _is_row(row: list[str], names: list[str]) -> bool:
    return len(row) == len(names) and any(parse_cell(cell)[0].reason is None for cell in row)
