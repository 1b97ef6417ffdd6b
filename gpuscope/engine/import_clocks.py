"""Files of one run on one clock: some count from 1970, some from the start of their machine, some have no time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gpuscope.importers.reading import Note, Reading, Track

SINCE_1970_S = 1e8
"""1973: no machine has been up for so long."""
_FAR_APART_S = 3600.0
"""Clocks of machines that were started at different times; files of one clock overlap, or follow each other closely."""


def on_one_clock(readings: Sequence[Reading]) -> None:
    """Move files with a clock of their own to where the others begin, and say so in their notes.

    Files whose times are since 1970 stay. Of the others those stay that overlap; where they are hours apart they are of
    different machines, and begin together.

    Args:
        readings: of the files of one run; changed in place.
    """
    starts = [(reading, start) for reading in readings if (start := start_of_reading(reading)) is not None]
    own = [(reading, start) for reading, start in starts if start < SINCE_1970_S]
    common = [start for _, start in starts if start >= SINCE_1970_S]
    if not own or len(starts) < 2:
        return
    if common:
        for reading, start in own:
            move(reading, min(common) - start, "its times do not say when: it is laid where the other files begin")
        return
    first = min(start for _, start in own)
    if max(start for _, start in own) - first > _FAR_APART_S:
        for reading, start in own:
            if start > first:
                move(reading, first - start, "its clock is another machine's: it is laid where the other files begin")


def start_of_reading(reading: Reading) -> float | None:
    """The earliest time of anything in a file, by its clock; None: it has none."""
    span = span_of_reading(reading)
    return None if span is None else span[0]


def span_of_reading(reading: Reading) -> tuple[float, float] | None:
    """The earliest and the latest time of anything in a file, by its clock; None: it has none."""
    times = [end for track in reading.tracks.values() if track.wall_s for end in _ends(track)]
    times += [process.wall_s for process in reading.processes if process.wall_s is not None]
    times += [event.wall_s for event in reading.events]
    return (min(times), max(times)) if times else None


def _ends(track: Track) -> tuple[float, float]:
    times = track.times()
    return float(times.min()), float(times.max())


def move(reading: Reading, by_s: float, why: str) -> None:
    """Move all times of a file, and say why in its notes."""
    for track in reading.tracks.values():
        moved = np.array(track.wall_s) + by_s
        track.wall_s[:] = type(track.wall_s)("d", moved.tolist())
    reading.processes = [
        process if process.wall_s is None else msgspec.structs.replace(process, wall_s=process.wall_s + by_s)
        for process in reading.processes
    ]
    reading.events = [msgspec.structs.replace(event, wall_s=event.wall_s + by_s) for event in reading.events]
    reading.notes.append(Note(code="assumed", sentence=f"{reading.description}: {why}."))
