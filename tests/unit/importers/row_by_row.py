"""The slow and plain way to read a query log: line by line and cell by cell. What the fast way has to agree with."""

from __future__ import annotations

import csv
import math
from typing import NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.importers.smi.columns import Column, columns_of
from gpuscope.importers.smi.devices import FACTS
from gpuscope.importers.smi.fields import FIGURES, canonical
from gpuscope.importers.times import parse_time

_NO_FIGURES = FACTS - {"mig.mode.current", "pcie.link.gen.max", "pcie.link.width.max"}


class PlainRow(NamedTuple):
    """One row."""

    line: int
    wall_s: float
    facts: dict[str, str]
    figures: dict[str, float]
    reasons: dict[str, Reason]


class PlainLog(NamedTuple):
    """The rows of a log, and its lines that are none."""

    rows: list[PlainRow]
    lost: list[int]


def read_plainly(text: str, delimiter: str = ",", *, decimal_comma: bool = False) -> PlainLog:
    """Read a log that begins with a heading and ends with the end of a line."""
    log = PlainLog([], [])
    columns: list[Column] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
        names = [canonical(cell)[0] for cell in cells]
        if any(name in FIGURES for name in names) and all(name[0].isalpha() for name in names if name):
            columns = columns_of(cells, decimal_comma=decimal_comma)
        elif len(cells) == len(columns):
            log.rows.append(_row(number, columns, cells))
        else:
            log.lost.append(number)
    return log


def _row(number: int, columns: list[Column], cells: list[str]) -> PlainRow:
    row = PlainRow(number, math.nan, {}, {}, {})
    masks: list[int] = []
    for column, cell in zip(columns, cells, strict=True):
        if column.name == "timestamp":
            time = parse_time(cell)
            row = row if time is None else row._replace(wall_s=time[0])
        elif column.flag is not None:
            active = column.is_active(cell)
            masks += [] if active is None else [column.flag if active else 0]
        elif column.field is not None:
            _take(row, column.field, column, cell)
        else:
            row.facts[column.name] = cell
            if column.name not in _NO_FIGURES:
                _take(row, column.name, column, cell)
    if masks:
        row.figures.setdefault("clock_event_reasons", float(sum(set(masks))))
    return row


def _take(row: PlainRow, name: str, column: Column, cell: str) -> None:
    found = column.number(cell)
    if found.reason is None:
        row.figures.setdefault(name, found.value)
    elif column.field is not None or found.reason is not Reason.IMPLAUSIBLE:
        row.reasons[name] = found.reason
