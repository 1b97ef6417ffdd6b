"""Footprints by the file that holds them, whatever its kind."""

from __future__ import annotations

from pathlib import Path

from gpuscope.domain.footprint import Footprint
from gpuscope.engine.advise import read_footprint
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.session import open_session


def footprint_in(path: Path) -> Footprint:
    """The footprint of a session, or the one that a JSON file holds.

    Raises:
        UsageError: a JSON file is no footprint.
        SessionError: it is neither.
    """
    if path.suffix == ".json":
        return read_footprint(path)
    with open_session(path) as reader:
        return footprint_of(reader)
