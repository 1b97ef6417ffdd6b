"""What a person has to know about a trace: what was lost, what was mended, what its figures are not."""

from __future__ import annotations

from gpuscope.domain.imported import TraceDetails, TracedMemory
from gpuscope.domain.units import MIB
from gpuscope.importers.pytorch.allocator_notes import WIDE_APART
from gpuscope.importers.pytorch.json_stream import EventStream
from gpuscope.importers.pytorch.trace_columns import TraceColumns
from gpuscope.importers.reading import Note


def notes_of(columns: TraceColumns, stream: EventStream, cut_at: int | None, details: TraceDetails) -> list[Note]:
    """The notes, most important first."""
    found = [
        *_losses(columns, stream, cut_at),
        _mended(stream),
        _legacy(details),
        _annotations(details),
        _no_steps(details),
        _no_shapes(details),
        rank_note(details),
        _relative(details),
        *map(_fragmentation, details.memory),
    ]
    return [note for note in found if note is not None]


def _fragmentation(memory: TracedMemory) -> Note | None:
    allocated, reserved = memory.peak_allocated_bytes, memory.reserved_at_peak_bytes
    if allocated is None or reserved is None or reserved - allocated <= WIDE_APART * reserved:
        return None
    return Note(
        code="finding",
        sentence=f"{memory.device}: at its peak {(reserved - allocated) / MIB:.0f} MiB were reserved but not "
        "allocated: fragmentation or cache.",
    )


def _losses(columns: TraceColumns, stream: EventStream, cut_at: int | None) -> list[Note]:
    found = []
    if cut_at is not None or stream.cut_bytes is not None:
        where = f"the compressed data ends at byte {cut_at}" if cut_at is not None else "its end is missing"
        half = f" {stream.cut_bytes} bytes of half an event were left out." if stream.cut_bytes else ""
        found.append(
            Note(code="lost", sentence=f"The trace is cut off ({where}): times and counts are lower bounds.{half}")
        )
    if stream.lost:
        found.append(
            Note(
                code="lost",
                sentence=f"Events that cannot be read were left out, the first near byte {stream.lost[0]} of the text.",
                count=len(stream.lost),
            )
        )
    if columns.odd:
        found.append(Note(code="lost", sentence="Events without a time or duration were left out.", count=columns.odd))
    if columns.nanoseconds:
        found.append(Note(code="assumed", sentence="Time stamps are taken as nanoseconds, by their size."))
    return found


def _mended(stream: EventStream) -> Note | None:
    if not stream.mended:
        return None
    return Note(
        code="assumed",
        sentence="The file is no valid JSON (backslashes or quotes): it was mended while reading, without a guess at "
        "values.",
        count=stream.mended,
    )


def _legacy(details: TraceDetails) -> Note | None:
    count = sum(device.ranges for device in details.devices)
    if not count:
        return None
    return Note(
        code="assumed",
        sentence="The trace is of the old autograd profiler: its GPU times are ranges between events, not kernels.",
        count=count,
    )


def _annotations(details: TraceDetails) -> Note | None:
    count = sum(device.annotations for device in details.devices)
    if not count:
        return None
    return Note(
        code="assumed", sentence="Annotated ranges on the GPU cover kernels and were not counted as work.", count=count
    )


def _no_steps(details: TraceDetails) -> Note | None:
    if details.steps:
        return None
    return Note(
        code="missing",
        sentence="The trace marks no steps (call profiler.step() in the loop): the whole of it counts as one step.",
    )


def _no_shapes(details: TraceDetails) -> Note | None:
    if details.has_shapes or not details.operators:
        return None
    return Note(
        code="missing",
        sentence="The trace has no shapes of operators, so no FLOPs: record it with record_shapes=True.",
    )


def rank_note(details: TraceDetails) -> Note | None:
    """What is said of the file of one rank, as long as those of the others are not there."""
    if details.rank is None or not details.world_size or details.world_size < 2:
        return None
    return Note(
        code="missing", sentence=f"This is rank {details.rank} of {details.world_size}: give the files of all ranks."
    )


def _relative(details: TraceDetails) -> Note | None:
    if not any(memory.relative for memory in details.memory):
        return None
    return Note(
        code="assumed",
        sentence="Memory events have no totals (torch before 1.11): memory counts from the beginning of the trace.",
    )
