"""Chips that share the system's memory, whose reports give a total of 0 or none at all, whatever they are called."""

from __future__ import annotations

import msgspec
import numpy as np

from gpuscope.domain.reasons import Reason
from gpuscope.importers.reading import Note, Reading, Track

_MEMORY = ("memory_total_bytes", "memory_used_bytes", "memory_free_bytes")


def drop_memory_of_nothing(reading: Reading) -> None:
    """Take the figures of a memory that a chip does not have out, with the reason and a note."""
    for track in reading.tracks.values():
        if _shares_memory(track):
            _drop(reading, track)


def _shares_memory(track: Track) -> bool:
    total = track.values("memory_total_bytes")
    if not len(total) or track.device.mig_enabled or track.device.kind != "gpu":
        return False
    unsupported = np.isnan(total).all() and track.reasons.get("memory_total_bytes") is Reason.NOT_SUPPORTED
    return bool(unsupported or not total.any())


def _drop(reading: Reading, track: Track) -> None:
    for name in _MEMORY:
        if name in track.columns:
            track.columns[name][:] = type(track.wall_s)("d", [np.nan]) * len(track.wall_s)
            track.reasons[name] = Reason.UNIFIED_MEMORY
    track.device = msgspec.structs.replace(track.device, memory_total_bytes=None)
    sentence = (
        f"{track.device.name} {track.device.index} reports no memory of its own: it shares the system's (unified "
        "memory), whose size is not in the file."
    )
    reading.notes.append(Note(code="missing", sentence=sentence))
