"""Cells as figures: those of one form together, the others each by itself, with the same result."""

from __future__ import annotations

import math
import re
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sentinels import BLANKS
from gpuscope.domain.series import FloatArray
from gpuscope.importers.cells import Cell
from gpuscope.importers.tabular.blocks import Block, Mask, Positions
from gpuscope.importers.tabular.decimals import long_decimals
from gpuscope.importers.tabular.digits import WORD_BYTES, ends_with, number_before
from gpuscope.importers.tabular.distinct import distinct_texts
from gpuscope.importers.tabular.grid import Grid

_FORM = re.compile(r"(\d{1,15})(?:([.,])(\d{1,8}))?( ?[A-WYZa-wyz%/][A-Za-z%/]{0,5})?")
"""What most cells look like: digits, and a unit. `x` would begin a hexadecimal number."""
_MOST_DIGITS = 15
"""Every decimal of so many digits is a quotient of two numbers that a float holds exactly: its nearest float."""
_MOST_FORMS = 8
"""Of one column; each takes a pass over what is left, and cells of still others are read one by one."""
_SAMPLED = 12
"""Cells that are looked at for a form which fits those left."""

REASONS = tuple(Reason)
ReasonCodes = NDArray[np.uint8]
"""For each row 0, or the place of its reason in `REASONS`, from 1."""


class NumberColumn(Protocol):
    """What tells how the cells of a column read."""

    decimal_mark: str
    """`.` or `,`."""

    def number(self, cell: str) -> Cell:
        """The figure of a cell in its field's unit, or why it is not there."""
        ...

    def factor(self, unit: str) -> float:
        """From a printed number with a unit (empty: none) to the field's unit."""
        ...


class Form(NamedTuple):
    """How cells of a column are written."""

    decimals: int
    suffix: bytes
    factor: float


class Figures(NamedTuple):
    """A column's cells, NaN where there is none, and why."""

    values: FloatArray
    reasons: ReasonCodes | None
    """None: no cell gives one."""

    def at(self, rows: Positions) -> Figures:
        """Some of the rows."""
        return Figures(self.values[rows], None if self.reasons is None else self.reasons[rows])


class NumberReader:
    """Reads one column block by block; remembers which forms its cells had."""

    def __init__(self, column: NumberColumn) -> None:
        """Nothing is known of the cells yet."""
        self._column = column
        self._forms: list[Form] = []

    def read(self, grid: Grid, at: int) -> Figures:
        """The figures of a grid's column."""
        values = np.full(grid.rows, math.nan)
        left = np.arange(grid.rows)
        for form in self._forms:
            left = self._take(grid, at, form, left, values)
        while len(left) and len(self._forms) < _MOST_FORMS:
            new = self._new_form(grid, at, left)
            if new is None:
                break
            self._forms.append(new)
            left = self._take(grid, at, new, left, values)
        if len(left) > _SAMPLED:
            left = self._take_long(grid, at, left, values)
        return Figures(values, self._take_singly(grid, at, left, values) if len(left) else None)

    def _take(self, grid: Grid, at: int, form: Form, left: Positions, values: FloatArray) -> Positions:
        """Fill in the cells of a form; returns the rows that are of another."""
        if not len(left):
            return left
        everything = len(left) == grid.rows
        starts, ends = (where[at] if everything else where[at][left] for where in (grid.starts, grid.ends))
        numbers, fits = _numbers(grid.block, starts, ends, form, self._column.decimal_mark)
        if fits.all():
            values[left] = numbers
            return left[:0]
        values[left[fits]] = numbers[fits]
        return left[~fits]

    def _take_long(self, grid: Grid, at: int, left: Positions, values: FloatArray) -> Positions:
        """Fill in decimals of many digits, where the column reads them as numbers; returns the other rows."""
        numbers, fits = long_decimals(grid.block, grid.starts[at][left], grid.ends[at][left])
        if not fits.any() or self._column.decimal_mark != ".":
            return left
        numbers = numbers * self._column.factor("")
        first = int(np.flatnonzero(fits)[0])
        if self._column.number(grid.text(at, int(left[first]))).value != numbers[first]:
            return left
        values[left[fits]] = numbers[fits]
        return left[~fits]

    def _new_form(self, grid: Grid, at: int, left: Positions) -> Form | None:
        for row in left[np.unique(np.linspace(0, len(left) - 1, _SAMPLED).astype(np.intp))]:
            text = grid.text(at, int(row))
            form = self._form(text)
            if form is not None and form not in self._forms:
                return form
        return None

    def _form(self, text: str) -> Form | None:
        match = _FORM.fullmatch(text)
        if match is None or (match.group(2) or self._column.decimal_mark) != self._column.decimal_mark:
            return None
        whole, _, fraction, suffix = match.groups(default="")
        if len(whole) + len(fraction) > _MOST_DIGITS or float(whole) in BLANKS:
            return None
        factor = self._column.factor(suffix.strip())
        number = self._column.number(text)  # where the column reads the cell otherwise, it has no such form
        same = number.reason is None and number.value == float(f"{whole}.{fraction or 0}") * factor
        return Form(len(fraction), suffix.encode(), factor) if same else None

    def _take_singly(self, grid: Grid, at: int, left: Positions, values: FloatArray) -> ReasonCodes | None:
        codes, texts = distinct_texts(grid.block, grid.starts[at][left], grid.ends[at][left])
        cells = [self._column.number(text) for text in texts]
        values[left] = np.array([cell.value for cell in cells])[codes]
        if all(cell.reason is None for cell in cells):
            return None
        reasons = np.zeros(grid.rows, np.uint8)
        reasons[left] = np.array([code_of(cell.reason) for cell in cells], np.uint8)[codes]
        return reasons


def code_of(reason: Reason | None) -> int:
    """The code of a reason; 0 for none."""
    return 0 if reason is None else REASONS.index(reason) + 1


def _numbers(block: Block, starts: Positions, ends: Positions, form: Form, mark: str) -> tuple[FloatArray, Mask]:
    """The figures of cells, and which of them have the form."""
    words = block.words
    behind = ends - len(form.suffix)
    fits = behind > starts
    if form.suffix:
        fits &= ends_with(words, ends, form.suffix)
    if form.decimals:
        fraction, are_digits = number_before(words, behind, form.decimals)
        behind = behind - form.decimals - 1
        fits &= are_digits & (block.bytes1[behind] == ord(mark))
    whole, are_digits = _whole_numbers(block, behind, behind - starts, _MOST_DIGITS - form.decimals)
    fits &= are_digits
    if form.decimals:
        power = 10**form.decimals
        numbers = (whole * np.uint64(power) + fraction).astype(np.float64) / power
    else:
        numbers = whole.astype(np.float64)
    if len(numbers) and numbers.max() >= min(BLANKS):
        fits &= ~np.isin(numbers, BLANKS)
    return numbers * form.factor if form.factor != 1.0 else numbers, fits


def _whole_numbers(block: Block, ends: Positions, counts: Positions, most: int) -> tuple[NDArray[np.uint64], Mask]:
    low, fits = number_before(block.words, ends, np.clip(counts, 0, WORD_BYTES))
    fits &= (counts > 0) & (counts <= most)
    longer = fits & (counts > WORD_BYTES)
    if longer.any():
        high, are_digits = number_before(block.words, ends - WORD_BYTES, np.clip(counts - WORD_BYTES, 0, WORD_BYTES))
        fits &= ~longer | are_digits
        low = np.where(longer, low + high * np.uint64(10**WORD_BYTES), low)
    return low, fits
