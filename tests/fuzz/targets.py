"""What is fuzzed: everything that reads a file which somebody else may have written."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gpuscope.advisor.calibration.own_rates import read_rates
from gpuscope.advisor.cost.imports import read_prices
from gpuscope.advisor.cost.quotes import parse_quote
from gpuscope.cli.footprint_text import footprint_text
from gpuscope.domain.base import to_json
from gpuscope.domain.recommendation import Constraints
from gpuscope.engine.advise import advise, catalogue, read_footprint
from gpuscope.engine.explain_oom import explain
from gpuscope.engine.footprint import compute_footprint, footprint_of
from gpuscope.engine.import_files import import_files, is_session
from gpuscope.engine.session import open_session
from gpuscope.errors import GpuscopeError
from gpuscope.importers import mapped_csv
from gpuscope.importers.compressed import head_of
from gpuscope.importers.recognise import READERS, Reader
from gpuscope.importers.text import decode
from tests.fuzz import seeds

_names = itertools.count()


class Target(NamedTuple):
    """One reader under damaged files."""

    name: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


def targets() -> list[Target]:
    """Every reader, the guess at unknown tables, and what the commands do with a file that they are given."""
    logs = seeds.logs()
    return [
        *(Target(reader.description, reader.read, _seeds_of(reader)) for reader in READERS),
        Target("tables by their headings", _as_a_table, tuple(data for data in logs if b"," in data[:200])),
        Target("out-of-memory messages", lambda data: explain(decode(data)[0]), seeds.out_of_memory_texts()),
        Target("import of any file", _import, (*logs, *seeds.out_of_memory_texts()[:3])),
        Target("session files", _open_session, seeds.sessions()),
        Target("footprint documents", _advise, seeds.footprints()),
        Target("quotes", lambda data: parse_quote(data.decode(errors="replace"), catalogue()), seeds.QUOTES),
        Target("files of prices", _read_prices, seeds.PRICES),
        Target("measured rates", _read_rates, seeds.RATES),
    ]


def _seeds_of(reader: Reader) -> tuple[bytes, ...]:
    """The files that a reader recognises.

    Raises:
        LookupError: there is none: it has to be written into seeds.py.
    """
    found = tuple(data for data in seeds.logs() if recognises(reader, data))
    if not found:
        raise LookupError(f"No file to damage for the reader of {reader.description}.")
    return found


def recognises(reader: Reader, data: bytes) -> bool:
    """Whether a file is for a reader."""
    return reader.recognises_bytes(data) or reader.recognises(decode(head_of(data, 65536))[0])


def _as_a_table(data: bytes) -> object:
    return mapped_csv.read(data, {})


@lru_cache(maxsize=1)
def _folder() -> Path:
    memory = Path("/dev/shm")  # thousands of sessions need not go to a disk
    folder = Path(tempfile.mkdtemp(prefix="gpuscope-fuzz-", dir=memory if os.access(memory, os.W_OK) else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextlib.contextmanager
def _written(data: bytes, suffix: str = "") -> Iterator[Path]:
    """A file with these bytes, which is gone afterwards with all that was made beside it under its name."""
    path = _folder() / f"{next(_names):09}{suffix}"  # of one width: none is the beginning of another
    path.write_bytes(data)
    try:
        yield path
    finally:
        for left in path.parent.glob(f"{path.name}*"):
            left.unlink()


def _read_prices(data: bytes) -> object:
    with _written(data) as path:
        return read_prices(path, catalogue())


def _read_rates(data: bytes) -> object:
    with _written(data) as path:
        return read_rates(path)


def _import(data: bytes) -> object:
    """`gpuscope import` with all that is printed of it."""
    with _written(data) as log:
        if is_session(log):
            return None  # another target's
        session = log.with_name(f"{log.name}.gpuscope")
        import_files([log], session)
        with open_session(session) as reader:
            footprint = footprint_of(reader)
            return to_json(footprint), footprint_text(footprint, reader.evidence_sha256())


def _open_session(data: bytes) -> object:
    """`gpuscope footprint` on a session, with all that the window reads of it."""
    with _written(data, ".gpuscope") as path, open_session(path) as reader:
        read = [list(reader.frames()), list(reader.events()), list(reader.output()), reader.devices()]
        stored, computed = footprint_of(reader), compute_footprint(reader)
        return read, to_json(stored), footprint_text(computed, reader.evidence_sha256())


def _advise(data: bytes) -> object:
    """`gpuscope advise --footprint`; most damage is refused before there is anything to advise on."""
    with _written(data) as path:
        footprint = read_footprint(path)
        footprint_text(footprint, None)
        return to_json(advise(footprint, Constraints()))


def outcome(target: Target, data: bytes) -> BaseException | None:
    """The error that a person would see a traceback of; None where the file was read or refused with a sentence."""
    try:
        target.read(data)
    except GpuscopeError as refusal:
        return None if _is_a_sentence(str(refusal)) else refusal
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return error
    return None


def _is_a_sentence(text: str) -> bool:
    """Something that can be read: not empty, and not the file itself."""
    return 0 < len(text) < 5000
