"""Time stamps of many rows: date by date and digit by digit where they are regular, each by itself where not."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from gpuscope.domain.series import FloatArray
from gpuscope.importers.tabular.blocks import Block, Mask, Positions
from gpuscope.importers.tabular.digits import added_up, number_before
from gpuscope.importers.tabular.distinct import distinct_texts
from gpuscope.importers.tabular.grid import Grid
from gpuscope.importers.times import parse_time

_DATE_CHARACTERS = 10
_CLOCK_CHARACTERS = 8
_WITH_CLOCK = _DATE_CHARACTERS + 1 + _CLOCK_CHARACTERS
_DATE = re.compile(r"\d{4}[/.-]\d\d[/.-]\d\d[ T]")
_MOST_FRACTION_DIGITS = 8
_COMPACT_DATE = 8
_MOST_DATES = 64
"""Changes of date in a block: with more, its rows are in no order of time and are read one by one."""

_COLONS, _COLON_BYTES = np.uint64(0x00003A00003A0000), np.uint64(0x0000FF0000FF0000)
"""The third and the sixth of eight characters."""
_ZEROS_FOR_COLONS = np.uint64(0x0000300000300000)
_HOURS, _MINUTES, _SECONDS = 24, 60, 60


class Times(NamedTuple):
    """A column of time stamps."""

    wall_s: FloatArray
    """Seconds since 1970, NaN where a cell is no time."""
    zones: set[bool]
    """Whether the zone is known, of those that are."""


def read_times(grid: Grid, at: int) -> Times:
    """The times of a column."""
    starts, ends = grid.starts[at], grid.ends[at]
    values = np.full(grid.rows, math.nan)
    regular = _regular(grid.block, starts, ends, values)
    times = Times(values, {False} if regular.any() else set())
    left = np.flatnonzero(~regular)
    if len(left):
        codes, texts = distinct_texts(grid.block, starts[left], ends[left])
        _fill(times, left, codes, texts)
    return times


def read_dated_times(grid: Grid, date_at: int, clock_at: int) -> Times:
    """Times whose date, such as `20241123`, stands in a column of its own."""
    codes, texts = distinct_texts(grid.block, grid.starts[date_at], grid.ends[date_at])
    days = [parse_time(f"{_date(text)} 00:00:00") for text in texts]
    times = Times(np.full(grid.rows, math.nan), {False})
    lengths = grid.ends[clock_at] - grid.starts[clock_at]
    clocks = clock_seconds(
        grid.block, grid.starts[clock_at], np.maximum(grid.ends[clock_at], grid.starts[clock_at] + _CLOCK_CHARACTERS)
    )
    known = np.array([math.nan if day is None else day[0] for day in days])[codes]
    times.wall_s[:] = np.where(
        clocks.fits & (lengths >= _CLOCK_CHARACTERS), known + clocks.whole + clocks.fraction, math.nan
    )
    left = np.flatnonzero(np.isnan(times.wall_s))
    if len(left):
        written = [f"{_date(grid.text(date_at, int(row)))} {grid.text(clock_at, int(row))}" for row in left]
        _fill(times, left, np.arange(len(left)), written)
    return times


def _date(text: str) -> str:
    """`20241123` as `2024/11/23`; anything else as it is."""
    compact = len(text) == _COMPACT_DATE and text.isdigit()
    return f"{text[:4]}/{text[4:6]}/{text[6:]}" if compact else text


def _fill(times: Times, rows: Positions, codes: Positions, texts: list[str]) -> None:
    parsed = [parse_time(text) for text in texts]
    times.wall_s[rows] = np.array([math.nan if time is None else time[0] for time in parsed])[codes]
    times.zones.update(time[1] for time in parsed if time is not None)


def _regular(block: Block, starts: Positions, ends: Positions, values: FloatArray) -> Mask:
    """Fill in cells like `2024/11/23 12:23:29.950`; returns which are."""
    fits = ends - starts >= _WITH_CLOCK
    safe = np.where(fits, starts, starts[0]) if len(starts) else starts
    if not fits.any() or not fits[0]:
        return np.zeros(len(starts), np.bool_)
    days, are_dates = _dates(block, safe)
    clocks = clock_seconds(block, safe + _DATE_CHARACTERS + 1, np.where(fits, ends, safe + _WITH_CLOCK))
    fits &= are_dates & clocks.fits
    values[fits] = ((days + clocks.whole) + clocks.fraction)[fits]
    return fits


class Clocks(NamedTuple):
    """Times of day; whole seconds and the rest apart, since their sum with a date is rounded once."""

    whole: FloatArray
    fraction: FloatArray
    fits: Mask
    """Which cells are such times; where they are not, the others mean nothing."""


def clock_seconds(block: Block, starts: Positions, ends: Positions) -> Clocks:
    """Seconds of the day of cells like `12:23:29` or `12:23:29.950`."""
    word = block.words[starts]
    fits = (word & _COLON_BYTES) == _COLONS
    number, are_digits = added_up((word & ~_COLON_BYTES) | _ZEROS_FOR_COLONS)  # 12:23:29 → 12023029
    fits &= are_digits
    hours, minutes, seconds = number // 1_000_000, number // 1000 % 1000, number % 1000
    fits &= (hours < _HOURS) & (minutes < _MINUTES) & (seconds < _SECONDS)
    whole = (hours * np.uint64(3600) + minutes * np.uint64(60) + seconds).astype(np.float64)
    fraction, are_fractions = _fractions(block, starts + _CLOCK_CHARACTERS, ends)
    return Clocks(whole, fraction, fits & are_fractions)


def _fractions(block: Block, starts: Positions, ends: Positions) -> tuple[FloatArray, Mask]:
    """`.950` behind the seconds, or nothing."""
    counts = ends - starts - 1
    fits = (counts == -1) | ((counts >= 1) & (counts <= _MOST_FRACTION_DIGITS))
    known = np.clip(counts, 0, _MOST_FRACTION_DIGITS)
    number, are_digits = number_before(block.words, ends, known)
    mark = block.bytes1[starts]
    fits &= (counts == -1) | (are_digits & ((mark == ord(".")) | (mark == ord(","))))
    powers = 10.0 ** np.arange(_MOST_FRACTION_DIGITS + 1)
    return number.astype(np.float64) / powers[known], fits


def _dates(block: Block, starts: Positions) -> tuple[FloatArray, Mask]:
    """Seconds since 1970 of the days that cells begin with, and which cells begin with one."""
    first, second = block.words[starts], block.words[starts + _DATE_CHARACTERS + 1 - 8]
    changes = np.flatnonzero((first[1:] != first[:-1]) | (second[1:] != second[:-1])) + 1
    if len(changes) > _MOST_DATES:
        return np.zeros(len(starts)), np.zeros(len(starts), np.bool_)
    begins = np.concatenate(([0], changes))
    lengths = np.diff(np.append(begins, len(starts)))
    parsed = [_day(block, int(starts[row])) for row in begins]
    known = np.array([day is not None for day in parsed])
    days = np.array([day or 0.0 for day in parsed])
    return np.repeat(days, lengths), np.repeat(known, lengths)


def _day(block: Block, start: int) -> float | None:
    text = block.text_bytes(start, start + _DATE_CHARACTERS + 1).decode(errors="replace")
    if _DATE.fullmatch(text) is None:
        return None
    time = parse_time(f"{text[:_DATE_CHARACTERS]} 00:00:00")
    return None if time is None else time[0]
