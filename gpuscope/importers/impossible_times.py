"""Times that cannot be: a damaged stamp must not move a recording into another millennium."""

from __future__ import annotations

import numpy as np

from gpuscope.importers.reading import Note, Reading, Track

_LATEST_S = 4.5e9
"""The year 2112; as far before 1970 is refused as well. Sessions keep microseconds in 53 bits: 285 years from the first
moment to the last."""
_SENTENCE = "Rows whose time is missing or cannot be were left out."


def drop_impossible_times(reading: Reading) -> None:
    """Leave out the rows, processes and events of a reading whose time cannot be, and say how many."""
    lost = sum(_drop_rows(track) for track in reading.tracks.values())
    reading.rows = max(0, reading.rows - lost)
    processes = [process for process in reading.processes if process.wall_s is None or _is_possible(process.wall_s)]
    events = [event for event in reading.events if _is_possible(event.wall_s)]
    lost += len(reading.processes) - len(processes) + len(reading.events) - len(events)
    reading.processes, reading.events = processes, events
    if lost:
        reading.notes.append(Note(code="lost", sentence=_SENTENCE, count=lost))


def _is_possible(wall_s: float) -> bool:
    return abs(wall_s) < _LATEST_S


def _drop_rows(track: Track) -> int:
    """How many rows of a device were left out."""
    possible = np.abs(np.asarray(track.wall_s)) < _LATEST_S  # not a number is not less
    if possible.all():
        return 0
    columns = {name: np.asarray(column)[possible] for name, column in track.columns.items()}
    whole = Track(track.device)
    whole.extend(np.asarray(track.wall_s)[possible], columns)
    track.wall_s, track.columns = whole.wall_s, whole.columns
    return int(np.count_nonzero(~possible))
