"""NVIDIA's dcgmi: `dmon` of profiling fields, and `stats` of a job."""

from __future__ import annotations

import math
import re

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.importers.cells import Cell, parse_cell
from gpuscope.importers.notes import NO_TIMES, OTHER_WIDTH, add_lost
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

DMON_KIND, STATS_KIND = "dcgmi_dmon", "dcgmi_stats"
DMON_DESCRIPTION, STATS_DESCRIPTION = "dcgmi dmon", "dcgmi stats"

_HEADING = re.compile(r"#\s*Entity\s+(.*)")
_ENTITY = re.compile(r"[ \t]{0,20}(GPU(?:-(?:I|CI))?) (\d{1,9})\s+(.*)")
_DMON = {
    "GPUTL": "utilization_gpu_percent", "MCUTL": "utilization_memory_percent", "TMPTR": "temperature_c",
    "MMTMP": "temperature_memory_c", "POWER": "power_w", "SMCLK": "clock_sm_mhz", "MMCLK": "clock_memory_mhz",
    "ENCUT": "encoder_percent", "DECUT": "decoder_percent",
}  # fmt: skip
"""Short names of fields (`dcgmi dmon -l`) by field of a sample. Activities (GRACT, SMACT ...) keep their names and
are shares from 0 to 1."""


def recognises_dmon(head: str) -> bool:
    """Whether the beginning of a text is such a table."""
    return any(_HEADING.match(line) for line in head.splitlines()[:200])


def read_dmon(data: bytes) -> Reading:
    """Read dmon's rows; DCGM measures some fields in turns, so that a row has N/A for those that had no turn."""
    text, _ = decode(data)
    reading = Reading(DMON_KIND, DMON_DESCRIPTION)
    names: list[str] = []
    lost: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        heading, row = _HEADING.match(line), _ENTITY.match(line)
        if heading is not None:
            names = heading.group(1).split()
        elif row is not None and names:
            cells = row.group(3).split()
            if len(cells) == len(names):
                _add_row(reading, f"{row.group(1)} {row.group(2)}", int(row.group(2)), names, cells)
            else:
                lost.append(number)
    add_lost(reading, lost, OTHER_WIDTH)
    reading.notes.append(NO_TIMES)
    return reading


def _add_row(reading: Reading, key: str, index: int, names: list[str], texts: list[str]) -> None:
    cells = {_DMON.get(name, name): parse_cell(text)[0] for name, text in zip(names, texts, strict=True)}
    cells = {
        name: cell._replace(reason=Reason.NO_DATA) if cell.reason is Reason.NOT_SUPPORTED else cell
        for name, cell in cells.items()
    }
    known = reading.tracks.get(key)
    wall_s = float(len(known.wall_s)) if known is not None else 0.0
    kind = "gpu" if key.startswith("GPU ") else "mig"
    reading.add(key, Device(uuid=key, index=index, name="unknown GPU", kind=kind), wall_s, cells)


_GPU = re.compile(r"\|\s*GPU ID:\s*(\d{1,9})\b")
_ROW = re.compile(r"\|([^|]*)\|([^|]*)\|")
_PART = re.compile(r"(Avg|Max|Min): ([^,]+)")


def recognises_stats(head: str) -> bool:
    """Whether the beginning of a text is such a table."""
    return "Execution Stats" in head and _GPU.search(head) is not None


def read_stats(data: bytes) -> Reading:
    """Read the summary of a job on each GPU: its averages count as one sample over the job's time."""
    text, _ = decode(data)
    reading = Reading(STATS_KIND, STATS_DESCRIPTION)
    for part in re.split(r"(?=\|\s*GPU ID:)", text)[1:]:
        match = _GPU.search(part)
        if match is None:
            sentence = "A table without a readable GPU ID was left out."
            reading.notes.append(Note(code="lost", sentence=sentence))
            continue
        matches = [_ROW.match(line) for line in part.split("\n")]
        _add_job(reading, int(match.group(1)), {row.group(1).strip(): row.group(2).strip() for row in matches if row})
    if not text.rstrip().endswith("+"):
        sentence = "The last table is cut: its lower edge is missing."
        reading.notes.append(Note(code="lost", sentence=sentence))
    return reading


def _add_job(reading: Reading, index: int, rows: dict[str, str]) -> None:
    start, end = parse_time(rows.get("Start Time", "")), parse_time(rows.get("End Time", ""))
    duration = parse_cell(rows.get("Total Execution Time (sec)", ""))[0]
    cells = {
        "power_w": _part(rows, "Power Usage (Watts)", "Avg"),
        "clock_sm_mhz": _part(rows, "SM Clock (MHz)", "Avg"),
        "clock_memory_mhz": _part(rows, "Memory Clock (MHz)", "Avg"),
        "utilization_gpu_percent": _part(rows, "SM Utilization (%)", "Avg"),
        "utilization_memory_percent": _part(rows, "Memory Utilization (%)", "Avg"),
        "memory_used_bytes": parse_cell(rows.get("Max GPU Memory Used (bytes)", ""))[0],
    }
    energy = parse_cell(rows.get("Energy Consumed (Joules)", ""))[0]
    expected = cells["power_w"].value * duration.value
    if energy.reason is None and energy.value == 0 and expected > 0:
        sentence = (
            f"GPU {index}: 0 J of energy contradict {cells['power_w'].value:g} W over {duration.value:g} s (about "
        )
        sentence += f"{expected:.0f} J): the energy is not known."
        reading.notes.append(Note(code="contradiction", sentence=sentence))
    average, highest = (_part(rows, "Power Usage (Watts)", part) for part in ("Avg", "Max"))
    if average.reason is None and average.value == highest.value:
        sentence = f"GPU {index}: average and maximum of the power are the same: it was read once."
        reading.notes.append(Note(code="finding", sentence=sentence))
    device = Device(uuid=f"GPU {index}", index=index, name="unknown GPU")
    begin = start[0] if start else 0.0
    reading.add(f"GPU {index}", device, begin, cells)
    if end is not None and end[0] > begin:
        # The averages hold until the end.
        reading.add(f"GPU {index}", device, end[0], cells)


def _part(rows: dict[str, str], name: str, part: str) -> Cell:
    """One of `Avg: 247.5, Max: 250.1, Min: 240...`; a number that was cut with dots is none."""
    found = dict(_PART.findall(rows.get(name, "")))
    text = found.get(part, "").strip()
    return Cell(math.nan, Reason.NO_DATA) if text.endswith("...") else parse_cell(text)[0]
