"""Files of one run held against each other: given twice, of another day, or not all that belong together."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from gpuscope.domain.imported import TraceDetails
from gpuscope.engine.import_clocks import SINCE_1970_S, move, span_of_reading
from gpuscope.importers.pytorch.trace_notes import rank_note
from gpuscope.importers.reading import Note, Reading, Track

_FAR_APART_S = 3600.0
"""Files of one run overlap, or follow each other more closely."""
_ZONE_STEP_S = 900.0
"""Zones differ by quarters of an hour (IANA time zone database)."""
_MOST_ZONE_STEPS = 14 * 4
"""The farthest zone is UTC+14."""
_TOLERANCE_S = 60.0
"""By so much a file may begin before, or end behind, the one that it belongs to."""

_Span = tuple[float, float]


def hold_together(readings: Sequence[Reading]) -> None:
    """Say in the notes of files what only shows beside the others, and count a file once that is given twice.

    Args:
        readings: of the files of one run; changed in place.
    """
    _drop_repeats(readings)
    _into_the_known_zone(readings)
    _say_far_apart(readings)
    _drop_rank_notes(readings)


def _drop_repeats(readings: Sequence[Reading]) -> None:
    for at, reading in enumerate(readings):
        if reading.rows and any(_is_same(reading, before) for before in readings[:at]):
            reading.tracks.clear()
            reading.processes, reading.events, reading.details, reading.rows = [], [], None, 0
            sentence = "Another of the files holds the same: it was given twice, and counts once."
            reading.notes.append(Note(code="finding", sentence=sentence))


def _is_same(one: Reading, other: Reading) -> bool:
    if (one.kind, one.rows, one.details) != (other.kind, other.rows, other.details):
        return False
    if one.processes != other.processes or one.events != other.events or one.tracks.keys() != other.tracks.keys():
        return False
    return all(_is_same_track(track, other.tracks[key]) for key, track in one.tracks.items())


def _is_same_track(one: Track, other: Track) -> bool:
    if one.device != other.device or one.columns.keys() != other.columns.keys():
        return False
    pairs = [(one.wall_s, other.wall_s), *((column, other.columns[name]) for name, column in one.columns.items())]
    return all(_bytes(left) == _bytes(right) for left, right in pairs)


def _bytes(column: array[float]) -> memoryview:
    """Compared so, missing values are equal too."""
    return memoryview(column).cast("B")


def _dated(readings: Sequence[Reading]) -> list[tuple[Reading, _Span]]:
    """Those whose times count from 1970, with the first and the last of them."""
    spans = [(reading, span_of_reading(reading)) for reading in readings]
    return [(reading, span) for reading, span in spans if span is not None and span[0] >= SINCE_1970_S]


def _into_the_known_zone(readings: Sequence[Reading]) -> None:
    """Monitors write local time without its zone, traces UTC: where only one zone fits, it is taken."""
    dated = _dated(readings)
    known = [span for reading, span in dated if reading.zone_known]
    if not known:
        return
    whole = min(begin for begin, _ in known), max(end for _, end in known)
    for reading, span in dated:
        if reading.zone_known or _fits(span, whole, 0.0):
            continue
        steps = range(-_MOST_ZONE_STEPS, _MOST_ZONE_STEPS + 1)
        fitting = [step * _ZONE_STEP_S for step in steps if _fits(span, whole, step * _ZONE_STEP_S)]
        if len(fitting) == 1:
            hours = fitting[0] / 3600
            move(reading, fitting[0], f"its times name no zone: only {hours:+g} h lay it where the other files are")


def _fits(span: _Span, whole: _Span, by_s: float) -> bool:
    """Whether one of them lies within the other, when the first is moved."""
    begin, end = span[0] + by_s, span[1] + by_s
    within = begin >= whole[0] - _TOLERANCE_S and end <= whole[1] + _TOLERANCE_S
    around = begin <= whole[0] + _TOLERANCE_S and end >= whole[1] - _TOLERANCE_S
    return within or around


def _say_far_apart(readings: Sequence[Reading]) -> None:
    end_s = None
    for reading, (begin, end) in sorted(_dated(readings), key=lambda each: each[1][0]):
        if end_s is not None and begin - end_s > _FAR_APART_S:
            gap_h = (begin - end_s) / 3600
            sentence = f"It begins {gap_h:.1f} hours after the others end: are they of one run, and their clocks right?"
            reading.notes.append(Note(code="contradiction", sentence=sentence))
        end_s = end if end_s is None else max(end, end_s)


def _drop_rank_notes(readings: Sequence[Reading]) -> None:
    """That ranks are missing is said of each file by itself."""
    traces = [reading for reading in readings if isinstance(reading.details, TraceDetails)]
    ranks = {reading.details.rank for reading in traces if isinstance(reading.details, TraceDetails)}
    for reading in traces:
        details = reading.details
        if isinstance(details, TraceDetails) and ranks >= set(range(details.world_size or 0)):
            note = rank_note(details)
            reading.notes = [each for each in reading.notes if each != note]
