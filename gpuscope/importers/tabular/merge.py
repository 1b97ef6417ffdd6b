"""Rows as they are collected: columns that grow block by block, and their order by the lines of the file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuscope.domain.series import FloatArray
from gpuscope.importers.reading import Track
from gpuscope.importers.tabular.blocks import Positions
from gpuscope.importers.tabular.numbers import REASONS, Figures


@dataclass(slots=True)
class Rows:
    """Rows of one grid, read."""

    lines: Positions
    """Their numbers in the file."""
    wall_s: FloatArray
    """NaN where a row has no readable time."""
    texts: dict[str, Positions] = field(default_factory=dict)
    """By column: places in a list of texts, -1 where a row has no such column."""
    figures: dict[Any, Figures] = field(default_factory=dict)
    """By whatever tells the figures of a file apart."""
    zones: set[bool] = field(default_factory=set)
    """Whether the zone of the times is known."""


def merged(parts: Sequence[Rows]) -> Rows:
    """The rows of several grids in the order of their lines."""
    if len(parts) == 1:
        return parts[0]
    lines = np.concatenate([part.lines for part in parts])
    places = np.empty(len(lines), np.intp)
    places[np.argsort(lines, kind="stable")] = np.arange(len(lines))
    by_part = np.split(places, np.cumsum([len(part.lines) for part in parts])[:-1])
    whole = Rows(np.sort(lines), np.full(len(lines), math.nan), zones=set().union(*(part.zones for part in parts)))
    for part, own in zip(parts, by_part, strict=True):
        whole.wall_s[own] = part.wall_s
        for name, codes in part.texts.items():
            whole.texts.setdefault(name, np.full(len(lines), -1, np.intp))[own] = codes
        for key, figures in part.figures.items():
            empty = Figures(np.full(len(lines), math.nan), None)
            whole.figures[key] = placed(whole.figures.get(key, empty), figures, own)
    return whole


def joined(first: Figures | None, second: Figures) -> Figures:
    """Two columns for one figure: the first that has a value counts, and the last reason."""
    if first is None:
        return second
    values = np.where(np.isnan(first.values), second.values, first.values)
    if first.reasons is None or second.reasons is None:
        return Figures(values, second.reasons if first.reasons is None else first.reasons)
    return Figures(values, np.where(second.reasons > 0, second.reasons, first.reasons))


def placed(whole: Figures, part: Figures, places: Positions) -> Figures:
    """Put some rows of a column where they belong; the whole's values are changed."""
    whole.values[places] = part.values
    if part.reasons is None:
        return whole
    reasons = np.zeros(len(whole.values), np.uint8) if whole.reasons is None else whole.reasons
    reasons[places] = part.reasons
    return Figures(whole.values, reasons)


class GrowingColumn:
    """Pieces of one column by the row that they begin with; rows between them hold nothing."""

    def __init__(self) -> None:
        """No rows."""
        self._pieces: list[tuple[int, NDArray[Any]]] = []

    def add(self, row: int, values: NDArray[Any]) -> None:
        """A piece that begins with a row."""
        self._pieces.append((row, _compact(values)))

    def taken(self, rows: int, nothing: float, kind: type[np.generic]) -> NDArray[Any]:
        """All rows as one array. The pieces are given up, so that a column is not held twice."""
        whole = np.full(rows, nothing, kind)
        for row, values in self._pieces:
            whole[row : row + len(values)] = values
        self._pieces.clear()
        return whole


def _compact(values: NDArray[Any]) -> NDArray[Any]:
    """The same values in less memory, where a smaller type or one value for all holds them exactly."""
    if values.dtype != np.float64 or not len(values):
        return values
    if (values == values[0]).all() or np.isnan(values).all():
        return np.broadcast_to(values[:1].copy(), values.shape)
    with np.errstate(over="ignore"):
        small = values.astype(np.float32)
    return small if np.array_equal(small, values, equal_nan=True) else values


class GrowingFigures:
    """A figure's values, and why some are missing."""

    def __init__(self) -> None:
        """No rows."""
        self._values = GrowingColumn()
        self._reasons = GrowingColumn()
        self.has_reasons = False

    def add(self, row: int, figures: Figures) -> None:
        """The next rows."""
        self._values.add(row, figures.values)
        if figures.reasons is not None:
            self._reasons.add(row, figures.reasons)
            self.has_reasons = True

    def taken(self, rows: int) -> Figures:
        """All rows; see `GrowingColumn.taken`."""
        reasons = self._reasons.taken(rows, 0, np.uint8) if self.has_reasons else None
        return Figures(self._values.taken(rows, math.nan, np.float64), reasons)


def add_column(track: Track, name: str, figures: Figures) -> None:
    """Put a figure into a track that has its times already; one without any value and reason is none of its."""
    given = np.empty(0, np.uint8) if figures.reasons is None else figures.reasons[figures.reasons > 0]
    if len(given):
        track.reasons[name] = REASONS[int(given[-1]) - 1]
    if len(given) or not np.isnan(figures.values).all():
        track.add_figure(name, figures.values)
