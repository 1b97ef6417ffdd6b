"""What `profile.export_memory_timeline()` writes as .json, .json.gz or .raw.json.gz: memory over time by category.

Forms as in torch/profiler/_memory_profiler.py of torch 2.0 to 2.13: `[times, sizes]`, where a row of sizes has a zero
and then one sum for each category; or events `[time, action, bytes, category]`, where -1 is the time of what was
there before. Times are microseconds in the first and nanoseconds in the second; neither names its device.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np

from gpuscope.domain.device import Device
from gpuscope.domain.imported import AllocatorDetails
from gpuscope.errors import UsageError
from gpuscope.importers.pytorch.intervals import Floats
from gpuscope.importers.reading import ImportedEvent, Note, Reading, Track
from gpuscope.importers.text import decode

KIND = "torch_memory_timeline"
DESCRIPTION = "PyTorch memory timeline"

CATEGORIES = (
    "parameters", "optimizer_state", "inputs", "temporaries", "activations", "gradients", "autograd", "unknown",
)  # fmt: skip
"""In the order in which both forms number them."""
_RAW = re.compile(r"\s*\[\s*\[\s*-?\d{1,19}\s*,\s*[1-4]\s*,\s*-?\d{1,19}\s*,\s*[0-7]\s*\]")
_COALESCED = re.compile(r"\s*\[\s*\[\s*(?:\d{12,19}\s*,\s*){3}")
_PICTURE = re.compile(r"<title>GPU Memory Timeline HTML</title>")
_BEFORE = -1
_NANOSECONDS_FROM = 1e17
"""As microseconds this is the year 5138."""
_MOST_BYTES = 2**53
_MOST_POINTS = 2000

_Events = list[tuple[int, int, int, int]]
_Table = tuple[list[int], list[list[int]]]


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a file, in any of its forms."""
    return bool(_RAW.match(head) or _COALESCED.match(head) or _PICTURE.search(head))


def read(data: bytes) -> Reading:
    """Read a timeline; one that was cut off is read up to there.

    Raises:
        UsageError: it is the picture, is damaged from the beginning, or holds nothing.
    """
    text, _ = decode(data)
    if _PICTURE.search(text[:4096]):
        raise UsageError(
            "The HTML file holds the memory timeline as a picture, without figures: export it again with "
            'export_memory_timeline("memory.raw.json.gz").'
        )
    raw = _RAW.match(text) is not None
    value, lost = _decoded(text, raw=raw)
    times, sizes = _from_events(value) if raw else _from_table(value)
    if not len(times):
        raise UsageError(
            "The memory timeline is empty: profile with profile_memory=True, record_shapes and with_stack."
        )
    reading = Reading(KIND, DESCRIPTION, rows=len(times), zone_known=True)
    if lost:
        sentence = f"The file is cut off: {lost} bytes of half an entry were left out, later ones are missing."
        reading.notes.append(Note(code="lost", sentence=sentence))
    sentence = "A memory timeline does not name its device: it counts as GPU 0."
    reading.notes.append(Note(code="assumed", sentence=sentence))
    _conclude(reading, times, sizes)
    return reading


def _decoded(text: str, *, raw: bool) -> tuple[Any, int]:
    """The value, and how many characters at the end of a cut file belong to none."""
    expected = _Events if raw else _Table
    try:
        return msgspec.json.decode(text, type=expected), 0
    except (msgspec.DecodeError, RecursionError):
        end = text.rfind("]") + 1
        try:
            return msgspec.json.decode(text[:end] + ("]" if raw else "]]"), type=expected), max(1, len(text) - end)
        except (msgspec.DecodeError, RecursionError) as error:
            raise UsageError("The memory timeline is damaged: export it again.") from error


def _from_events(events: _Events) -> tuple[Floats, Floats]:
    """Times (s) and sums by category after each event."""
    known = [event for event in events if 0 <= event[3] < len(CATEGORIES) and abs(event[2]) < _MOST_BYTES]
    changes = np.zeros((len(known), len(CATEGORIES)))
    for row, (_, _, size, category) in enumerate(known):
        changes[row, category] = size
    times = np.array([time for time, _, _, _ in known], dtype=float)
    return _seconds(times), np.cumsum(changes, axis=0)


def _from_table(table: _Table) -> tuple[Floats, Floats]:
    count = min(len(table[0]), len(table[1]))
    width = len(CATEGORIES)
    rows = [row[1 : width + 1] + [0] * (width - len(row[1:])) for row in table[1][:count]]
    sizes = np.array(rows, dtype=float).reshape(count, width)
    return _seconds(np.array(table[0][:count], dtype=float)), np.clip(sizes, 0, _MOST_BYTES)


def _seconds(times: Floats) -> Floats:
    """Since 1970; what was there before counts from the first moment on."""
    later = times[times > 0]
    if not len(later):
        return np.zeros(len(times))
    scale = 1e-9 if later.max() > _NANOSECONDS_FROM else 1e-6
    return np.where(times == _BEFORE, later.min(), times) * scale


def _conclude(reading: Reading, times: Floats, sizes: Floats) -> None:
    totals = sizes.sum(axis=1)
    peak = int(np.argmax(totals))
    device = Device(uuid="GPU 0", index=0, name="unknown GPU")
    reading.tracks["GPU 0"] = track = Track(device)
    chosen = _highest(totals)
    columns = {"allocated_bytes": totals[chosen]}
    columns |= {f"{name}_bytes": sizes[chosen, number] for number, name in enumerate(CATEGORIES)}
    track.extend(times[chosen].tolist(), {name: values.tolist() for name, values in columns.items()})
    at_peak = {name: int(sizes[peak, number]) for number, name in enumerate(CATEGORIES)}
    reading.details = (
        AllocatorDetails(
            device=0,
            allocated_bytes=int(totals[-1]),
            peak_allocated_bytes=int(totals[peak]),
            trace_events=len(times),
            has_times=True,
            categories_at_peak=at_peak,
        ),
    )
    peaks = {"peak_allocated_bytes": int(totals[peak]), "peak_reserved_bytes": None}
    data = {"device": "GPU 0", "allocated_bytes": int(totals[-1]), "reserved_bytes": None, **peaks}
    reading.events.append(ImportedEvent(wall_s=float(times[-1]), kind="memory", data=data))


def _highest(totals: Floats) -> list[int]:
    """The moment of the highest total in each of 2000 stretches."""
    width = -(-len(totals) // _MOST_POINTS)
    return [start + int(np.argmax(totals[start : start + width])) for start in range(0, len(totals), width)]
