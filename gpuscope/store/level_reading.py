"""Any stretch of a recording in about as many entries as somebody wants to draw."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

import numpy as np

from gpuscope.domain.series import Envelope, Series
from gpuscope.store.codec import DamagedChunkError
from gpuscope.store.figures import MICROSECONDS
from gpuscope.store.levels import FACTOR, Levels, decode_levels, joined
from gpuscope.store.schema import UNREADABLE

GAP_INTERVALS = 3.0
"""A hole of more than so many usual intervals between readings is a gap."""


class LevelReader:
    """The coarse levels of a session file."""

    def __init__(self, connection: sqlite3.Connection, note_damage: Callable[[str], None]) -> None:
        """`connection`: of a session of version 2 or later."""
        self._connection = connection
        self._note_damage = note_damage

    def levels(self, device: str, names: frozenset[str], level: int, start_s: float, end_s: float) -> Levels | None:
        """Entries of a level that begin in a stretch of time; None where there are none.

        The newest part is not in the higher levels yet: there, it is of the next lower one that has it.
        """
        parts: list[Levels] = []
        reached_us = -np.inf
        for number in range(level, 0, -1):
            from_s = max(start_s, reached_us / MICROSECONDS)
            found = self._rows(device, names, number, from_s, end_s)
            if found is None:
                continue
            first, last = np.searchsorted(found.start_us, [from_s * MICROSECONDS, end_s * MICROSECONDS])
            first = max(first, int(np.searchsorted(found.start_us, reached_us, side="right")))
            if first < last:
                parts.append(found.part(int(first), int(last)))
                reached_us = float(parts[-1].end_us[-1])
        return joined(parts) if parts else None

    def _rows(self, device: str, names: frozenset[str], level: int, start_s: float, end_s: float) -> Levels | None:
        sql = "SELECT data FROM levels WHERE device=? AND level=? AND end_s >= ? AND start_s <= ? ORDER BY start_s"
        parts = []
        try:
            for row in self._connection.execute(sql, (device, level, start_s, end_s)):
                try:
                    parts.append(decode_levels(row[0], names))
                except (DamagedChunkError, TypeError, OverflowError):
                    self._note_damage("levels")
        except sqlite3.ProgrammingError:  # closed: not the file's fault
            raise
        except UNREADABLE:
            self._note_damage("levels")
        if not parts:
            return None
        levels = joined(parts)
        if (np.diff(levels.start_us) < 0).any():  # files of one run whose times overlap
            levels = levels.picked(np.argsort(levels.start_us, kind="stable"))
        return levels


def level_for(readings: int, points: int) -> int:
    """The coarsest level that has at least so many entries; 0: the readings themselves."""
    level = 0
    while readings / FACTOR ** (level + 1) >= points:
        level += 1
    return level


def envelope_of(levels: Levels, name: str) -> Envelope | None:
    """One figure of some entries; None where it is in none of them."""
    if name not in levels.names:
        return None
    row = levels.names.index(name)
    asked = levels.known[row] + levels.missing[row] > 0
    if not asked.any():
        return None
    usual_us = np.median((levels.end_us - levels.start_us) / np.maximum(levels.rows - 1, 1))
    gap = (levels.missing[row] > 0) | (levels.longest_us > GAP_INTERVALS * usual_us)
    return Envelope(
        levels.start_us[asked] / MICROSECONDS,
        levels.end_us[asked] / MICROSECONDS,
        levels.low[row][asked],
        levels.high[row][asked],
        levels.mean[row][asked],
        gap[asked],
    )


def envelope_of_readings(series: Series) -> Envelope:
    """Readings as stretches of one each."""
    return Envelope(series.t, series.t, series.values, series.values, series.values, np.isnan(series.values))


def joined_envelopes(parts: Sequence[Envelope]) -> Envelope:
    """Stretches of time one after the other."""
    return Envelope(
        np.concatenate([part.start_s for part in parts]),
        np.concatenate([part.end_s for part in parts]),
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([part.mean for part in parts]),
        np.concatenate([part.gap for part in parts]),
    )
