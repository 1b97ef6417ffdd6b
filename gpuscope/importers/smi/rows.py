"""Rows of a query log, sorted to the GPUs that they are about."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from gpuscope.domain.reasons import Reason
from gpuscope.domain.series import FloatArray
from gpuscope.importers.notes import NO_TIMES, LostLines
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.smi.columns import Column
from gpuscope.importers.smi.devices import FACTS, Facts, rows_by_key, track_of, with_sizes
from gpuscope.importers.smi.fields import IDENTITIES
from gpuscope.importers.tabular.blocks import Positions
from gpuscope.importers.tabular.clocks import read_dated_times, read_times
from gpuscope.importers.tabular.distinct import TextColumn, distinct_texts
from gpuscope.importers.tabular.grid import Grid
from gpuscope.importers.tabular.merge import GrowingColumn, GrowingFigures, Rows, add_column, joined, merged
from gpuscope.importers.tabular.numbers import Figures, NumberReader, code_of

_TIMELESS = "Rows without a readable time stamp were left out."
_MASK = "clock_event_reasons"
_IMPLAUSIBLE = code_of(Reason.IMPLAUSIBLE)
_TEXTS = frozenset({*IDENTITIES, "driver_version", "compute_cap", "vbios_version", "pci.bus", "pci.domain", "date"})
"""Columns that are no figures."""


class TableColumns:
    """The columns of a heading, with what was learned of their cells."""

    def __init__(self, columns: Sequence[Column]) -> None:
        """Nothing is known of the cells yet."""
        self.columns = tuple(columns)
        self.numbers = tuple(NumberReader(column) for column in columns)
        names = [column.name for column in columns]
        self.date_at = names.index("date") if "date" in names else None
        """Where a date has a column of its own, beside that of the time."""


class RowCollector:
    """Takes rows in the order of the file; `finish` puts them into the reading's tracks.

    Args:
        reading: gets the tracks and notes.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._count = 0
        self._wall_s = GrowingColumn()
        self._texts: dict[str, TextColumn] = defaultdict(TextColumn)
        self._codes: dict[str, GrowingColumn] = defaultdict(GrowingColumn)
        self._figures: dict[str, GrowingFigures] = defaultdict(GrowingFigures)
        self._zones: set[bool] = set()
        self._timeless = LostLines()

    def add(self, tables: Sequence[tuple[TableColumns, Grid]]) -> None:
        """The next rows of the file, in grids that may be interleaved: their lines tell the order."""
        parts = [self._read(columns, grid) for columns, grid in tables if grid.rows]
        if not parts:
            return
        self._store(merged(parts))

    def _read(self, table: TableColumns, grid: Grid) -> Rows:
        rows = Rows(grid.lines, np.full(grid.rows, math.nan))
        for at, column in enumerate(table.columns):
            if column.field is not None:
                _add(rows, column.field, table.numbers[at].read(grid, at))
            elif column.flag is None and column.name == "timestamp":
                self._read_time(table, rows, grid, at)
            elif column.flag is None:
                self._read_other(table, rows, grid, at)
        mask = _mask(table, grid)
        if mask is not None:
            _add(rows, _MASK, Figures(mask, None))
        return rows

    def _read_time(self, table: TableColumns, rows: Rows, grid: Grid, at: int) -> None:
        read = read_times(grid, at) if table.date_at is None else read_dated_times(grid, table.date_at, at)
        rows.wall_s = np.where(np.isnan(read.wall_s), rows.wall_s, read.wall_s)
        rows.zones |= read.zones

    def _read_other(self, table: TableColumns, rows: Rows, grid: Grid, at: int) -> None:
        """Facts of the GPU as texts; a figure that samples have no field for is kept under its own heading."""
        name = table.columns[at].name
        if name in FACTS:
            rows.texts[name] = self._texts[name].read(grid.block, grid.starts[at], grid.ends[at])
        if name not in _TEXTS:
            figures = table.numbers[at].read(grid, at)
            if figures.reasons is not None:
                figures = figures._replace(reasons=np.where(figures.reasons == _IMPLAUSIBLE, 0, figures.reasons))
            _add(rows, name, figures)

    def _store(self, rows: Rows) -> None:
        self._zones |= rows.zones
        timeless = np.isnan(rows.wall_s)
        if timeless.any():
            self._timeless.add(int(rows.lines[timeless][0]), int(timeless.sum()))
        self._wall_s.add(self._count, rows.wall_s)
        for name, codes in rows.texts.items():
            self._codes[name].add(self._count, codes.astype(np.int32))
        for name, figures in rows.figures.items():
            self._figures[name].add(self._count, figures)
        self._count += len(rows.lines)

    def finish(self) -> None:
        """Tell the GPUs apart and fill their tracks."""
        reading, count = self._reading, self._count
        reading.zone_known = self._zones == {True}
        if not count:
            reading.notes.append(Note(code="lost", sentence="The file holds no row that could be read."))
            return
        wall_s = self._wall_s.taken(count, math.nan, np.float64)
        no_times = self._timeless.count == count
        facts = {name: Facts(self._texts[name].texts, codes.taken(count, -1, np.int32))
                 for name, codes in self._codes.items()}  # fmt: skip
        chosen = np.flatnonzero(~np.isnan(wall_s)) if 0 < self._timeless.count < count else None
        reading.rows = count if chosen is None else len(chosen)
        rows = rows_by_key(reading, facts, wall_s, chosen)
        if no_times:
            reading.notes.append(NO_TIMES)
        else:
            self._timeless.note(reading, _TIMELESS)
        for position, (key, own) in enumerate(rows.items()):
            times = np.arange(len(own), dtype=np.float64) if no_times else wall_s[own]
            reading.tracks[key] = track_of(key, position, facts, own, times)
        del wall_s, facts  # what comes next needs memory of its own
        self._fill(list(rows.values()))

    def _fill(self, rows: Sequence[Positions]) -> None:
        """One figure after the other, so that no more than one is held twice."""
        tracks = list(self._reading.tracks.values())
        for name, figures in self._figures.items():
            whole = figures.taken(self._count)
            for track, own in zip(tracks, rows, strict=True):
                add_column(track, name, whole.at(own))
        for track in tracks:
            track.device = with_sizes(track)


def _add(rows: Rows, name: str, figures: Figures) -> None:
    rows.figures[name] = joined(rows.figures.get(name), figures)


def _mask(table: TableColumns, grid: Grid) -> FloatArray | None:
    """The bits of the columns that say Active or Not Active; NaN where none of them does. None: no such columns."""
    flags = [(at, column, column.flag) for at, column in enumerate(table.columns) if column.flag is not None]
    if not flags:
        return None
    bits, known = np.zeros(grid.rows, np.int64), np.zeros(grid.rows, np.bool_)
    for at, column, flag in flags:
        codes, texts = distinct_texts(grid.block, grid.starts[at], grid.ends[at])
        active = [column.is_active(text) for text in texts]
        bits |= np.array([flag if state else 0 for state in active], np.int64)[codes]
        known |= np.array([state is not None for state in active])[codes]
    return np.where(known, bits.astype(np.float64), math.nan)
