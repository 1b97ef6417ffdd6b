"""tegrastats of Jetson boards: one line a moment, memory that CPU and GPU share."""

from __future__ import annotations

import re

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.importers.cells import Cell
from gpuscope.importers.notes import add_lost
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

KIND, DESCRIPTION = "tegrastats", "tegrastats"

_LINE = re.compile(r"(?:(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d) )?RAM (\d{1,12})/(\d{1,12})MB")
_GPU_LOAD = re.compile(r"GR3D(?:_FREQ)? (\d{1,9})%(?:@\[?(\d{1,9}))?")
_TEMPERATURE = re.compile(r"\b(?:GPU|gpu)@(-?\d{1,9}(?:\.\d{1,9})?)C")
_RAIL = re.compile(r"\b((?:VDD|POM|VIN|NC)_?\w*) (\d{1,12})(?:mW)?/(\d{1,12})(?:mW)?")
_MOST_LINE = 10_000
"""Characters; a board of twelve cores and thirty sensors writes less than a thousand."""
_WHOLE_BOARD = ("VDD_IN", "POM_5V_IN", "VIN_SYS_5V0")


def recognises(head: str) -> bool:
    """Whether the beginning of a text holds such lines."""
    return any(_LINE.match(line) and "CPU [" in line for line in head.splitlines()[:100])


def read(data: bytes) -> Reading:
    """Read a log. The board's memory is no memory of the GPU's own: device memory counts as shared."""
    text, _ = decode(data)
    reading = Reading(KIND, DESCRIPTION)
    lost: list[int] = []
    dates: set[tuple[str, str]] = set()
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line) if len(line) < _MOST_LINE else None
        if match is not None and "CPU [" in line:
            dates.add((match.group(1) or "", match.group(2) or ""))
            _add_line(reading, match, line)
        elif line.strip():
            lost.append(number)
    add_lost(reading, lost, "Lines that are no lines of tegrastats were left out.")
    if any(0 < int(first or 0) <= 12 and 0 < int(second or 0) <= 12 and first != second for first, second in dates):
        sentence = "The dates may be month-day-year or day-month-year: month first is assumed."
        reading.notes.append(Note(code="assumed", sentence=sentence))
    return reading


def _add_line(reading: Reading, match: re.Match[str], line: str) -> None:
    load, temperature = _GPU_LOAD.search(line), _TEMPERATURE.search(line)
    rails = {name: (float(now), float(average)) for name, now, average in _RAIL.findall(line)}
    shared = Cell(float("nan"), Reason.UNIFIED_MEMORY)
    cells: dict[str, Cell] = {
        "memory_used_bytes": shared,
        "memory_total_bytes": shared,
        "ram_used_mb": Cell(float(match.group(7))),
        "ram_total_mb": Cell(float(match.group(8))),
    }
    if load is not None:
        cells["utilization_gpu_percent"] = Cell(float(load.group(1)))
        if load.group(2):
            cells["clock_graphics_mhz"] = Cell(float(load.group(2)))
    if temperature is not None:
        cells["temperature_c"] = Cell(float(temperature.group(1)))
    for name, (now, average) in rails.items():
        cells[f"{name}_mw"], cells[f"{name}_average_mw"] = Cell(now), Cell(average)
    board = next((rails[name] for name in _WHOLE_BOARD if name in rails), None)
    if board is not None:
        cells["board_power_w"] = Cell(board[0] / 1000)
    cores = re.search(r"CPU \[([^\]]*)\]", line)
    if cores is not None:
        cells["cpu_cores_off"] = Cell(float(cores.group(1).split(",").count("off")))
    reading.add("GPU 0", Device(uuid="GPU 0", index=0, name="Jetson GPU"), _wall_s(match, reading), cells)


def _wall_s(match: re.Match[str], reading: Reading) -> float:
    month, day, year, hour, minute, second = match.groups()[:6]
    if month is None:
        return float(reading.rows)
    if int(month) > 12:
        month, day = day, month
    parsed = parse_time(f"{year}/{month}/{day} {hour}:{minute}:{second}")
    return float(reading.rows) if parsed is None else parsed[0]
