"""`nvidia-smi dmon`: one row a GPU and second; which columns there are depends on the driver and on -s."""

from __future__ import annotations

from gpuscope.importers.notes import add_lost
from gpuscope.importers.reading import Reading
from gpuscope.importers.smi.columns import Column
from gpuscope.importers.smi.monitor_table import Heading, heading_of, rows_of
from gpuscope.importers.smi.rows import RowCollector
from gpuscope.importers.text import decode

KIND = "smi_dmon"
DESCRIPTION = "nvidia-smi dmon"

_NAMES = {
    "gpu": "index", "pwr": "power.draw", "temp": "temperature.gpu", "gtemp": "temperature.gpu",
    "mtemp": "temperature.memory", "sm": "utilization.gpu", "mem": "utilization.memory", "enc": "utilization.encoder",
    "dec": "utilization.decoder", "mclk": "clocks.current.memory", "pclk": "clocks.current.sm", "fb": "memory.used",
    "rxpci": "pcie.rx", "txpci": "pcie.tx",
}  # fmt: skip
"""Columns by their field in query logs; the others keep their names. sm is what query logs call utilization.gpu."""


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a table."""
    return any((names := heading_of(line)) is not None and "pid" not in names for line in head.splitlines()[:200])


def read(data: bytes) -> Reading:
    """Read a whole table; lines that are no rows are counted."""
    text, _ = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    collector = RowCollector(reading)
    columns: dict[Heading, list[Column]] = {}
    lost: list[int] = []
    for row in rows_of(text, last_takes_rest=False):
        if isinstance(row, int):
            lost.append(row)
            continue
        if row.heading not in columns:
            columns[row.heading] = _columns(row.heading)
        collector.add(row.line, columns[row.heading], _with_time(row.heading, row.cells))
    collector.finish()
    add_lost(reading, lost)
    return reading


def _columns(heading: Heading) -> list[Column]:
    units = heading.units if len(heading.units) == len(heading.names) else ("",) * len(heading.names)
    return [
        Column("timestamp") if name == "time" else Column(_NAMES.get(name, name), _unit(unit))
        for name, unit in zip(heading.names, units, strict=True)
    ]


def _unit(unit: str) -> str:
    return "" if unit in {"Idx", "bool", "errs", "#", "name"} else unit


def _with_time(heading: Heading, cells: list[str]) -> list[str]:
    """Date and time (dmon -o DT) stand in columns of their own: put into that of the time."""
    if "date" not in heading.names or "time" not in heading.names:
        return cells
    date, time = cells[heading.names.index("date")], cells[heading.names.index("time")]
    written = f"{date[:4]}/{date[4:6]}/{date[6:]} {time}" if len(date) == 8 and date.isdigit() else f"{date} {time}"
    return [written if name == "time" else cell for name, cell in zip(heading.names, cells, strict=True)]
