"""What `torch.cuda.memory_summary()` and `memory_stats()` print, alone or inside a log; torch 1.4 to 2.13.

The units of torch 1.4 to 1.12 say KB, MB, GB but are 1024, 1024², 1024³ bytes, as the KiB, MiB, GiB of later ones.
Figures are rounded down to four or five digits when they are printed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gpuscope.domain.device import Device
from gpuscope.domain.imported import AllocatorDetails
from gpuscope.domain.units import GIB, KIB, MIB
from gpuscope.errors import UsageError
from gpuscope.importers.pytorch.allocator_notes import summary_notes
from gpuscope.importers.reading import ImportedEvent, Note, Reading, Track
from gpuscope.importers.text import decode

KIND = "torch_memory_summary"
DESCRIPTION = "PyTorch memory_summary() or memory_stats()"

CURRENT, PEAK, ALLOCATED, FREED = "current", "peak", "allocated", "freed"
_COLUMNS = (CURRENT, PEAK, ALLOCATED, FREED)
_TITLE = re.compile(r"PyTorch (\w+) memory summary, device ID (\d+)")
_FAILURES = re.compile(r"OOMs:\s*+(\d{1,18})\s*+\|\s*+\w{1,40} retries:\s*+(\d{1,18})")
_ROW = re.compile(r"\|\s{0,80}([A-Za-z][\w\- ]{0,80}?)\s{0,80}\|((?:\s*+-?\d{1,18}+\s*+[A-Za-z]*+\s*+\|){4})")
_CELL = re.compile(r"(-?\d+)\s*([A-Za-z]*)")
_END = re.compile(r"\|={20,}\|")
_STATISTIC = re.compile(
    r"""["']?\b([a-z_0-9]+\.(?:all|large_pool|small_pool)\.(?:current|peak|allocated|freed)|num_ooms|num_alloc_retries)"""
    r"""["']?\s*[:,=]\s*(\d{1,19})\b"""
)
_NESTED = re.compile(
    r"""["'](\w{1,40})["']\s*:\s*\{((?:\s*["'](?:all|large_pool|small_pool)["']\s*:\s*\{[^{}]{0,400}\}\s*,?){1,3})\s*\}"""
)
"""One metric of `memory_stats_as_nested_dict()`, whose pools and columns are dicts in dicts."""
_NESTED_POOL = re.compile(r"""["'](all|large_pool|small_pool)["']\s*:\s*\{([^{}]*)\}""")
_NESTED_COLUMN = re.compile(r"""["'](current|peak|allocated|freed)["']\s*:\s*(\d{1,19})""")
_UNITS = {
    "": 1, "B": 1, "KB": KIB, "MB": MIB, "GB": GIB, "TB": KIB * GIB, "PB": MIB * GIB, "KIB": KIB, "MIB": MIB,
    "GIB": GIB, "TIB": KIB * GIB, "PIB": MIB * GIB, "K": 1000, "M": 1000**2,
}  # fmt: skip
"""K and M without B are thousands and millions of allocations."""
_METRICS = {
    "allocated memory": "allocated_bytes", "active memory": "active_bytes", "requested memory": "requested_bytes",
    "gpu reserved memory": "reserved_bytes", "reserved memory": "reserved_bytes",
    "non-releasable memory": "inactive_split_bytes", "allocations": "allocation", "active allocs": "active",
    "gpu reserved segments": "segment", "reserved segments": "segment", "non-releasable allocs": "inactive_split",
    "oversize allocations": "oversize_allocations", "oversize gpu segments": "oversize_segments",
}  # fmt: skip
"""By the line of the table: the name in `memory_stats()`."""
_POOLS = {"from large pool": "large_pool", "from small pool": "small_pool"}
_MOST_LINE = 10_000
_MOST_BYTES = 2**60
"""More is no figure of an allocator."""


@dataclass(slots=True)
class _Table:
    """One summary: totals by metric and pool (`allocated_bytes.all`), then by column."""

    device: int = 0
    backend: str = "CUDA"
    out_of_memory: int | None = None
    retries: int | None = None
    totals: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    line: int = 1
    ended: bool = False


def recognises(head: str) -> bool:
    """Whether the beginning of a text holds such a table or such statistics."""
    if _TITLE.search(head) is not None:
        return True
    return "allocated_bytes" in head and _STATISTIC.search(_flattened(head)) is not None


def read(data: bytes) -> Reading:
    """Read every table of a text; those of one device are a series.

    Raises:
        UsageError: a table has no line that can be read.
    """
    text, _ = decode(data)
    tables = list(_tables(text.split("\n"))) or list(_statistics(_flattened(text)))
    reading = Reading(KIND, DESCRIPTION)
    by_device: dict[tuple[str, int], list[_Table]] = defaultdict(list)
    for table in tables:
        if table.totals:
            by_device[table.backend, table.device].append(table)
            reading.rows += 1
        else:
            reading.notes.append(Note(code="lost", sentence="A table without figures was left out.", line=table.line))
    if not by_device:
        raise UsageError("The memory summary holds no figures: copy it with its lines, from |=== to |===.")
    details = []
    for (_, device), mine in sorted(by_device.items()):
        last = _details(mine[-1])
        details.append(last)
        reading.notes += summary_notes(last)
        reading.tracks[f"GPU {device}"] = _track(device, mine)
        reading.events.append(_event(last, mine))
        if not mine[-1].ended:
            sentence = "The table's last lines are missing: it was cut there."
            reading.notes.append(Note(code="lost", sentence=sentence, line=mine[-1].line))
    reading.details = tuple(details)
    reading.notes.append(Note(code="missing", sentence="A memory summary has no time: each counts as one moment."))
    return reading


def _tables(lines: Iterable[str]) -> Iterator[_Table]:
    table: _Table | None = None
    metric = ""
    for number, line in enumerate(lines, 1):
        if len(line) > _MOST_LINE:
            continue
        title = _TITLE.search(line)
        if title is not None:
            if table is not None:
                yield table
            table, metric = _Table(backend=title.group(1), device=int(title.group(2)[:4]), line=number), ""
        elif table is not None:
            metric = _take(table, line, metric)
    if table is not None:
        yield table


def _take(table: _Table, line: str, metric: str) -> str:
    """Take a line of a table in; the metric to which lines of pools belong."""
    failures = _FAILURES.search(line)
    if failures is not None:
        table.out_of_memory, table.retries = (int(part) for part in failures.groups())
        return metric
    row = _ROW.search(line)
    if row is None:
        table.ended = table.ended or (bool(table.totals) and _END.search(line) is not None)
        return metric
    name, pool = row.group(1).lower(), "all"
    if name in _POOLS:
        pool = _POOLS[name]
    else:
        metric = _METRICS.get(name, name.replace(" ", "_"))
    sizes = [int(value) * _UNITS.get(unit.upper(), 1) for value, unit in _CELL.findall(row.group(2))]
    table.totals[f"{metric}.{pool}"] = {
        column: size for column, size in zip(_COLUMNS, sizes, strict=False) if abs(size) < _MOST_BYTES
    }
    return metric


def _flattened(text: str) -> str:
    """The text with nested statistics under the names that the flat ones have: `allocated_bytes.all.peak`."""
    return _NESTED.sub(lambda match: _flat_metric(match.group(1), match.group(2)), text)


def _flat_metric(metric: str, pools: str) -> str:
    return ", ".join(
        f'"{metric}.{pool}.{column}": {value}'
        for pool, columns in _NESTED_POOL.findall(pools)
        for column, value in _NESTED_COLUMN.findall(columns)
    )


def _statistics(text: str) -> Iterator[_Table]:
    """The dict of `memory_stats()`, printed in any way; a name that comes again begins the next one."""
    table = _Table(ended=True)
    seen: set[str] = set()
    for match in _STATISTIC.finditer(text):
        name, value = match.group(1), int(match.group(2))
        if name in seen:
            yield table
            table, seen = _Table(ended=True, line=text.count("\n", 0, match.start()) + 1), set()
        seen.add(name)
        if name == "num_ooms":
            table.out_of_memory = value
        elif name == "num_alloc_retries":
            table.retries = value
        elif value < _MOST_BYTES:
            key, _, column = name.rpartition(".")
            table.totals[key][column] = value
    if seen:
        yield table


def _details(table: _Table) -> AllocatorDetails:
    def figure(metric: str, column: str) -> int | None:
        return table.totals.get(f"{metric}.all", {}).get(column)

    return AllocatorDetails(
        device=table.device,
        backend=table.backend,
        allocated_bytes=figure("allocated_bytes", CURRENT),
        peak_allocated_bytes=figure("allocated_bytes", PEAK),
        active_bytes=figure("active_bytes", CURRENT),
        requested_bytes=figure("requested_bytes", CURRENT),
        reserved_bytes=figure("reserved_bytes", CURRENT),
        peak_reserved_bytes=figure("reserved_bytes", PEAK),
        inactive_split_bytes=figure("inactive_split_bytes", CURRENT),
        segments=figure("segment", CURRENT),
        retries=table.retries,
        out_of_memory_count=table.out_of_memory,
        totals={name: dict(columns) for name, columns in table.totals.items()},
    )


def _track(device: int, tables: list[_Table]) -> Track:
    track = Track(Device(uuid=f"GPU {device}", index=device, name="unknown GPU"))
    for number, table in enumerate(tables):
        figures = {}
        for metric in ("allocated_bytes", "reserved_bytes"):
            value = table.totals.get(f"{metric}.all", {}).get(CURRENT)
            if value is not None:
                figures[metric] = [float(value)]
        track.extend([float(number)], figures)
    return track


def _event(last: AllocatorDetails, tables: list[_Table]) -> ImportedEvent:
    """The highest peaks of all tables: a program may have reset them in between."""
    data: dict[str, object] = {"device": f"GPU {last.device}", "ooms": last.out_of_memory_count}
    data |= {"alloc_retries": last.retries}
    for metric in ("allocated_bytes", "reserved_bytes"):
        columns = [table.totals.get(f"{metric}.all", {}) for table in tables]
        data[metric] = columns[-1].get(CURRENT)
        data[f"peak_{metric}"] = max((column[PEAK] for column in columns if PEAK in column), default=None)
    return ImportedEvent(wall_s=float(len(tables) - 1), kind="memory", data=data)
