"""Columns of a query log: what each is, and its cells as numbers."""

from __future__ import annotations

import math
import re

from gpuscope.domain.reasons import Reason
from gpuscope.importers.cells import Cell, parse_cell
from gpuscope.importers.smi.fields import FIGURES, REASON_BITS, canonical, scale_of
from gpuscope.importers.times import parse_time

_FLAG = "clocks_event_reasons."
_MOST_REMEMBERED = 100_000
"""Different cells of a column whose numbers are remembered: monitors print the same few again and again."""


class Column:
    """One column: its field under the present name, and the meaning of its cells.

    Args:
        name: canonical field name, such as `utilization.gpu`.
        unit: of the heading; empty: none.
        decimal_comma: the file writes decimal commas.
    """

    def __init__(self, name: str, unit: str = "", *, decimal_comma: bool = False) -> None:
        self.name = name
        self.unit = unit
        self.unit_printed = False
        """Whether cells carry their unit."""
        figure = FIGURES.get(name)
        self.field = figure.field if figure else None
        """Of GpuSample; None: not a figure."""
        self.flag = REASON_BITS.get(name.removeprefix(_FLAG)) if name.startswith(_FLAG) else None
        """Bit of the clock-event reason that an Active / Not Active column is about."""
        self._figure = figure
        self.decimal_mark = "," if decimal_comma else "."
        self._known: dict[str, Cell] = {}

    def number(self, cell: str) -> Cell:
        """The figure of a cell in the field's unit."""
        found = self._known.get(cell)
        if found is None:
            found = self._parse(cell)
            if len(self._known) < _MOST_REMEMBERED:
                self._known[cell] = found
        return found

    def _parse(self, cell: str) -> Cell:
        if self.name == "pstate":
            match = re.fullmatch(r"P(\d+)", cell)
            return (
                Cell(float(match.group(1)))
                if match
                else Cell(math.nan, parse_cell(cell)[0].reason or Reason.IMPLAUSIBLE)
            )
        parsed, unit = parse_cell(cell, decimal_comma=self.decimal_mark == ",")
        if unit:
            self.unit_printed = True
        if parsed.reason is not None or self._figure is None:
            return parsed
        return Cell(parsed.value * self.factor(unit))

    def factor(self, unit: str) -> float:
        """From a number with a printed unit (empty: none) to the field's."""
        return 1.0 if self._figure is None else scale_of(unit or self.unit, self._figure)

    def is_active(self, cell: str) -> bool | None:
        """Whether a flag is set; None where the cell does not say."""
        return {"active": True, "not active": False}.get(cell.strip("[] ").lower())


def columns_of(headings: list[str], *, decimal_comma: bool) -> list[Column]:
    """The columns of a header line."""
    return [Column(*canonical(heading), decimal_comma=decimal_comma) for heading in headings]


def guessed_columns(cells: list[str], *, decimal_comma: bool) -> list[Column]:
    """Columns of a log without header: the time is sure, units tell some, and nothing else is taken for anything.

    A bare percentage that comes first is the usual `utilization.gpu`, and a bare MiB the usual `memory.used`.
    """
    columns = []
    taken: set[str] = set()
    for cell in cells:
        name = _guess(cell, taken)
        taken.add(name)
        columns.append(Column(name, decimal_comma=decimal_comma))
    return columns


_BY_UNIT = {
    "%": ("utilization.gpu", "utilization.memory"),
    "MiB": ("memory.used", "memory.free"),
    "W": ("power.draw", "power.limit"),
    "MHz": ("clocks.current.sm", "clocks.current.memory"),
}


def _guess(cell: str, taken: set[str]) -> str:
    if parse_time(cell) is not None and not cell.isdigit():
        return "timestamp"
    parsed, unit = parse_cell(cell)
    if parsed.reason is None and unit in _BY_UNIT:
        return next((name for name in _BY_UNIT[unit] if name not in taken), f"column {len(taken) + 1}")
    if parsed.reason is Reason.IMPLAUSIBLE and re.match(r"(NVIDIA|Tesla|GeForce|Quadro|TITAN|RTX|GRID)", cell):
        return "name"
    return f"column {len(taken) + 1}"
