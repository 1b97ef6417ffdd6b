"""Rows of a query log, sorted to the GPUs that they are about."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from typing import NamedTuple

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.importers.cells import whole_number
from gpuscope.importers.notes import NO_TIMES
from gpuscope.importers.reading import Note, Reading, Track
from gpuscope.importers.smi.columns import Column
from gpuscope.importers.smi.fields import IDENTITIES
from gpuscope.importers.times import parse_time

_SAME_TICK_SHARE = 0.25
"""Of the usual time between ticks: rows closer together than this belong to one tick."""


_NO_IDENTITY = {True: frozenset({"", "N/A"}), False: frozenset({"", "N/A", "0"})}
"""What stands in an identity's column where there is none; an index, unlike a serial number, may be 0."""


class _Row(NamedTuple):
    line: int
    wall_s: float
    facts: dict[str, str]
    figures: dict[str, float]
    reasons: dict[str, Reason]


class RowCollector:
    """Takes rows in the order of the file; `finish` puts them into the reading's tracks.

    Args:
        reading: gets the tracks and notes.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._rows: list[_Row] = []
        self._zones: set[bool] = set()

    def add(self, line: int, columns: list[Column], cells: list[str]) -> None:
        """One row, with as many cells as columns."""
        wall_s = math.nan
        facts: dict[str, str] = {}
        figures: dict[str, float] = {}
        reasons: dict[str, Reason] = {}
        mask: int | None = None
        for column, cell in zip(columns, cells, strict=True):
            if column.field is not None:
                number = column.number(cell)
                if number.reason is not None:
                    reasons[column.field] = number.reason
                elif column.field not in figures:
                    figures[column.field] = number.value
            elif column.flag is not None:
                active = column.is_active(cell)
                if active is not None:
                    mask = (mask or 0) | (column.flag if active else 0)
            elif column.name == "timestamp":
                parsed = parse_time(cell)
                if parsed is not None:
                    wall_s = parsed[0]
                    self._zones.add(parsed[1])
            else:
                facts[column.name] = cell
                _add_other(column, cell, figures, reasons)
        if mask is not None:
            figures.setdefault("clock_event_reasons", float(mask))
        self._rows.append(_Row(line, wall_s, facts, figures, reasons))

    def finish(self) -> None:
        """Tell the GPUs apart and fill their tracks."""
        reading, rows = self._reading, self._rows
        reading.rows = len(rows)
        reading.zone_known = self._zones == {True}
        if not rows:
            reading.notes.append(Note(code="lost", sentence="The file holds no row that could be read."))
            return
        by_key: dict[str, list[_Row]] = defaultdict(list)
        for key, row in zip(self._keys(rows), rows, strict=True):
            by_key[key].append(row)
        if all(math.isnan(row.wall_s) for row in rows):
            reading.notes.append(NO_TIMES)
            by_key = {key: _a_second_apart(own) for key, own in by_key.items()}
        for index, key in enumerate(_in_order(by_key)):
            reading.tracks[key] = _track(key, index, by_key[key])

    def _keys(self, rows: list[_Row]) -> list[str]:
        for name in IDENTITIES[:-1]:
            values = [row.facts.get(name, "") for row in rows]
            if all(value.strip("[] ").upper() not in _NO_IDENTITY[name == "index"] for value in values):
                return values
        ticks = _rows_per_tick(rows)
        names = {row.facts.get("name", "") for row in rows}
        if ticks == 1:
            return [row.facts.get("name", "") or "GPU" for row in rows]
        self._reading.notes.append(
            Note(
                code="assumed",
                sentence=f"Nothing in the rows names the GPU, and {ticks} rows belong to each moment: they are taken "
                "to come in the same order each time. Check that, or log with --query-gpu=index or uuid.",
            )
        )
        return _positions(rows, next(iter(names)) if len(names) == 1 else "")


_TEXTS = frozenset({*IDENTITIES, "driver_version", "compute_cap", "vbios_version", "pci.bus", "pci.domain"})


def _add_other(column: Column, cell: str, figures: dict[str, float], reasons: dict[str, Reason]) -> None:
    """A figure that samples have no field for is kept under its own heading."""
    if column.name in _TEXTS:
        return
    number = column.number(cell)
    if number.reason is None:
        figures[column.name] = number.value
    elif number.reason is not Reason.IMPLAUSIBLE:
        reasons[column.name] = number.reason


def _rows_per_tick(rows: list[_Row]) -> int:
    """How many rows usually belong to one moment; 1 when all rows are about equally far apart."""
    times = {row.wall_s for row in rows if not math.isnan(row.wall_s)}
    if len(rows) < 2 or not times:
        return 1
    if len(times) == 1:
        return len(rows)
    return Counter(len(tick) for tick in _ticks(rows)).most_common(1)[0][0]


def _ticks(rows: list[_Row]) -> list[list[_Row]]:
    gaps = sorted(later.wall_s - row.wall_s for row, later in itertools.pairwise(rows))
    usual = gaps[int(len(gaps) * 0.95)]
    ticks = [[rows[0]]]
    for row, later in itertools.pairwise(rows):
        if later.wall_s - row.wall_s < usual * _SAME_TICK_SHARE:
            ticks[-1].append(later)
        else:
            ticks.append([later])
    return ticks


def _positions(rows: list[_Row], name: str) -> list[str]:
    label = f"{name} at position" if name else "position"
    return [f"{label} {index}" for tick in _ticks(rows) for index in range(len(tick))]


def _a_second_apart(rows: list[_Row]) -> list[_Row]:
    return [row._replace(wall_s=float(second)) for second, row in enumerate(rows)]


def _in_order(keys: dict[str, list[_Row]]) -> list[str]:
    return sorted(keys, key=lambda key: (1, 0, key) if (index := whole_number(key)) is None else (0, index, ""))


def _track(key: str, position: int, rows: list[_Row]) -> Track:
    facts: dict[str, str] = {}
    for row in rows:
        facts.update({name: value for name, value in row.facts.items() if name not in facts})
    names = dict.fromkeys(name for row in rows for name in (*row.figures, *row.reasons))
    track = Track(_device(key, position, facts, rows))
    track.extend(
        (row.wall_s for row in rows), {name: [row.figures.get(name, math.nan) for row in rows] for name in names}
    )
    for row in rows:
        track.reasons.update(row.reasons)
    return track


def _device(key: str, position: int, facts: dict[str, str], rows: list[_Row]) -> Device:
    index = whole_number(facts.get("index", key))
    total = next((row.figures["memory_total_bytes"] for row in rows if "memory_total_bytes" in row.figures), None)
    limit = next((row.figures["power_limit_w"] for row in rows if "power_limit_w" in row.figures), None)
    mode = facts.get("mig.mode.current", "").strip("[]").lower()
    return Device(
        uuid=facts.get("uuid") or key,
        index=position if index is None else index,
        name=facts.get("name") or "unknown GPU",
        memory_total_bytes=None if total is None else round(total),
        pci_bus_id=facts.get("pci.bus_id"),
        driver_version=facts.get("driver_version"),
        compute_capability=facts.get("compute_cap"),
        power_limit_w=limit,
        pcie_generation_max=whole_number(facts.get("pcie.link.gen.max")),
        pcie_width_max=whole_number(facts.get("pcie.link.width.max")),
        mig_enabled={"enabled": True, "disabled": False}.get(mode),
    )
