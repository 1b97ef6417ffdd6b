"""Tables with a row for each GPU and moment: one track of all of them becomes one a GPU."""

from __future__ import annotations

import numpy as np

from gpuscope.domain.device import Device
from gpuscope.importers.reading import Note, Reading, Track

INDEX_NAME = "gpu_index"
"""What a column is that says which GPU a row is about."""
_MOST_GPUS = 1024
"""Numbers above it are no indices."""


def split_by_index(reading: Reading) -> None:
    """Split the track that has a column of indices, where there is one and no other track; rows without are noted."""
    if len(reading.tracks) != 1:
        return
    (track,) = reading.tracks.values()
    numbers = track.values(INDEX_NAME).copy()
    if not len(numbers):
        return
    are_indices = (numbers >= 0) & (numbers < _MOST_GPUS) & (numbers == np.floor(numbers))
    del track.columns[INDEX_NAME]
    lost = int((~are_indices).sum())
    if lost:
        sentence = "Rows without a number of a GPU were left out."
        reading.notes.append(Note(code="lost", sentence=sentence, count=lost))
    reading.tracks.clear()
    for index in np.unique(numbers[are_indices]).astype(int).tolist():
        own = are_indices & (numbers == index)
        part = Track(Device(uuid=f"GPU {index}", index=index, name=track.device.name), reasons=dict(track.reasons))
        part.extend(track.times()[own], {name: track.values(name)[own] for name in track.columns})
        reading.tracks[f"GPU {index}"] = part
