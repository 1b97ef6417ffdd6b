"""The tables of `nvidia-smi dmon` and `pmon`: two heading lines that come again and again, blanks between columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.domain.whole_numbers import whole_number


class Heading(NamedTuple):
    """The columns of a table: the names of its first heading line, the units of its second."""

    names: tuple[str, ...]
    units: tuple[str, ...]


class MonitorRow(NamedTuple):
    """One row, with the heading that holds for it."""

    line: int
    heading: Heading
    cells: list[str]


def heading_of(line: str) -> tuple[str, ...] | None:
    """Names of a first heading line (`# gpu pwr`, `#Date Time gpu`, `#gpu, pwr`), in lower case; None: it is none."""
    if not line.startswith("#"):
        return None
    names = tuple(line[1:].lower().replace(",", " ").split())
    times = ("date", "time")
    leading = next((at for at, name in enumerate(names) if name not in times), len(names))
    # Comments of other programs begin with # too, and speak of GPUs.
    return names if names[leading : leading + 1] == ("gpu",) else None


def rows_of(text: str, *, last_takes_rest: bool) -> Iterator[MonitorRow | int]:
    """Rows in the order of the file; the number of a line that is no row stands for itself.

    Args:
        text: the whole file.
        last_takes_rest: the last column is a name that may hold blanks.
    """
    heading: Heading | None = None
    for number, line in enumerate(text.split("\n"), 1):
        names = heading_of(line)
        if names is not None:
            heading = Heading(names, ())
        elif line.startswith("#"):
            if heading is not None:
                heading = heading._replace(units=tuple(line[1:].split()))
        elif line.strip():
            cells = line.split(None, len(heading.names) - 1) if heading and last_takes_rest else line.split()
            if heading is None or len(cells) != len(heading.names) or not _is_index(cells[heading.names.index("gpu")]):
                yield number
            else:
                yield MonitorRow(number, heading, [cell.strip() for cell in cells])


def _is_index(cell: str) -> bool:
    return whole_number(cell) is not None
