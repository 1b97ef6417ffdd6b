"""Frames of a session in their order, wherever they are: rows, blocks, or recordings of other programs."""

from __future__ import annotations

import heapq
import itertools
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gpuscope.domain.base import from_msgpack
from gpuscope.domain.run import Manifest
from gpuscope.domain.sample import Frame
from gpuscope.store.block_rows import clock_zero_us
from gpuscope.store.catalogue import Block, Catalogue
from gpuscope.store.codec import DamagedChunkError, IntArray, inflate, unseal
from gpuscope.store.figures import MICROSECONDS, reason_of, unpack_figure
from gpuscope.store.frame_columns import Remainder, joined_frame, samples_of
from gpuscope.store.row_reading import rows_after
from gpuscope.store.schema import MAX_VALUE_BYTES

ROWS_AT_ONCE = 500
Figures = dict[str, dict[str, Any]]
"""What samples are built from, by device."""


class StoredFrames:
    """Gives every frame once and in order, also while its rows are being moved into a block."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        catalogue: Catalogue | None,
        manifest: Manifest,
        note_damage: Callable[[str], None],
    ) -> None:
        """`catalogue`: None for a session of version 1, which has rows only."""
        self._connection = connection
        self._catalogue = catalogue
        self._zero_us = clock_zero_us(manifest)
        self._wall_zero_us = round(manifest.created_wall_s * MICROSECONDS)
        self._note_damage = note_damage

    def after(self, after: int, limit: int = -1) -> Iterator[tuple[int, Frame]]:
        """Frames with a larger number, at most `limit` (-1: all), with their numbers.

        Where another program's recordings are in the session, frames are numbered by their time.
        """
        blocks = [] if self._catalogue is None else self._refreshed(self._catalogue)
        if self._catalogue is not None and any(block.first_seq is None for block in blocks):
            by_time = enumerate(self._by_time(self._catalogue), start=1)
            found: Iterator[tuple[int, Frame]] = itertools.islice(by_time, after, None)
        else:
            found = self._by_number(after)
        return found if limit < 0 else itertools.islice(found, limit)

    def recorded(self, after: int, limit: int = -1) -> Iterator[tuple[int, Frame]]:
        """As `after`, without other programs' recordings, and always numbered as they were written."""
        found = self._by_number(after)
        return found if limit < 0 else itertools.islice(found, limit)

    def remainders(self) -> Iterator[Frame]:
        """What of the frames in blocks is no figure (process lists and the like), without times; then rows as they are.

        Much faster than whole frames.
        """
        last = 0
        if self._catalogue is not None:
            for block in self._refreshed(self._catalogue):
                last = max(last, block.last_seq or 0)
                yield from (left.frame for left in self._left(self._catalogue, block))
        yield from (frame for _, frame in self.rows(last))

    def rows(self, after: int = 0, limit: int = -1) -> Iterator[tuple[int, Frame]]:
        """Frames that are in no block (yet)."""
        for row in rows_after(self._connection, "frames", "seq, data", after, limit, self._note_damage):
            try:
                yield row[0], from_msgpack(row[1], Frame)
            except (msgspec.MsgspecError, TypeError, ValueError):  # TypeError: NULL out of a zeroed page
                self._note_damage("frames")

    def _by_number(self, after: int) -> Iterator[tuple[int, Frame]]:
        while True:
            block = self._block_after(after)
            if block is not None and self._catalogue is not None:
                for number, frame in self._numbered(self._catalogue, block):
                    if number > after:
                        yield number, frame
                after = block.last_seq or after
                continue
            rows = list(self.rows(after, ROWS_AT_ONCE))
            if not rows:
                return
            if rows[0][0] > after + 1 and self._block_after(after) is not None:
                continue  # moved into a block between the two looks
            yield from rows
            after = rows[-1][0]

    def _block_after(self, after: int) -> Block | None:
        """The block that holds the next frame, if it is in one."""
        if self._catalogue is None:
            return None
        found = [block for block in self._catalogue.blocks if (block.last_seq or 0) > after]
        if not found:
            found = [block for block in self._refreshed(self._catalogue) if (block.last_seq or 0) > after]
        return min(found, key=lambda block: block.last_seq or 0, default=None)

    def _numbered(self, catalogue: Catalogue, block: Block) -> Iterator[tuple[int, Frame]]:
        return enumerate(self._block_frames(catalogue, block), start=block.first_seq or 0)

    def _block_frames(self, catalogue: Catalogue, block: Block) -> Iterator[Frame]:
        times = catalogue.times(block)
        if times is None:
            return
        t_us, wall_us = times
        figures: list[Figures] = [{} for _ in range(len(t_us))]
        for device in catalogue.devices_of(block):
            with catalogue.damage_noted("columns"):
                rows, samples = self._samples(catalogue, device, block, t_us)
                for row, sample in zip(rows, samples, strict=True):
                    figures[row][device] = sample
        left = {remainder.row: remainder for remainder in self._left(catalogue, block)}
        clock_us = t_us + self._zero_us
        wall = clock_us + (wall_us if wall_us is not None else self._wall_zero_us - self._zero_us)
        seconds = (clock_us / MICROSECONDS).tolist(), (wall / MICROSECONDS).tolist()
        for row, (monotonic_s, wall_s) in enumerate(zip(*seconds, strict=True)):
            yield joined_frame(monotonic_s, wall_s, figures[row], left.get(row))

    def _samples(
        self, catalogue: Catalogue, device: str, block: Block, t_us: IntArray
    ) -> tuple[list[int], list[dict[str, Any]]]:
        """What the samples of a device are built from, and which rows of the block they belong to."""
        stored = catalogue.stored(device, block)
        if stored is None:
            return [], []
        rows = catalogue.rows_of(stored, len(t_us))
        clock_us = t_us[rows] + self._zero_us
        columns = {figure.name: unpack_figure(figure, clock_us) for figure in stored.figures}
        reasons = [reason_of(code) for code in stored.reasons]
        return rows.tolist(), samples_of(device, len(rows), columns, reasons)

    def _left(self, catalogue: Catalogue, block: Block) -> list[Remainder]:
        blob = catalogue.rest(block)
        if blob is None:
            return []
        with catalogue.damage_noted("frames"):
            try:
                return from_msgpack(inflate(unseal(blob), MAX_VALUE_BYTES), list[Remainder])
            except (msgspec.MsgspecError, ValueError) as error:
                raise DamagedChunkError(str(error)) from error
        return []

    def _by_time(self, catalogue: Catalogue) -> Iterator[Frame]:
        """Frames of a session that holds another program's recordings: readings of one moment are one frame."""
        chains = [
            self._chain(catalogue, device, blocks)
            for device in catalogue.devices
            for blocks in _chains([block for block in catalogue.blocks_of(device) if block.first_seq is None])
        ]
        imported = self._grouped(heapq.merge(*chains, key=lambda reading: reading[0]))
        return heapq.merge(imported, self._recorded(), key=lambda frame: frame.monotonic_s)

    def _recorded(self) -> Iterator[Frame]:
        for _, frame in self._by_number(0):
            yield frame

    def _chain(
        self, catalogue: Catalogue, device: str, blocks: list[Block]
    ) -> Iterator[tuple[int, str, dict[str, Any]]]:
        for block in blocks:
            times = catalogue.times(block)
            if times is None:
                continue
            with catalogue.damage_noted("columns"):
                rows, samples = self._samples(catalogue, device, block, times[0])
                for t_us, sample in zip(times[0][rows].tolist(), samples, strict=True):
                    yield t_us, device, sample

    def _grouped(self, readings: Iterator[tuple[int, str, dict[str, Any]]]) -> Iterator[Frame]:
        for t_us, group in itertools.groupby(readings, key=lambda reading: reading[0]):
            clock_s = (t_us + self._zero_us) / MICROSECONDS
            wall_s = (t_us + self._wall_zero_us) / MICROSECONDS
            together: list[Figures] = [{}]
            for _, device, sample in group:
                if all(device in figures for figures in together):  # twice at the same moment
                    together.append({})
                next(figures for figures in together if device not in figures)[device] = sample
            yield from (joined_frame(clock_s, wall_s, figures, None) for figures in together)

    @staticmethod
    def _refreshed(catalogue: Catalogue) -> list[Block]:
        catalogue.refresh()
        return catalogue.blocks


def _chains(blocks: list[Block]) -> list[list[Block]]:
    """Blocks in as many rows as there have to be so that those of one row do not overlap."""
    chains: list[list[Block]] = []
    for block in blocks:
        chain = next((chain for chain in chains if chain[-1].end_s <= block.start_s), None)
        if chain is None:
            chains.append([block])
        else:
            chain.append(block)
    return chains
