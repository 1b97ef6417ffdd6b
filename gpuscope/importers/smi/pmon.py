"""`nvidia-smi pmon`: one row a process and GPU; a process that uses three GPUs has three."""

from __future__ import annotations

import math

from gpuscope.domain.units import MIB
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.importers.cells import parse_cell
from gpuscope.importers.notes import add_lost
from gpuscope.importers.reading import ImportedProcess, Reading
from gpuscope.importers.smi.fields import PROCESS_KINDS
from gpuscope.importers.smi.monitor_table import MonitorRow, heading_of, rows_of
from gpuscope.importers.text import decode

KIND = "smi_pmon"
DESCRIPTION = "nvidia-smi pmon"


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a table."""
    return any((names := heading_of(line)) is not None and "pid" in names for line in head.splitlines()[:200])


def read(data: bytes) -> Reading:
    """Read a whole table; rows without a process (a GPU on which none runs) are no processes."""
    text, _ = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    lost: list[int] = []
    for row in rows_of(text, last_takes_rest=True):
        if isinstance(row, int):
            lost.append(row)
            continue
        reading.rows += 1
        process = _process(row)
        if process is not None:
            reading.processes.append(process)
    add_lost(reading, lost)
    return reading


def _process(row: MonitorRow) -> ImportedProcess | None:
    cells = dict(zip(row.heading.names, row.cells, strict=True))
    pid = whole_number(cells.get("pid"))
    if pid is None:
        return None
    memory = _number(cells.get("fb"))
    return ImportedProcess(
        pid=pid,
        name=cells.get("command") or cells.get("name"),
        device=cells["gpu"],
        memory_bytes=None if memory is None else round(memory * MIB),
        kind=PROCESS_KINDS.get(cells.get("type", "")),
        sm_percent=_number(cells.get("sm")),
        memory_controller_percent=_number(cells.get("mem")),
        encoder_percent=_number(cells.get("enc")),
        decoder_percent=_number(cells.get("dec")),
    )


def _number(cell: str | None) -> float | None:
    value = parse_cell(cell or "")[0].value
    return None if math.isnan(value) else value
