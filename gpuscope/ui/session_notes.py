"""What a session says of itself, in the words that the window shows above the panels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QCoreApplication

from gpuscope.domain.events import SUPERVISOR, Event
from gpuscope.engine.follow import Update
from gpuscope.engine.footprint_import import IMPORTED
from gpuscope.ui.session_status import clock_text

translate = QCoreApplication.translate

MOST_LINES = 5
"""Of what an import has to say: more is not read above the panels."""


def update_notes(update: Update) -> Iterator[str]:
    """Sentences that an update brings: damage, gaps, and what the supervisor has to say."""
    yield from update.notes
    imported = _import_notes(update.events)
    if imported:
        yield imported
    for event in update.events:
        sentence = event_note(event)
        if sentence:
            yield sentence


def event_note(event: Event) -> str:
    """A supervisor's event, or a probe that switched itself off, as a sentence; empty for all others."""
    data = event.data
    if event.kind == "probe_off":
        return translate(
            "SessionNotes", "The probe switched itself off ({0}): steps and memory by part are not recorded."
        ).format(data.get("reason", ""))
    if event.source != SUPERVISOR:
        return ""
    if event.kind == "sampler_replaced":
        gap_start_s = data.get("gap_start_s")
        start = clock_text(float(gap_start_s)) if gap_start_s is not None else "?"
        return translate(
            "SessionNotes", "The sampler was replaced ({0}): there are no samples from {1} to {2}."
        ).format(data.get("reason", ""), start, clock_text(event.t))
    if event.kind == "supervisor_adopted":
        start_s, end_s = float(data.get("gap_start_s") or 0), float(data.get("gap_end_s") or event.t)
        return translate(
            "SessionNotes", "The recorder ended early and was replaced: there are no samples from {0} to {1}."
        ).format(clock_text(start_s), clock_text(end_s))
    if event.kind in {"note", "finding"}:
        return str(data.get("sentence", ""))
    return ""


def _import_notes(events: Sequence[Event]) -> str:
    """What was read of other programs' files, and what was lost or assumed in them, as one note of a few lines."""
    lines = [line for event in events if (line := _import_line(event))]
    if len(lines) > MOST_LINES:
        more = translate("SessionNotes", "… and {0} more.").format(len(lines) - MOST_LINES + 1)
        lines = [*lines[: MOST_LINES - 1], more]
    return "\n".join(lines)


def _import_line(event: Event) -> str:
    data = event.data
    if event.kind == IMPORTED:
        rows = int(data.get("row_count") or 0)
        many = translate("SessionNotes", "Imported: {0}, {1} rows.")
        said = translate("SessionNotes", "Imported: {0}, one row.") if rows == 1 else many
        return said.format(data.get("file", ""), f"{rows:,}")
    if event.kind != "import_note":
        return ""
    line, count = data.get("line"), int(data.get("count") or 1)
    place = ""
    if line is not None:
        place = translate("SessionNotes", " (line {0})").format(line)
        if count > 1:
            place = translate("SessionNotes", " ({0} times, first in line {1})").format(count, line)
    return f"{data.get('sentence', '')}{place}"
