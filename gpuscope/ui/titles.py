"""Names of sessions where there is little room."""

from __future__ import annotations

import shlex


def short_title(display: str) -> str:
    """A command line without the script's folder: `runs/train.py --epochs 3` becomes `train.py --epochs 3`."""
    first, separator, rest = display.partition(" ")
    quoted = first != shlex.quote(first)
    if quoted or first.startswith("-") or first.endswith(("/", "\\")):
        return display
    return first.replace("\\", "/").rsplit("/", 1)[-1] + separator + rest
