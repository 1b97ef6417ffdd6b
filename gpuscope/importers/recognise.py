"""Which reader a file is for: told by its content, never by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuscope.errors import UsageError
from gpuscope.importers.out_of_memory.find import find_messages
from gpuscope.importers.reading import Reading
from gpuscope.importers.sense import add_findings
from gpuscope.importers.smi import apps_csv, dmon, pmon, q_text, q_xml, query_csv, table
from gpuscope.importers.text import decode

_HEAD_BYTES = 65536


class Reader(NamedTuple):
    """One kind of file."""

    description: str
    recognises: Callable[[str], bool]
    """Given the beginning of the file as text."""
    read: Callable[[bytes], Reading]


READERS: tuple[Reader, ...] = tuple(
    Reader(module.DESCRIPTION, module.recognises, module.read)
    for module in (q_xml, q_text, table, dmon, pmon, apps_csv, query_csv)
)
"""In this order: the first that recognises a file reads it."""


def read(data: bytes, name: str) -> Reading:
    """Read a file of any known kind.

    Args:
        data: its bytes.
        name: for messages.

    Raises:
        UsageError: no reader knows it; the sentence says what is known.
    """
    head, _ = decode(data[:_HEAD_BYTES])
    for reader in READERS:
        if reader.recognises(head):
            reading = reader.read(data)
            add_findings(reading)
            return reading
    if find_messages(head):
        raise UsageError(f"{name} holds out-of-memory messages: `gpuscope explain-oom {name}` says what they mean.")
    known = ", ".join(reader.description for reader in READERS)
    raise UsageError(f"{name} is of no kind that gpuscope reads. It reads: {known}.")
