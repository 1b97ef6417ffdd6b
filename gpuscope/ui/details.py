"""Readings of a session's past in full, for the part that somebody looks at closely; read beside the window."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from gpuscope.domain.series import Series
from gpuscope.errors import SessionError
from gpuscope.store.reader import SessionReader

MARGIN = 0.5
"""Of the stretch, read on each side of it as well: the next step aside needs nothing new."""


@dataclass(frozen=True, slots=True)
class Details:
    """What was read of a stretch of time."""

    span: tuple[float, float]
    readings: dict[tuple[str, str], Series]
    """By device key and figure."""


def read_details(path: Path, span: tuple[float, float], figures: frozenset[tuple[str, str]]) -> Details:
    """All readings of some figures in a stretch and a margin; none where the session is gone meanwhile.

    Args:
        path: the session.
        span: session seconds.
        figures: device keys and names.
    """
    margin_s = MARGIN * (span[1] - span[0])
    start_s, end_s = span[0] - margin_s, span[1] + margin_s
    readings: dict[tuple[str, str], Series] = {}
    with contextlib.suppress(SessionError), SessionReader(path) as reader:
        for device, name in sorted(figures):
            readings[device, name] = reader.readings(device, name, start_s, end_s)
    return Details((start_s, end_s), readings)
