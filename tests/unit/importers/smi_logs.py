"""The shipped nvidia-smi logs, and short ways to look at what was read."""

from __future__ import annotations

from pathlib import Path

from gpuscope.importers.reading import Reading, Track
from gpuscope.importers.recognise import read

FOLDER = Path(__file__).parents[2] / "data" / "imports" / "nvidia_smi"


def read_case(name: str) -> Reading:
    """Read a log of `tests/data/imports/nvidia_smi` by what it holds."""
    return read((FOLDER / name).read_bytes(), name)


def only(reading: Reading) -> Track:
    """The one device of a reading."""
    (track,) = reading.tracks.values()
    return track


def mib(track: Track, name: str) -> list[float | None]:
    """A figure in MiB."""
    return [None if value is None else value / 1024**2 for value in track.known(name)]


def codes(reading: Reading) -> list[str]:
    """What was noted."""
    return [note.code for note in reading.notes]
