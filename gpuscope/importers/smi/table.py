"""The table that plain `nvidia-smi` draws: once, or again and again in a loop; drivers 325 to 610.

A GPU takes two lines (three since MIG): index, name and bus; then fan, temperature, state, power, memory, utilisation.
Headings changed: driver 610 says "KMD Version" and "CUDA UMD Version".
"""

from __future__ import annotations

import math
import re

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.domain.units import MIB
from gpuscope.importers.cells import Cell, parse_cell, rounded
from gpuscope.importers.reading import ImportedProcess, Note, Reading
from gpuscope.importers.smi.fields import PROCESS_KINDS
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

KIND = "smi_table"
DESCRIPTION = "nvidia-smi, plain table"

_HEADING = re.compile(
    r"\|\s*NVIDIA-SMI\s+(\S+)\s+(?:Driver|KMD) Version:\s*(\S+)(?:\s+CUDA (?:UMD )?Version:\s*(\S+))?"
)
_GPU = re.compile(r"(\d{1,9})\s+(\S.*?)\s+(On|Off|WDDM|TCC|MCDM|N/A|ERR!)")
_BUS = re.compile(r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\b")
_STATE = re.compile(r"(?:(\S+)\s+)?(\d+C|N/A|ERR!)\s+(P\d+|N/A|ERR!|Unknown)\s+(\S+)\s*/\s*(\S+)")
_MEMORY = re.compile(r"(\d{1,12})Mi?B\s*/\s*(\d{1,12})Mi?B")
_PROCESS = re.compile(
    r"\|\s+(\d{1,9})\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(\d{1,18})\s+(?:(C\+G|M\+C|C|G)\s+)?(\S.*?)\s+"
    r"(?:(\d{1,12})Mi?B|N/A)\s*\|"
)
_QUERY_HEADING = re.compile(
    r"[a-z_]{1,40}(?:\.[a-z_]{1,40}){0,4}(?: \[[^\]]{1,9}\])?(?:, [a-z_.]{1,60}(?: \[[^\]]{1,9}\])?){2,60}"
)
_MOST_LINE = 500
"""Characters; the table is 80 to 91 wide."""
_SHARED_MEMORY = re.compile(r"\b(GB10|Thor|Orin|Xavier|Tegra)\b")


def recognises(head: str) -> bool:
    """Whether the beginning of a text holds such a table."""
    return _HEADING.search(head) is not None


def read(data: bytes) -> Reading:
    """Read every table of a text; those of a loop make a series."""
    text, _ = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    _Tables(reading).read(text.split("\n"))
    return reading


class _Tables:
    """The table that is being read, and what the last lines were about."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._time: float | None = None
        self._driver: tuple[str, str | None] | None = None
        self._tables = 0
        self._waiting: tuple[int, Device] | None = None
        """A GPU whose second line is still to come."""

    def read(self, lines: list[str]) -> None:
        for number, line in enumerate(lines, 1):
            self._line(number, line)
        last = next((line for line in reversed(lines) if line.strip()), "")
        if self._waiting is not None:
            self._note_cut(self._waiting[0])
        elif last.lstrip().startswith("|"):
            self._reading.notes.append(Note(code="lost", sentence="The last table is cut: its lower edge is missing."))
        if self._tables and not self._reading.tracks:
            self._reading.notes.append(Note(code="lost", sentence="The table names no GPU."))

    def _line(self, number: int, line: str) -> None:
        if len(line) > _MOST_LINE:
            return
        heading = _HEADING.search(line)
        if heading is not None:
            self._driver = heading.group(2), heading.group(3)
            self._tables += 1
            return
        time = parse_time(line)
        if time is not None:
            self._time = time[0]
            return
        process = _PROCESS.match(line)
        if process is not None:
            self._add_process(process)
            return
        if _QUERY_HEADING.fullmatch(line.strip()):
            sentence = "Here begins a table of --query-gpu, which was left out: give it as a file of its own."
            self._reading.notes.append(Note(code="lost", sentence=sentence, line=number))
            return
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if len(cells) == 3 and self._driver is not None:
            self._gpu_line(number, cells)

    def _gpu_line(self, number: int, cells: list[str]) -> None:
        gpu, bus = _GPU.fullmatch(cells[0]), _BUS.search(cells[1])
        if gpu is not None and bus is not None:
            if self._waiting is not None:
                self._note_cut(self._waiting[0])
            self._waiting = number, self._device(int(gpu.group(1)), gpu.group(2), bus.group(1))
        elif self._waiting is not None and _STATE.match(cells[0]):
            self._add_sample(self._waiting[1], cells)
            self._waiting = None

    def _device(self, index: int, name: str, bus_id: str) -> Device:
        assert self._driver is not None
        return Device(
            uuid=f"GPU {index}",
            index=index,
            name=name.removesuffix("...").strip(),
            pci_bus_id=bus_id,
            driver_version=self._driver[0],
            cuda_version=self._driver[1],
        )

    def _add_sample(self, device: Device, cells: list[str]) -> None:
        figures = _figures(device, cells)
        track = self._reading.tracks.get(str(device.index))
        samples = 0 if track is None else len(track.wall_s)
        wall_s = float(samples) if self._time is None else self._time
        self._reading.add(str(device.index), _with_limits(device, figures), wall_s, figures)

    def _add_process(self, match: re.Match[str]) -> None:
        index, pid, kind, name, memory = match.groups()
        self._reading.processes.append(
            ImportedProcess(
                pid=int(pid),
                name=name,
                device=index,
                memory_bytes=None if memory is None else int(memory) * MIB,
                kind=PROCESS_KINDS.get(kind or ""),
                wall_s=self._time,
            )
        )

    def _note_cut(self, line: int) -> None:
        sentence = "A GPU's second line is missing: the table was cut there."
        self._reading.notes.append(Note(code="lost", sentence=sentence, line=line))


def _figures(device: Device, cells: list[str]) -> dict[str, Cell]:
    match = _STATE.match(cells[0])
    assert match is not None
    fan, temperature, state, power, limit = match.groups()
    utilization = cells[2].split(None, 1)[0] if cells[2] else ""
    memory = _MEMORY.search(cells[1])
    found: dict[str, Cell] = {
        "fan_percent": parse_cell(fan or "N/A")[0],
        "temperature_c": parse_cell(temperature)[0],
        "performance_state": parse_cell(state.removeprefix("P"))[0],
        "power_w": parse_cell(power)[0],
        "power_limit_w": parse_cell(limit)[0],
        "utilization_gpu_percent": parse_cell(utilization)[0],
    }
    if memory is not None:
        found["memory_used_bytes"] = Cell(float(memory.group(1)) * MIB)
        found["memory_total_bytes"] = Cell(float(memory.group(2)) * MIB)
    else:
        shared = _SHARED_MEMORY.search(device.name) is not None
        reason = Reason.UNIFIED_MEMORY if shared else Reason.NOT_SUPPORTED
        found["memory_used_bytes"] = found["memory_total_bytes"] = Cell(math.nan, reason)
    return found


def _with_limits(device: Device, figures: dict[str, Cell]) -> Device:
    limit = figures["power_limit_w"]
    return msgspec.structs.replace(
        device,
        memory_total_bytes=rounded(figures["memory_total_bytes"]),
        power_limit_w=None if limit.reason else limit.value,
    )
