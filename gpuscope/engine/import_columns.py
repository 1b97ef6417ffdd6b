"""What the person said the columns of a table are, remembered by the table's heading."""

from __future__ import annotations

import contextlib
import hashlib

import msgspec

from gpuscope import paths

_MOST = 200
"""Headings that are remembered; the oldest are forgotten."""
_FILE = "import-columns.json"

Mappings = dict[str, dict[str, str]]


def remembered(heading: tuple[str, ...]) -> dict[str, str]:
    """What was said of a table with this heading; empty: nothing."""
    return _all().get(_key(heading), {})


def remember(heading: tuple[str, ...], mapping: dict[str, str]) -> None:
    """Keep what the person said; where it cannot be written, it is asked for again the next time."""
    known = _all()
    known.pop(_key(heading), None)
    known[_key(heading)] = mapping
    kept = dict(list(known.items())[-_MOST:])
    path = paths.state_dir() / _FILE
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(kept))


def _all() -> Mappings:
    try:
        return msgspec.json.decode((paths.state_dir() / _FILE).read_bytes(), type=Mappings)
    except (OSError, msgspec.MsgspecError):
        return {}


def _key(heading: tuple[str, ...]) -> str:
    return hashlib.sha256("\x00".join(heading).encode()).hexdigest()
