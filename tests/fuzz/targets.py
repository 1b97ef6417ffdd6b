"""What is fuzzed: every reader of other programs' files, each with the shipped files that it recognises as seeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gpuscope.engine.explain_oom import explain
from gpuscope.errors import GpuscopeError
from gpuscope.importers import mapped_csv
from gpuscope.importers.compressed import head_of
from gpuscope.importers.recognise import READERS, Reader, read
from gpuscope.importers.text import decode

DATA = Path(__file__).parents[1] / "data"


class Target(NamedTuple):
    """One reader under damaged files."""

    name: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


def targets() -> list[Target]:
    """Every reader that a shipped file is for, the guess at unknown tables, the out-of-memory messages, and opening."""
    files = [path.read_bytes() for path in sorted((DATA / "imports").rglob("*")) if path.is_file()]
    files = [data for data in files if not data.startswith(b"# Logs from other machines")]
    found = []
    for reader in READERS:
        seeds = tuple(data for data in files if _recognises(reader, data))
        if seeds:
            found.append(Target(reader.description, reader.read, seeds))
    messages = json.loads((DATA / "out_of_memory" / "messages.json").read_text(encoding="utf-8"))
    texts = tuple(str(case["text"]).encode() for case in messages.values())
    return [
        *found,
        Target("tables by their headings", _as_a_table, tuple(data for data in files if b"," in data[:200])),
        Target("out-of-memory messages", lambda data: explain(decode(data)[0]), texts),
        Target("any file", lambda data: read(data, "fuzz"), (*files, *texts)),
    ]


def _recognises(reader: Reader, data: bytes) -> bool:
    return reader.recognises_bytes(data) or reader.recognises(decode(head_of(data, 65536))[0])


def _as_a_table(data: bytes) -> object:
    return mapped_csv.read(data, {})


def outcome(target: Target, data: bytes) -> BaseException | None:
    """The error that a person would see a traceback of; None where the file was read or refused with a sentence."""
    try:
        target.read(data)
    except GpuscopeError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return error
    return None
