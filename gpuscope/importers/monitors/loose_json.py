"""Small JSON objects that home-made monitors write, with nvidia-smi's [N/A] pasted in: one sample an object."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.units import MIB
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.errors import UsageError
from gpuscope.importers.cells import Cell, parse_cell
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.text import decode
from gpuscope.importers.times import parse_time

KIND, DESCRIPTION = "other_json", "JSON object with GPU figures"

_BARE = re.compile(r"(?<=[:,])\s*\[?(?:N/A|Not Supported|Unknown Error)\]?\s*(?=[,}\]\n])")
_NAMES: dict[str, tuple[str, float]] = {
    "temperature": ("temperature_c", 1), "temp": ("temperature_c", 1), "gpu_temp": ("temperature_c", 1),
    "utilization": ("utilization_gpu_percent", 1), "gpu_utilization": ("utilization_gpu_percent", 1),
    "gpu_util": ("utilization_gpu_percent", 1), "util": ("utilization_gpu_percent", 1),
    "memory": ("memory_used_bytes", MIB), "memory_used": ("memory_used_bytes", MIB),
    "mem_used": ("memory_used_bytes", MIB), "memory_total": ("memory_total_bytes", MIB),
    "power": ("power_w", 1), "power_draw": ("power_w", 1), "power_usage": ("power_w", 1),
    "power_limit": ("power_limit_w", 1), "temperature_gpu": ("temperature_c", 1),
    "temperature_memory": ("temperature_memory_c", 1), "utilization_memory": ("utilization_memory_percent", 1),
    "utilization_gpu": ("utilization_gpu_percent", 1), "memory_free": ("memory_free_bytes", MIB),
    "fan_speed": ("fan_percent", 1), "clocks_sm": ("clock_sm_mhz", 1), "clocks_mem": ("clock_memory_mhz", 1),
}  # fmt: skip
"""Names that such files use; memory counts as MiB, as nvidia-smi prints it. Of an object in the object the name goes
before its own: `{"power": {"draw": 25}}` is power_draw."""


def recognises(head: str) -> bool:
    """Whether the beginning of a text is one flat object with at least two figures of a GPU."""
    names = set(re.findall(r'"(\w+)"\s*:', head[:4000]))
    return head.lstrip().startswith("{") and len(names & _NAMES.keys()) >= 2 and "traceEvents" not in names


def read(data: bytes) -> Reading:
    """Read one object.

    Raises:
        UsageError: it is no JSON even with the bare N/A mended, or none of its values is a figure.
    """
    text = decode(data)[0]
    mended = _BARE.sub(" null", text)
    reading = Reading(KIND, DESCRIPTION)
    if mended != text:
        sentence = "The file is no valid JSON: bare N/A was read as missing."
        reading.notes.append(Note(code="lost", sentence=sentence, count=len(_BARE.findall(text))))
    try:
        values = msgspec.json.decode(mended.encode())
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError("The file is no JSON that can be mended: save it again.") from error
    if not isinstance(values, dict):
        raise UsageError("The file is no JSON object with figures of a GPU.")
    _add(reading, _flat(values))
    return reading


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """An object's own values, and those of the objects in it under both names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat.update({f"{name}_{inner}": each for inner, each in value.items() if not isinstance(each, dict | list)})
        elif not isinstance(value, list):
            flat[name] = value
    return flat


def _add(reading: Reading, values: dict[str, Any]) -> None:
    cells: dict[str, Cell] = {}
    for name, (field, scale) in _NAMES.items():
        if name in values:
            cell = parse_cell("N/A" if values[name] is None else str(values[name]))[0]
            cells.setdefault(field, cell._replace(value=cell.value * scale))
    if not cells:
        raise UsageError("The JSON object has no figure of a GPU in a form that is known.")
    written = values.get("timestamp", values.get("@timestamp"))
    time = parse_time(str(written or ""))
    if time is None:
        said = "has no time" if written is None else f"has the time {str(written)[:40]!r}, which has no year"
        reading.notes.append(Note(code="missing", sentence=f"The object {said}: it counts as one moment."))
    name = str(values.get("name") or values.get("gpu_name") or "unknown GPU")
    key = str(values.get("gpu_uuid") or values.get("uuid") or "GPU 0")
    index = whole_number(str(values.get("index", 0))) or 0
    reading.add(key, Device(uuid=key, index=index, name=name), time[0] if time else 0.0, cells)
