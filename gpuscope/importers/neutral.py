"""Names in a file of somebody else, made harmless before anything shows them."""

from __future__ import annotations

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.plain_names import plain_name
from gpuscope.importers.reading import ImportedProcess, Note, Reading

_MOST_OF_A_NOTE = 2000


def neutralise(reading: Reading) -> None:
    """Take out of names and notes what steers a terminal or turns the order of reading.

    Text formats lose it when they are decoded; JSON, XML and pickles can bring it in as an escape.
    """
    for track in reading.tracks.values():
        track.device = _device(track.device)
    reading.processes = [_process(process) for process in reading.processes]
    reading.notes = [_note(note) for note in reading.notes]


def _device(device: Device) -> Device:
    texts = {name: value for name, value in msgspec.structs.asdict(device).items() if isinstance(value, str)}
    changed = {name: plain for name, value in texts.items() if (plain := plain_name(value)) != value}
    return msgspec.structs.replace(device, **changed) if changed else device


def _process(process: ImportedProcess) -> ImportedProcess:
    name = None if process.name is None else plain_name(process.name)
    return process if name == process.name else msgspec.structs.replace(process, name=name)


def _note(note: Note) -> Note:
    sentence = plain_name(note.sentence, _MOST_OF_A_NOTE)
    return note if sentence == note.sentence else msgspec.structs.replace(note, sentence=sentence)
