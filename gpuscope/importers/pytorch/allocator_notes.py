"""What the state of PyTorch's allocator says about itself: fragmentation, failed requests, settings not in force."""

from __future__ import annotations

import re

from gpuscope.domain.footprint import PeakAt
from gpuscope.domain.imported import AllocatorDetails
from gpuscope.domain.units import MIB
from gpuscope.importers.reading import Note

WIDE_APART = 0.1
"""Share of the reserved memory that lies fallow, from which on it is worth a word."""
_EXPANDABLE = re.compile(r"expandable_segments\s*:\s*(true|false)", re.IGNORECASE)
_CONFIGURATIONS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")


def snapshot_notes(devices: tuple[AllocatorDetails, ...]) -> list[Note]:
    """Notes on a snapshot."""
    notes = []
    for details in devices:
        notes += [note for note in (_history(details), _fragmented(details), _pools(details)) if note is not None]
        notes += _out_of_memory(details)
    settings = _setting_ignored(devices)
    return [*notes, settings] if settings is not None else notes


def _history(details: AllocatorDetails) -> Note | None:
    if details.trace_peak_bytes is None:
        return Note(
            code="missing",
            sentence=f"GPU {details.device}: no history was recorded, so there is no course over time; call "
            "torch.cuda.memory._record_memory_history() before the run.",
        )
    if details.has_times:
        return None
    sentence = f"GPU {details.device}: the history has no time stamps: its events are counted instead."
    return Note(code="assumed", sentence=sentence)


def _fragmented(details: AllocatorDetails) -> Note | None:
    split, reserved = details.inactive_split_bytes or 0, details.reserved_bytes or 0
    if split <= WIDE_APART * reserved:
        return None
    sentence = (
        f"GPU {details.device}: {split / MIB:.0f} of {reserved / MIB:.0f} MiB reserved are free parts of segments "
        "in use: fragmentation."
    )
    return Note(code="finding", sentence=sentence)


def _pools(details: AllocatorDetails) -> Note | None:
    fallow = details.private_pool_inactive_bytes or 0
    if not fallow:
        return None
    sentence = (
        f"GPU {details.device}: {fallow / MIB:.0f} MiB lie unused in private pools (CUDA graphs), where no other "
        "allocation can use them."
    )
    return Note(code="finding", sentence=sentence)


def _out_of_memory(details: AllocatorDetails) -> list[Note]:
    notes = []
    for moment in details.moments:
        free = moment.device_free_bytes
        left = "" if free is None else f" when {free / MIB:.0f} MiB were free on the device"
        sentence = (
            f"GPU {details.device} ran out of memory: {moment.requested_bytes / MIB:.0f} MiB were asked for{left}"
        )
        notes.append(Note(code="finding", sentence=f"{sentence}{_at(moment.place)}."))
    return notes


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _at(place: PeakAt | None) -> str:
    if place is None:
        return ""
    return f", at {place.file}" if place.line is None else f", at {place.file}:{place.line}"


def _setting_ignored(devices: tuple[AllocatorDetails, ...]) -> Note | None:
    """What was asked for in the environment, against what the allocator says and did (pytorch/pytorch#183387)."""
    settings = devices[0].settings if devices else {}
    asked = next((match for name in _CONFIGURATIONS if (match := _EXPANDABLE.search(settings.get(name, "")))), None)
    if asked is None or asked.group(1).lower() != "true":
        return None
    in_force = settings.get("expandable_segments", "True") == "True"
    made = [details for details in devices if details.segments]
    if in_force and (not made or any(details.expandable_segments for details in made)):
        return None
    return Note(
        code="contradiction",
        sentence="expandable_segments was asked for but is not in force: set it under both names, "
        "PYTORCH_CUDA_ALLOC_CONF and PYTORCH_ALLOC_CONF, before the first use of CUDA; some builds know one only.",
    )


def summary_notes(details: AllocatorDetails) -> list[Note]:
    """Notes on printed statistics."""
    notes = []
    name = f"{details.backend} device {details.device}"
    if details.out_of_memory_count:
        sentence = f"{name} ran out of memory {_times(details.out_of_memory_count)}."
        notes.append(Note(code="finding", sentence=sentence))
    if details.retries:
        sentence = f"{name}: the cache had to be emptied {_times(details.retries)} to meet a request: memory is short."
        notes.append(Note(code="finding", sentence=sentence))
    allocated, reserved = details.allocated_bytes, details.reserved_bytes
    if allocated is not None and reserved is not None and reserved - allocated > WIDE_APART * reserved:
        sentence = (
            f"{name}: {(reserved - allocated) / MIB:.0f} MiB are reserved but not allocated: fragmentation or cache."
        )
        notes.append(Note(code="finding", sentence=sentence))
    return notes
