"""gpustat: its text and its JSON."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.units import MIB
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.errors import UsageError
from gpuscope.importers.cells import Cell, parse_cell, rounded
from gpuscope.importers.json_text import MALFORMED
from gpuscope.importers.reading import ImportedProcess, Note, Reading
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

TEXT_KIND, JSON_KIND = "gpustat_text", "gpustat_json"
TEXT_DESCRIPTION, JSON_DESCRIPTION = "gpustat, text", "gpustat --json"

_UNACCOUNTED_BYTES = 64 * MIB
"""What drivers and rounding leave without a process; more is somebody's."""
_GPU = re.compile(
    r"\[(\d{1,9})\] ([^|]+)\|\s*+([^\s|°]+?)\s*+°?C,([^|]*)\|\s*+(\d{1,12})\s*+/\s*+(\d{1,12})\s*+MB\s*+\|?(.*)"
)
_MOST_LINE = 10_000
"""Characters; a hundred processes on a GPU take fewer."""
_HEAD = re.compile(r"(\S+)\s+([A-Z][a-z]{2} [A-Z][a-z]{2}\s+\d+ \d+:\d+:\d+ \d{4})\s*([\d.]+)?")
_UTILIZATION = re.compile(r"(\d{1,9}|\?{1,9}) ?%")
_POWER = re.compile(r"(\d{1,9}|\?{1,9}) / {1,9}(\d{1,9}|\?{1,9}) W")
_PROCESS = re.compile(r"([^\s(]{1,100})\((\d{1,12})M\)")


def recognises_text(head: str) -> bool:
    """Whether the beginning of a text holds gpustat's lines."""
    return any(_GPU.match(line) for line in head.splitlines()[:500])


def read_text(data: bytes) -> Reading:
    """Read gpustat's text, once or in a loop."""
    text, _ = decode(data)
    reading = Reading(TEXT_KIND, TEXT_DESCRIPTION)
    wall_s, driver = 0.0, None
    for line in text.split("\n"):
        head = _HEAD.match(line)
        if head is not None:
            time = parse_time(head.group(2))
            wall_s, driver = (time[0] if time else wall_s), head.group(3)
        elif len(line) < _MOST_LINE and (match := _GPU.match(line)) is not None:
            _add_line(reading, match, wall_s, driver)
    return reading


def _add_line(reading: Reading, match: re.Match[str], wall_s: float, driver: str | None) -> None:
    index, name, temperature, middle, used, total, rest = match.groups()
    name = name.rstrip()
    utilization, power = _UTILIZATION.search(middle), _POWER.search(middle)
    cells = {
        "temperature_c": parse_cell(temperature)[0],
        "utilization_gpu_percent": parse_cell(utilization.group(1).replace("?", "") if utilization else "")[0],
        "memory_used_bytes": Cell(float(used) * MIB),
        "memory_total_bytes": Cell(float(total) * MIB),
    }
    if power is not None:
        cells["power_w"], cells["power_limit_w"] = (parse_cell(part.replace("?", ""))[0] for part in power.groups())
    device = Device(
        uuid=f"GPU {index}", index=int(index), name=name, driver_version=driver, memory_total_bytes=int(total) * MIB
    )
    reading.add(index, device, wall_s, cells)
    listed = [
        ImportedProcess(pid=None, name=user, device=index, memory_bytes=int(size) * MIB, wall_s=wall_s)
        for user, size in _PROCESS.findall(rest)
    ]
    reading.processes += listed
    if listed:
        add_unaccounted(reading, f"GPU {index}", int(used) * MIB, listed)


def add_unaccounted(reading: Reading, name: str, used_bytes: int, processes: list[ImportedProcess]) -> None:
    """Say how much of the memory in use belongs to no process that is listed."""
    listed = sum(process.memory_bytes or 0 for process in processes)
    rest = used_bytes - listed
    if rest > _UNACCOUNTED_BYTES:
        sentence = f"{name}: {rest / MIB:.0f} MiB of the {used_bytes / MIB:.0f} MiB in use are unaccounted for: the "
        sentence += f"processes that are listed hold {listed / MIB:.0f} MiB."
        reading.notes.append(Note(code="contradiction", sentence=sentence))


def recognises_json(head: str) -> bool:
    """Whether the beginning of a text is gpustat's JSON."""
    return '"gpus"' in head and '"utilization.gpu"' in head


def read_json(data: bytes) -> Reading:
    """Read gpustat's JSON.

    Raises:
        UsageError: it is cut off or no such JSON.
    """
    reading = Reading(JSON_KIND, JSON_DESCRIPTION)
    try:
        answer = msgspec.json.decode(decode(data)[0].encode())
        time = parse_time(str(answer.get("query_time", "")))
        for gpu in answer["gpus"]:
            _add_json(reading, gpu, time[0] if time else 0.0, answer.get("driver_version"))
    except MALFORMED as error:
        raise UsageError("The file is no complete JSON of gpustat: save it again.") from error
    return reading


_FIELDS = {
    "temperature.gpu": ("temperature_c", 1), "fan.speed": ("fan_percent", 1),
    "utilization.gpu": ("utilization_gpu_percent", 1), "utilization.enc": ("encoder_percent", 1),
    "utilization.dec": ("decoder_percent", 1), "power.draw": ("power_w", 1),
    "enforced.power.limit": ("power_limit_w", 1), "memory.used": ("memory_used_bytes", MIB),
    "memory.total": ("memory_total_bytes", MIB),
}  # fmt: skip


def _add_json(reading: Reading, gpu: dict[str, Any], wall_s: float, driver: Any) -> None:
    cells = {}
    for name, (field, scale) in _FIELDS.items():
        if name in gpu:
            cell = parse_cell("" if gpu[name] is None else str(gpu[name]))[0]
            cells[field] = cell._replace(value=cell.value * scale)
    index = whole_number(str(gpu["index"]))
    key = str(gpu.get("uuid") or gpu["index"])
    device = Device(
        uuid=key,
        index=len(reading.tracks) if index is None else index,
        name=str(gpu.get("name", "unknown GPU")),
        driver_version=None if driver is None else str(driver),
        memory_total_bytes=rounded(cells.get("memory_total_bytes")),
    )
    reading.add(key, device, wall_s, cells)
    listed = [
        ImportedProcess(
            pid=whole_number(str(process.get("pid"))),
            name=None if process.get("command") is None else str(process["command"]),
            device=key,
            memory_bytes=_mebibytes(process.get("gpu_memory_usage")),
            wall_s=wall_s,
        )
        for process in gpu.get("processes") or []
    ]
    reading.processes += listed
    used = cells.get("memory_used_bytes")
    if listed and used is not None and used.reason is None:
        add_unaccounted(reading, f"GPU {device.index}", round(used.value), listed)


def _mebibytes(value: Any) -> int | None:
    cell = parse_cell("" if value is None else str(value))[0]
    return rounded(cell._replace(value=cell.value * MIB))
