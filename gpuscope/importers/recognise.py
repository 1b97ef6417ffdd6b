"""Which reader a file is for: told by its content, never by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gpuscope.domain.units import format_bytes
from gpuscope.errors import UsageError
from gpuscope.importers import mapped_csv
from gpuscope.importers.compressed import Pieces, archive_kind, bounded, head_of, is_gzip
from gpuscope.importers.content import Content
from gpuscope.importers.monitors import (
    dcgmi,
    gpustat,
    loose_json,
    nvtop,
    prometheus,
    tegrastats,
    vendor_json,
    wide_logs,
)
from gpuscope.importers.notes import add_open_end
from gpuscope.importers.nsight import database as sqlite_file
from gpuscope.importers.nsight import sqlite_export
from gpuscope.importers.nsight.own_formats import what_to_do
from gpuscope.importers.out_of_memory.find import find_messages
from gpuscope.importers.pytorch import key_averages, kineto, memory_summary, memory_timeline, snapshot
from gpuscope.importers.reading import Note, Progress, Reading
from gpuscope.importers.sense import add_findings
from gpuscope.importers.smi import apps_csv, dmon, pmon, q_text, q_xml, query_csv, table
from gpuscope.importers.text import decode

_HEAD_BYTES = 65536
_TAIL_BYTES = 256
_MOST_WHOLE = 256 * 1024**2
"""Bytes (inflated) of what a reader takes as one text: it needs several times as much memory."""
_MOST_JSON = 64 * 1024**2
"""The same of JSON, whose values take more than their text."""
_MOST_SLOW = 64 * 1024**2
"""The same of texts of which a megabyte takes a tenth of a second and more."""
_MOST_SNAPSHOT = 512 * 1024**2
"""A hundred thousand events with their stacks are some 200 MB."""


def _no_text(_: str) -> bool:
    return False


class Reader(NamedTuple):
    """One kind of file."""

    description: str
    recognises: Callable[[str], bool]
    """Given the beginning of the file as text."""
    read: Callable[[bytes], Reading]
    recognises_bytes: Callable[[bytes], bool] = lambda _: False
    """Given the file's beginning and, where it is large, its end; for what is no text."""
    read_along: Callable[[Content, Progress | None], Reading] | None = None
    """The same for files that take seconds: compressed or not, with progress."""
    most_bytes: int = _MOST_WHOLE
    """What is larger is refused, unless it is read along."""


def _along(
    description: str, recognises: Callable[[str], bool], read: Callable[[Content, Progress | None], Reading]
) -> Reader:
    """A reader of large files."""
    return Reader(description, recognises, lambda data: read(data, None), read_along=read)


READERS: tuple[Reader, ...] = (
    Reader(q_xml.DESCRIPTION, q_xml.recognises, q_xml.read),
    Reader(q_text.DESCRIPTION, q_text.recognises, q_text.read, most_bytes=_MOST_SLOW),
    Reader(table.DESCRIPTION, table.recognises, table.read),
    _along(dmon.DESCRIPTION, dmon.recognises, dmon.read),
    Reader(pmon.DESCRIPTION, pmon.recognises, pmon.read),
    _along(kineto.DESCRIPTION, kineto.recognises, kineto.read),
    Reader(
        sqlite_export.DESCRIPTION, _no_text, sqlite_export.read, sqlite_file.is_foreign_database, sqlite_export.read
    ),
    Reader(snapshot.DESCRIPTION, _no_text, snapshot.read, snapshot.is_pickle, most_bytes=_MOST_SNAPSHOT),
    Reader(memory_timeline.DESCRIPTION, memory_timeline.recognises, memory_timeline.read, most_bytes=_MOST_JSON),
    Reader(key_averages.DESCRIPTION, key_averages.recognises, key_averages.read),
    Reader(memory_summary.DESCRIPTION, memory_summary.recognises, memory_summary.read, most_bytes=_MOST_SLOW),
    Reader(dcgmi.DMON_DESCRIPTION, dcgmi.recognises_dmon, dcgmi.read_dmon),
    Reader(dcgmi.STATS_DESCRIPTION, dcgmi.recognises_stats, dcgmi.read_stats),
    Reader(tegrastats.DESCRIPTION, tegrastats.recognises, tegrastats.read, most_bytes=_MOST_SLOW),
    Reader(gpustat.TEXT_DESCRIPTION, gpustat.recognises_text, gpustat.read_text, most_bytes=_MOST_SLOW),
    Reader(gpustat.JSON_DESCRIPTION, gpustat.recognises_json, gpustat.read_json, most_bytes=_MOST_JSON),
    Reader(prometheus.API_DESCRIPTION, prometheus.recognises_api, prometheus.read_api, most_bytes=_MOST_JSON),
    Reader(prometheus.TEXT_DESCRIPTION, prometheus.recognises_text, prometheus.read_text),
    Reader(nvtop.DESCRIPTION, nvtop.recognises, nvtop.read, most_bytes=_MOST_JSON),
    Reader(vendor_json.ROCM_DESCRIPTION, vendor_json.recognises_rocm, vendor_json.read_rocm, most_bytes=_MOST_JSON),
    Reader(vendor_json.AMD_DESCRIPTION, vendor_json.recognises_amd, vendor_json.read_amd, most_bytes=_MOST_JSON),
    _along(wide_logs.GPUZ_DESCRIPTION, wide_logs.recognises_gpuz, wide_logs.read_gpuz),
    _along(wide_logs.WANDB_DESCRIPTION, wide_logs.recognises_wandb, wide_logs.read_wandb),
    _along(wide_logs.NVITOP_DESCRIPTION, wide_logs.recognises_nvitop, wide_logs.read_nvitop),
    Reader(apps_csv.DESCRIPTION, apps_csv.recognises, apps_csv.read),
    _along(query_csv.DESCRIPTION, query_csv.recognises, query_csv.read),
    Reader(loose_json.DESCRIPTION, loose_json.recognises, loose_json.read, most_bytes=_MOST_JSON),
)
"""In this order: the first that recognises a file reads it."""
_NOT_OF_LINES = frozenset({
    q_xml.KIND, kineto.KIND, memory_timeline.KIND, gpustat.JSON_KIND, prometheus.API_KIND, nvtop.KIND,
    vendor_json.ROCM_KIND, vendor_json.AMD_KIND, loose_json.KIND,
})  # fmt: skip
"""Kinds of text whose ends of lines mean nothing."""


def read(
    data: Content, name: str, mapping: Mapping[str, str] | None = None, progress: Progress | None = None
) -> Reading:
    """Read a file of any known kind; a table of none is read by a guess of its columns.

    Args:
        data: its bytes.
        name: for messages.
        mapping: what columns of a table are (mapped_csv.FIELDS), in place of the guess; then it is read as a table.
        progress: is told the share of a large file that was read; to cancel, it raises.

    Raises:
        UsageError: no reader knows it; the sentence says what is known.
    """
    if mapping:
        return _with_findings(mapped_csv.read(data, mapping, progress))
    reader, head = _reader_of(data)
    if reader is not None:
        reading = _read_by(reader, data, progress)
        if reader.recognises is not _no_text and reading.kind not in _NOT_OF_LINES and not is_gzip(data):
            add_open_end(reading, data)
        return _with_findings(reading)
    advice = what_to_do(name)
    if advice is not None:
        raise UsageError(advice)
    if mapped_csv.is_guessable(head):
        return _with_findings(mapped_csv.read(data, {}, progress))
    packed = archive_kind(head_of(data, _HEAD_BYTES))
    if packed is not None:
        raise UsageError(f"{name} is packed with {packed}: unpack it, and give the files that are in it.")
    if find_messages(head):
        raise UsageError(f"{name} holds out-of-memory messages: `gpuscope explain-oom {name}` says what they mean.")
    known = ", ".join(reader.description for reader in READERS)
    raise UsageError(f"{name} is of no kind that gpuscope reads. It reads: {known}; tables with --map COLUMN=FIELD.")


def is_known(data: Content) -> bool:
    """Whether a reader is for a file; tables of no known kind can be read all the same, by a guess."""
    return _reader_of(data)[0] is not None


def _reader_of(data: Content) -> tuple[Reader | None, str]:
    """The reader of a file, and the beginning of the file as text."""
    head, _ = decode(head_of(data, _HEAD_BYTES))
    ends = data[:] if len(data) <= 2 * _HEAD_BYTES else data[:_HEAD_BYTES] + data[len(data) - _TAIL_BYTES :]
    return next((each for each in READERS if each.recognises_bytes(ends) or each.recognises(head)), None), head


def _read_by(reader: Reader, data: Content, progress: Progress | None) -> Reading:
    if reader.read_along is not None:
        return reader.read_along(data, progress)
    pieces = Pieces(data)
    reading = reader.read(b"".join(bounded(pieces, reader.most_bytes)) if is_gzip(data) else _small(data, reader))
    if pieces.cut_at is not None:
        sentence = f"The compressed data is cut off at byte {pieces.cut_at}: what was before was read."
        reading.notes.append(Note(code="lost", sentence=sentence))
    return reading


def _small(data: Content, reader: Reader) -> bytes:
    if len(data) > reader.most_bytes:
        most = format_bytes(reader.most_bytes)
        raise UsageError(f"The file ({reader.description}) is larger than {most}, the most that is read: give a part.")
    return data[:]


def _with_findings(reading: Reading) -> Reading:
    add_findings(reading)
    return reading
