"""Fields of a memory snapshot, whatever a damaged or made-up file has in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuscope.domain.footprint import PeakAt
from gpuscope.errors import UsageError

MOST_ENTRIES = 5_000_000
"""Blocks and events together; PyTorch keeps 100 000 events unless it is told otherwise."""
_MOST_BYTES = 2**53
_UNKNOWN_FILES = frozenset({"", "??"})
_LIBRARIES = ("torch/", "site-packages/", "dist-packages/", "lib/python", "<frozen", "<string>")


class Budget:
    """Ends the reading of a small file that unfolds into billions of entries: its lists may share their parts."""

    def __init__(self) -> None:
        self._left = MOST_ENTRIES

    def dicts(self, value: Any) -> Iterator[dict[str, Any]]:
        """The dicts in a list; everything else is passed over.

        Raises:
            UsageError: the file holds too many.
        """
        for entry in value if isinstance(value, (list, tuple)) else ():
            self._left -= 1
            if self._left < 0:
                raise UsageError(f"The snapshot holds more than {MOST_ENTRIES} blocks and events: it is refused.")
            if isinstance(entry, dict):
                yield entry


def size_of(value: Any) -> int:
    """Bytes; 0 where it is no number of bytes."""
    return known_size(value) or 0


def known_size(value: Any) -> int | None:
    """Bytes; None where it is no number of bytes."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_BYTES else None


def frames_of(entry: dict[str, Any]) -> Any:
    """Stack of a block or event, innermost first; before torch 2.1 it was in the block's history."""
    frames = entry.get("frames")
    if frames:
        return frames
    history = entry.get("history")
    first = history[0] if isinstance(history, (list, tuple)) and history else None
    return first.get("frames") if isinstance(first, dict) else None


def place_of(frames: Any) -> PeakAt | None:
    """The line that asked for memory: the innermost of the program's own, else of any Python file.

    Frames in `??` are C++, without a line.
    """
    innermost = None
    for frame in frames if isinstance(frames, (list, tuple)) else ():
        if not isinstance(frame, dict):
            continue
        file, line, name = frame.get("filename"), frame.get("line"), frame.get("name")
        if not isinstance(file, str) or file in _UNKNOWN_FILES:
            continue
        place = PeakAt(op=name if isinstance(name, str) else None, file=file, line=line if _is_line(line) else None)
        if not _is_library(file):
            return place
        innermost = innermost or place
    return innermost


def _is_line(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31


def _is_library(file: str) -> bool:
    path = file.replace("\\", "/")
    return any(part in path for part in _LIBRARIES) or path.endswith((".cpp", ".h", ".cc", ".c"))
