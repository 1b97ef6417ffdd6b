"""`nvtop -s`: one JSON list, an object a GPU, values with their units as text."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuscope.domain.device import Device
from gpuscope.errors import UsageError
from gpuscope.importers.cells import parse_cell, rounded
from gpuscope.importers.notes import one_moment
from gpuscope.importers.reading import Reading
from gpuscope.importers.text import decode

KIND, DESCRIPTION = "nvtop_snapshot", "nvtop -s, JSON"

_FIELDS = {
    "gpu_clock": "clock_graphics_mhz", "mem_clock": "clock_memory_mhz", "temp": "temperature_c",
    "fan_speed": "fan_percent", "power_draw": "power_w", "gpu_util": "utilization_gpu_percent",
    "encode": "encoder_percent", "decode": "decoder_percent", "mem_total": "memory_total_bytes",
    "mem_used": "memory_used_bytes", "mem_free": "memory_free_bytes",
}  # fmt: skip
"""`mem_util` is how full the memory is, not how busy: it keeps its name."""


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a list."""
    return re.match(r'\s*\[\s*\{\s*"device_name"', head) is not None


def read(data: bytes) -> Reading:
    """Read a snapshot.

    Raises:
        UsageError: it is cut off or no such JSON.
    """
    reading = Reading(KIND, DESCRIPTION)
    try:
        gpus = msgspec.json.decode(decode(data)[0].encode(), type=list[dict[str, Any]])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError("The file is no complete JSON of nvtop: save it again.") from error
    for index, gpu in enumerate(gpus):
        cells = {
            _FIELDS.get(name, name): parse_cell("N/A" if value is None else str(value))[0]
            for name, value in gpu.items()
            if name != "device_name" and not isinstance(value, list)
        }
        device = Device(
            uuid=f"GPU {index}",
            index=index,
            name=str(gpu.get("device_name") or "unknown GPU"),
            memory_total_bytes=rounded(cells.get("memory_total_bytes")),
        )
        reading.add(f"GPU {index}", device, 0.0, cells)
    reading.notes.append(one_moment("nvtop's JSON"))
    return reading
