"""Tables that nobody knows: a guess of what each column is, which the person can correct."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gpuscope.domain.device import Device
from gpuscope.domain.units import GIB, KIB, MIB
from gpuscope.errors import UsageError
from gpuscope.importers.by_index import INDEX_NAME, split_by_index
from gpuscope.importers.cells import parse_cell
from gpuscope.importers.content import Content
from gpuscope.importers.monitors.wide_csv import SECONDS, TIME, Target, delimiter_of, heading_of, read_table
from gpuscope.importers.notes import NO_TIMES
from gpuscope.importers.reading import Note, Progress, Reading
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

KIND, DESCRIPTION = "mapped_csv", "table with columns that were mapped"

IGNORED = "ignore"
"""What a column is mapped to that is not to be read."""
TIME_NAME, SECONDS_NAME = "time", "seconds"
FIELDS = (
    "utilization_gpu_percent", "utilization_memory_percent", "memory_used_bytes", "memory_total_bytes",
    "memory_free_bytes", "power_w", "power_limit_w", "energy_j", "temperature_c", "temperature_memory_c",
    "clock_sm_mhz", "clock_memory_mhz", "fan_percent", "encoder_percent", "decoder_percent",
)  # fmt: skip
"""Figures that a column can be mapped to."""
MEANINGS = (*FIELDS, INDEX_NAME, TIME_NAME, SECONDS_NAME, IGNORED)
"""All that a column can be mapped to."""

_AMD_SMI_MARKS = {"gfx_activity", "socket_power"}
_AMD_SMI = {
    "gpu": INDEX_NAME, "gfx_activity": "utilization_gpu_percent", "umc_activity": "utilization_memory_percent",
    "socket_power": "power_w", "hotspot": "temperature_c", "mem": "temperature_memory_c", "gfx_0_clk": "clock_sm_mhz",
    "mem_0_clk": "clock_memory_mhz",
}  # fmt: skip
"""Columns of `amd-smi metric --csv`, whose names do not say what they are."""

_WORDS: tuple[tuple[str, str], ...] = (
    (r"^(?:gpu|device|card|cuda) (?:index|idx|id|num|number|no)$|^(?:index|idx)$", INDEX_NAME),
    (r"mem\w* .*temp|temp\w* .*mem|hbm temp", "temperature_memory_c"),
    (r"temp", "temperature_c"),
    (r"power.*(?:limit|cap)|(?:limit|cap).*power", "power_limit_w"),
    (r"power|watt", "power_w"),
    (r"energy|joule", "energy_j"),
    (r"(?:mem|vram|fb)\w* .*used|used .*(?:mem|vram|fb)", "memory_used_bytes"),
    (r"(?:mem|vram|fb)\w* .*total|total .*(?:mem|vram|fb)", "memory_total_bytes"),
    (r"(?:mem|vram|fb)\w* .*free|free .*(?:mem|vram|fb)", "memory_free_bytes"),
    (r"(?:mem|vram|fb)\w* .*(?:util|load|busy|controller)|mem util|mem %", "utilization_memory_percent"),
    (r"mem .*(?:clock|clk)|mclk|clock .*mem", "clock_memory_mhz"),
    (r"(?:v|d|f|soc)clk", IGNORED),
    (r"clock|clk|frequency|freq", "clock_sm_mhz"),
    (r"fan", "fan_percent"),
    (r"enc", "encoder_percent"),
    (r"dec", "decoder_percent"),
    (r"mem|vram|fb used", "memory_used_bytes"),
    (r"util|load|usage|busy|\buse\b|gpu %|^gpu$|sm$", "utilization_gpu_percent"),
)
"""Words of a heading, in lower case with blanks between them, and what they stand for; the first that fits."""
_HOST = re.compile(r"\b(cpu|ram|host|system|swap|disk|net\w*|loss|step|epoch|batch)\b")
_INDEX = re.compile(r"(?:gpu|cuda|device|card)[ _:.#]*(\d{1,9})")
_UNITS = {
    "mib": MIB,
    "mb": MIB,
    "gib": GIB,
    "gb": GIB,
    "kib": KIB,
    "b": 1.0,
    "bytes": 1.0,
    "kw": 1e3,
    "mw": 1e-3,
    "kwh": 3.6e6,
    "wh": 3600.0,
    "mj": 1e-3,
}
_MOST_COLUMNS = 2000
_MOST_NAME = 200
"""Characters of a heading that are looked at."""
_PLAUSIBLE_MIB = 1e6
"""Memory without a unit: numbers below this are MiB, as nvidia-smi prints them; larger ones are bytes."""


class ColumnMeaning(NamedTuple):
    """What a column was taken for."""

    column: str
    meaning: str
    """A field, `time`, `seconds`, or `ignore`."""
    device: str
    scale: float


def read(data: Content, mapping: Mapping[str, str], progress: Progress | None = None) -> Reading:
    """Read a table by its guess and the person's corrections.

    Args:
        data: a CSV with one heading line and one row a moment, compressed by gzip or not.
        mapping: column → field of `FIELDS`, `time`, `seconds` or `ignore`; columns that are not in it are guessed.
        progress: is told the share that was read; to cancel, it raises.

    Raises:
        UsageError: it is no such table, a column of the mapping is not in it, or nothing in it is a figure of a GPU.
    """
    reading = Reading(KIND, DESCRIPTION)
    columns: list[ColumnMeaning] = []

    def targets_of(names: list[str], first: list[str]) -> list[Target | None]:
        columns.extend(_checked(names, first, mapping))
        return [_target(column) for column in columns]

    table = read_table(
        reading,
        data,
        progress,
        targets_of,
        lambda key: Device(uuid=key, index=int(key.split()[-1]), name="unknown GPU"),
    )
    split_by_index(reading)
    if not any(column.meaning in {TIME_NAME, SECONDS_NAME} for column in columns):
        reading.notes.append(NO_TIMES)
    taken = [f"{column.column} = {column.meaning}" for column in columns if column.meaning != IGNORED]
    guessed = not all(name in mapping for name in table.names)
    check = " Guessed columns have to be checked: --map corrects them." if guessed else ""
    reading.notes.append(Note(code="assumed", sentence=f"Columns: {'; '.join(taken)}.{check}"))
    return reading


def _checked(names: list[str], first: list[str], mapping: Mapping[str, str]) -> list[ColumnMeaning]:
    """What each column is, where that makes a table of GPUs."""
    if len(names) > _MOST_COLUMNS:
        raise UsageError(f"The table has {len(names)} columns, more than the {_MOST_COLUMNS} that are read.")
    for column, meaning in mapping.items():
        if column not in names:
            raise UsageError(f"The table has no column {column!r}: it has {', '.join(names[:30])}.")
        if meaning not in MEANINGS:
            raise UsageError(f"{meaning!r} is nothing that a column can be: use {', '.join(MEANINGS)}.")
    columns = guess(names, first, mapping)
    if not any(column.meaning in FIELDS for column in columns):
        raise UsageError(
            "No column of the table looks like a figure of a GPU: say what they are with --map COLUMN=FIELD "
            f"(columns: {', '.join(names[:30])})."
        )
    return columns


def heading(data: bytes) -> tuple[str, ...]:
    """The column names of a table; none where the first line holds fewer than two."""
    first = decode(data[:100_000])[0].lstrip("\n").split("\n", 1)[0]
    names = tuple(heading_of(first))
    return names if len(names) > 1 else ()


def is_guessable(head: str) -> bool:
    """Whether a figure of a GPU is among a table's columns by the guess alone, and the rows have as many cells."""
    lines = [line for line in head.split("\n") if line.strip()][:2]
    if len(lines) < 2:
        return False
    delimiter = delimiter_of(lines[0])
    names, first = heading_of(lines[0], delimiter), heading_of(lines[1], delimiter)
    is_table = len(names) == len(first) and len(names) > 1
    return is_table and any(column.meaning in FIELDS for column in guess(names, first))


def guess(names: list[str], first: list[str], mapping: Mapping[str, str] | None = None) -> list[ColumnMeaning]:
    """What each column of a table is, by the person's word, else by its heading and its first value.

    Args:
        names: the heading.
        first: the cells of the first row.
        mapping: what the person said of some columns.
    """
    known = mapping or {}
    if set(names) >= _AMD_SMI_MARKS:
        known = {**{name: meaning for name, meaning in _AMD_SMI.items() if name in names}, **known}
    columns = [_column(name, first[at] if at < len(first) else "", known.get(name)) for at, name in enumerate(names)]
    taken = {(column.device, column.meaning) for column in columns if column.column in known}
    for at, column in enumerate(columns):
        place = (column.device, column.meaning)
        if column.meaning in FIELDS and column.column not in known:
            # Two columns cannot both be one figure: of the average and the current power the first is taken.
            columns[at] = column._replace(meaning=IGNORED) if place in taken else column
            taken.add(place)
    return columns if INDEX_NAME in known.values() else [_not_itself(column, columns) for column in columns]


def _not_itself(column: ColumnMeaning, columns: list[ColumnMeaning]) -> ColumnMeaning:
    """A column `gpu` is the GPU's number, where another says how busy it is."""
    others = [each.meaning for each in columns if each is not column]
    is_number = column.column.strip().lower() == "gpu" and column.meaning in {"utilization_gpu_percent", IGNORED}
    return column._replace(meaning=INDEX_NAME) if is_number and "utilization_gpu_percent" in others else column


def _column(name: str, value: str, said: str | None) -> ColumnMeaning:
    words = re.sub(r"[^a-z0-9%#:]+", " ", name[:_MOST_NAME].lower()).strip()
    index = _INDEX.search(words)
    device = f"GPU {index.group(1) if index else 0}"
    meaning = said or _meaning(words, value)
    return ColumnMeaning(name, meaning, device, _scale(name, value, meaning))


def _meaning(words: str, value: str) -> str:
    if parse_time(value) is not None:
        return TIME_NAME
    if re.search(r"\b(time|elapsed|seconds?|secs?|duration)\b", words):
        cell, unit = parse_cell(value)
        is_clock = unit.startswith(":")  # a time of day, of a date that stands in another column
        return SECONDS_NAME if cell.reason is None and not is_clock else IGNORED
    if _HOST.search(words) and "gpu" not in words:
        return IGNORED
    if parse_cell(value)[0].reason is not None and value:
        return IGNORED
    plain = _INDEX.sub("gpu", words)
    field = next((field for pattern, field in _WORDS if re.search(pattern, plain)), IGNORED)
    is_share = re.search(r"%|\bpct\b|\bpercent\b", words) is not None or value.endswith("%")
    return IGNORED if is_share and field.endswith("_bytes") else field  # how full it is, not how much


def _scale(name: str, value: str, meaning: str) -> float:
    cell, printed = parse_cell(value)
    unit = re.search(r"[\[(_ ]((?:[kmg]i?b|b|bytes|kw|mw|kwh|wh|mj))[\])]?$", name.lower())
    text = printed.lower() or (unit.group(1) if unit else "")
    if meaning.endswith("_bytes"):
        if text:
            return _UNITS.get(text, 1.0)
        return MIB if cell.reason is None and cell.value < _PLAUSIBLE_MIB else 1.0
    fitting = {"energy_j": {"kwh", "wh", "mj"}, "power_w": {"kw", "mw"}, "power_limit_w": {"kw", "mw"}}
    return _UNITS[text] if text in fitting.get(meaning, ()) else 1.0


def _target(column: ColumnMeaning) -> Target | None:
    if column.meaning == TIME_NAME:
        return TIME
    if column.meaning == SECONDS_NAME:
        return SECONDS
    return None if column.meaning == IGNORED else Target(column.device, column.meaning, column.scale)
