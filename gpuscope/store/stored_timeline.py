"""All figures of a session over time, read from its blocks only when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuscope.domain.reasons import Reason
from gpuscope.domain.series import Series, Timeline
from gpuscope.errors import SessionError
from gpuscope.store.catalogue import Block, Catalogue
from gpuscope.store.codec import FloatArray, IntArray
from gpuscope.store.figures import (
    FIRST_REASON,
    MICROSECONDS,
    NOT_READ,
    Column,
    StoredDevice,
    reason_of,
    unpack_figure,
)

MAX_SERIES_VALUES = 1 << 26
"""Half a gigabyte of values: ten readings a second for eleven weeks."""


class BlockSeries:
    """Single figures out of a session's blocks."""

    def __init__(self, catalogue: Catalogue, clock_zero_us: int) -> None:
        """`clock_zero_us`: the monotonic clock at session time 0."""
        self._catalogue = catalogue
        self._zero_us = clock_zero_us

    def get(self, device: str, name: str, start_s: float = -np.inf, end_s: float = np.inf) -> Series:
        """The readings of a figure from the blocks that reach into a stretch of time.

        Raises:
            SessionError: it has more readings than fit into memory.
        """
        blocks = [
            block for block in self._catalogue.blocks_of(device) if block.end_s >= start_s and block.start_s <= end_s
        ]
        if sum(block.rows for block in blocks) > MAX_SERIES_VALUES:
            raise SessionError(f"The session holds too many readings of {name} to be read at once: record less often.")
        times, values = [np.empty(0)], [np.empty(0)]
        for block in blocks:
            with self._catalogue.damage_noted("columns"):
                part = self._part(device, name, block)
                if part is not None:
                    times.append(part[0])
                    values.append(part[1])
        t, all_values = np.concatenate(times), np.concatenate(values)
        if (np.diff(t) < 0).any():  # files of one run whose times overlap
            order = np.argsort(t, kind="stable")
            t, all_values = t[order], all_values[order]
        return Series(t, all_values)

    def reason(self, device: str, name: str) -> Reason | None:
        """Why a figure was last missing; None when it never was."""
        for block in reversed(self._catalogue.blocks_of(device)):
            with self._catalogue.damage_noted("columns"):
                found = self._column(device, name, block)
                if found is None:
                    continue
                column, stored, _ = found
                missing = column.states[column.states >= FIRST_REASON]
                if len(missing):
                    place = int(missing[-1]) - FIRST_REASON
                    return reason_of(stored.reasons[place] if place < len(stored.reasons) else "")
        return None

    def names(self, device: str) -> Iterator[str]:
        """The figures of a device in its last block."""
        for block in self._catalogue.blocks_of(device)[-1:]:
            stored = self._catalogue.stored(device, block)
            yield from (figure.name for figure in stored.figures) if stored is not None else ()

    def _part(self, device: str, name: str, block: Block) -> tuple[FloatArray, FloatArray] | None:
        found = self._column(device, name, block)
        if found is None or found[0].parts > 1:
            return None
        column, _, t_us = found
        t, values = t_us / MICROSECONDS, column.filled()
        asked = column.states != NOT_READ
        return (t, values) if asked.all() else (t[asked], values[asked])

    def _column(self, device: str, name: str, block: Block) -> tuple[Column, StoredDevice, IntArray] | None:
        stored = self._catalogue.stored(device, block)
        figure = next((figure for figure in stored.figures if figure.name == name), None) if stored else None
        times = self._catalogue.times(block)
        if stored is None or figure is None or times is None:
            return None
        t_us = times[0][self._catalogue.rows_of(stored, len(times[0]))]
        return unpack_figure(figure, t_us + self._zero_us), stored, t_us


class StoredTimeline(Timeline):
    """A timeline whose older part stays in the file until a figure of it is asked for; the file has to stay open."""

    def __init__(self, created_monotonic_s: float, blocks: BlockSeries, blocks_end_s: float) -> None:
        """Add the frames that are in no block yet."""
        super().__init__(created_monotonic_s)
        self._blocks = blocks
        self.end_s = blocks_end_s

    def get(self, key: str, name: str) -> Series:
        """The series of a field; empty when it was never read."""
        older, newer = self._blocks.get(key, name), super().get(key, name)
        if not len(newer.t):
            return older
        if not len(older.t):
            return newer
        t, values = np.concatenate([older.t, newer.t]), np.concatenate([older.values, newer.values])
        if newer.t[0] < older.t[-1]:
            order = np.argsort(t, kind="stable")
            t, values = t[order], values[order]
        return Series(t, values)

    def reason(self, key: str, name: str) -> Reason | None:
        """Why the field was last missing; None when it never was."""
        return super().reason(key, name) or self._blocks.reason(key, name)
