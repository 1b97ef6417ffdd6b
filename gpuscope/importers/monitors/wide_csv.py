"""Tables with one row a moment and a column for each figure of each device."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.importers.cells import Cell, parse_cell
from gpuscope.importers.notes import OTHER_WIDTH
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.times import parse_time

_MOST_CELL = 1_000_000


class Target(NamedTuple):
    """What a column is."""

    device: str
    """Key of the device; empty: the time of the row."""
    field: str
    """Of GpuSample, or the column's own name; for the time: absolute or relative (seconds since the beginning)."""
    scale: float = 1.0


TIME, SECONDS = Target("", "absolute"), Target("", "relative")


def read_rows(reading: Reading, lines: list[str], targets: list[Target | None], make: Callable[[str], Device]) -> None:
    """Read the rows below a heading.

    Args:
        reading: gets a sample of each device a row, and a note on rows of another width.
        lines: below the heading.
        targets: what each column is; None: nothing that is read.
        make: the device of a key.
    """
    lost: list[int] = []
    keys = list(dict.fromkeys(target.device for target in targets if target is not None and target.device))
    for number, row in enumerate(_rows(lines)):
        if row is None or len(row) != len(targets):
            lost.append(number)
            continue
        wall_s = float(reading.rows)
        cells: dict[str, dict[str, Cell]] = {key: {} for key in keys}
        for target, text in zip(targets, row, strict=True):
            if target in (TIME, SECONDS):
                wall_s = _time(text, wall_s, absolute=target == TIME)
            elif target is not None:
                cells[target.device][target.field] = _cell(text, target.scale)
        for key, figures in cells.items():
            reading.add(key, make(key), wall_s, figures)
    reading.rows = sum(1 for line in lines if line.strip()) - len(lost)
    if lost:
        reading.notes.append(Note(code="lost", sentence=OTHER_WIDTH, count=len(lost)))


def heading_of(line: str) -> list[str]:
    """The names of a heading line."""
    row = next(_rows([line]), None)
    return row or []


def _rows(lines: list[str]) -> Iterator[list[str] | None]:
    """Cells of each line that is not empty; None for one that is no row. A comma at the end is no column."""
    for line in lines:
        if not line.strip():
            continue
        if len(line) > _MOST_CELL:
            yield None
            continue
        try:
            row = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
        except (csv.Error, StopIteration):
            yield None
            continue
        yield row[:-1] if line.rstrip().endswith(",") and row and not row[-1] else row


def _time(text: str, before: float, *, absolute: bool) -> float:
    if absolute:
        parsed = parse_time(text)
        return before if parsed is None else parsed[0]
    value = parse_cell(text)[0].value
    return before if math.isnan(value) else value


def _cell(text: str, scale: float) -> Cell:
    cell = parse_cell(text)[0]
    if cell.reason is Reason.NOT_SUPPORTED and not text.strip():
        return Cell(math.nan, Reason.NO_DATA)
    return cell._replace(value=cell.value * scale)
