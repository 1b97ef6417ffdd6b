"""`nvidia-smi --query-compute-apps=... --format=csv`: the processes on the GPUs; names are not quoted."""

from __future__ import annotations

import math

from gpuscope.domain.units import MIB
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.importers.cells import parse_cell
from gpuscope.importers.notes import add_lost
from gpuscope.importers.reading import ImportedProcess, Reading
from gpuscope.importers.smi.fields import canonical
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

KIND = "smi_apps_csv"
DESCRIPTION = "nvidia-smi --query-compute-apps, CSV"

_PROCESS, _MEMORY = "process_name", "used_gpu_memory"


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a log: a header line that names pid and process."""
    return any(_is_header(_names(line)) for line in head.splitlines()[:50])


def read(data: bytes) -> Reading:
    """Read a whole log; a comma in a process's name does not shift its columns."""
    text, _ = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    names: list[str] = []
    lost: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        heading = _names(line)
        if _is_header(heading):
            names = heading
        elif line.strip():
            cells = _cells(line, names)
            process = None if cells is None else _process(dict(zip(names, cells, strict=True)))
            if process is None:
                lost.append(number)
            else:
                reading.rows += 1
                reading.processes.append(process)
    add_lost(reading, lost)
    return reading


def _names(line: str) -> list[str]:
    return [{"name": _PROCESS}.get(name, name) for name in (canonical(part)[0] for part in line.split(","))]


def _is_header(names: list[str]) -> bool:
    return "pid" in names and (_PROCESS in names or _MEMORY in names)


def _cells(line: str, names: list[str]) -> list[str] | None:
    """As many cells as columns: what is too many belongs to the name. None where that cannot be."""
    cells = [cell.strip() for cell in line.split(",")]
    extra = len(cells) - len(names)
    if not names or extra < 0 or (extra and _PROCESS not in names):
        return None
    at = names.index(_PROCESS) if extra else 0
    return cells if not extra else [*cells[:at], ", ".join(cells[at : at + extra + 1]), *cells[at + extra + 1 :]]


def _process(cells: dict[str, str]) -> ImportedProcess | None:
    pid = whole_number(cells["pid"])
    if pid is None and cells["pid"].strip("[]").upper() != "N/A":
        return None
    memory = parse_cell(cells.get(_MEMORY, ""))[0].value
    time = parse_time(cells.get("timestamp", ""))
    device = next((cells[name] for name in ("uuid", "pci.bus_id", "index", "gpu_name") if cells.get(name)), None)
    return ImportedProcess(
        pid=pid,
        name=cells.get(_PROCESS),
        device=device,
        memory_bytes=None if math.isnan(memory) else round(memory * MIB),
        kind="compute",
        wall_s=None if time is None else time[0],
    )
