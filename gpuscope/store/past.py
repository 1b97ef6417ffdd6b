"""The older part of a session at once: coarse curves and the newest readings, for a viewer that opens it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gpuscope.domain.series import Envelope, Newest, Past, Series
from gpuscope.store.catalogue import Block, Catalogue
from gpuscope.store.figures import FIRST_REASON, MICROSECONDS, NOT_READ, PRESENT, reason_of, unpack_figure
from gpuscope.store.level_reading import LevelReader, envelope_of, envelope_of_readings, level_for
from gpuscope.store.stored_timeline import BlockSeries

MOST_ENTRIES = 60_000
"""Of a curve of the past: two days at ten readings a second; longer recordings come in a coarser level."""


class PastReader:
    """Reads curves from blocks and levels."""

    def __init__(self, catalogue: Catalogue, levels: LevelReader, clock_zero_us: int) -> None:
        """`clock_zero_us`: the monotonic clock at session time 0."""
        self._catalogue = catalogue
        self._levels = levels
        self._zero_us = clock_zero_us
        self._series = BlockSeries(catalogue, clock_zero_us)

    def envelope(self, device: str, name: str, start_s: float, end_s: float, points: int) -> Envelope:
        """A figure between two moments, in at least `points` stretches where there are so many readings."""
        blocks = [block for block in self._catalogue.blocks_of(device) if _overlap(block, start_s, end_s)]
        rows = sum(_share(block, start_s, end_s) * block.rows for block in blocks)
        level = level_for(int(rows * self._density(device, blocks)), points)
        if level:
            levels = self._levels.levels(device, frozenset({name}), level, start_s, end_s)
            found = None if levels is None else envelope_of(levels, name)
            if found is not None:
                return found
        return envelope_of_readings(self._series.get(device, name, start_s, end_s).between(start_s, end_s))

    def _density(self, device: str, blocks: list[Block]) -> float:
        """In what part of the frames the device is: the host is read less often than GPUs."""
        stored = self._catalogue.stored(device, blocks[0]) if blocks else None
        return 1.0 if stored is None else stored.rows.count / max(1, blocks[0].rows)

    def readings(self, device: str, name: str, start_s: float, end_s: float) -> Series:
        """Every reading of a figure between two moments."""
        return self._series.get(device, name, start_s, end_s).between(start_s, end_s)

    def past(self, names: Collection[str]) -> tuple[Past, int] | None:
        """All but the last minute of a recording that has blocks.

        Args:
            names: figures whose curves are wanted.

        Returns:
            The curves of all devices up to a moment and what was read last of every figure; and the number of the
            frame before that moment: the frames after it are to be had one by one. None where there are no blocks.
        """
        self._catalogue.refresh()
        blocks = self._catalogue.blocks
        if not blocks:
            return None
        last = max(blocks, key=lambda block: block.last_seq or 0)
        if any(block.first_seq is None for block in blocks):  # another program's recording: nothing is left to follow
            return self._past(names, max(block.end_s for block in blocks)), 0
        return self._past(names, last.start_s), (last.first_seq or 1) - 1

    def _past(self, names: Collection[str], end_s: float) -> Past:
        wanted = frozenset(names)
        curves: dict[tuple[str, str], Envelope] = {}
        newest: dict[tuple[str, str], Newest] = {}
        for device in self._catalogue.devices:
            blocks = self._catalogue.blocks_of(device)
            level = 1 + level_for(sum(block.rows for block in blocks), MOST_ENTRIES)
            levels = self._levels.levels(device, wanted, level, -np.inf, end_s)
            for name in () if levels is None else levels.names:
                found = envelope_of(levels, name) if levels is not None else None
                if found is not None:
                    curves[device, name] = found
            for block in sorted(blocks, key=lambda block: block.end_s)[-1:]:
                newest |= {(device, name): last for name, last in self._newest(device, block).items()}
        return Past(end_s, curves, newest)

    def _newest(self, device: str, block: Block) -> dict[str, Newest]:
        stored, times = self._catalogue.stored(device, block), self._catalogue.times(block)
        found: dict[str, Newest] = {}
        if stored is None or times is None:
            return found
        with self._catalogue.damage_noted("columns"):
            t_us = times[0][self._catalogue.rows_of(stored, len(times[0]))]
            for figure in stored.figures:
                column = unpack_figure(figure, t_us + self._zero_us)
                read = np.flatnonzero(column.states != NOT_READ)
                if not len(read) or column.parts > 1:
                    continue
                t = int(t_us[read[-1]]) / MICROSECONDS
                place = int(column.states[read[-1]]) - FIRST_REASON
                if column.states[read[-1]] == PRESENT:
                    found[figure.name] = Newest(t, float(column.values[-1]), None)
                else:
                    code = stored.reasons[place] if place < len(stored.reasons) else ""
                    found[figure.name] = Newest(t, None, reason_of(code))
        return found


def _overlap(block: Block, start_s: float, end_s: float) -> bool:
    return block.end_s >= start_s and block.start_s <= end_s


def _share(block: Block, start_s: float, end_s: float) -> float:
    length_s = block.end_s - block.start_s
    return 1.0 if length_s <= 0 else (min(end_s, block.end_s) - max(start_s, block.start_s)) / length_s
