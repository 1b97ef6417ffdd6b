"""Files that a person gives, and standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from gpuscope.domain.units import format_bytes
from gpuscope.errors import UsageError

STANDARD_INPUT = "-"


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """The whole of a file, or of standard input for `-`.

    Args:
        path: the file.
        most_bytes: what is larger is refused before it fills the memory.

    Raises:
        UsageError: it cannot be read, or is larger.
    """
    try:
        if str(path) == STANDARD_INPUT:
            data = sys.stdin.buffer.read(most_bytes + 1)
        else:
            with path.open("rb") as file:
                data = file.read(most_bytes + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    if len(data) > most_bytes:
        most = format_bytes(most_bytes)
        raise UsageError(f"{path} is larger than {most}, the most that is read: of a log, give a part.")
    return data
