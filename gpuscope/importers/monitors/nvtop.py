"""`nvtop -s`: one JSON list, an object a GPU, values with their units as text."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.units import GIB, KIB, MIB
from gpuscope.errors import UsageError
from gpuscope.importers.cells import Cell, parse_cell, rounded
from gpuscope.importers.json_text import without_lines_before
from gpuscope.importers.notes import one_moment
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.text import decode

KIND, DESCRIPTION = "nvtop_snapshot", "nvtop -s, JSON"

_SIZES = {"KiB": KIB, "MiB": MIB, "GiB": GIB}
_NO_COMMA = re.compile(r'("|\bnull)[ \t]*(\n\s*")')
"""github.com/Syllo/nvtop/issues/438."""
_BEGINS = re.compile(r'\s*\[\s*\{\s*(?:"pci"[^{}\[\]]{0,2000}?)?"device_name"')
_FIELDS = {
    "gpu_clock": "clock_graphics_mhz", "mem_clock": "clock_memory_mhz", "temp": "temperature_c",
    "fan_speed": "fan_percent", "power_draw": "power_w", "gpu_util": "utilization_gpu_percent",
    "encode": "encoder_percent", "decode": "decoder_percent", "mem_total": "memory_total_bytes",
    "mem_used": "memory_used_bytes", "mem_free": "memory_free_bytes",
}  # fmt: skip
"""`mem_util` is how full the memory is, not how busy: it keeps its name."""


def recognises(head: str) -> bool:
    """Whether the beginning of a text is such a list."""
    return _BEGINS.match(without_lines_before(head)) is not None


def read(data: bytes) -> Reading:
    """Read a snapshot; commas that nvtop 3.3.0 leaves out are put in, what is cut at the end is noted.

    Raises:
        UsageError: it is no such JSON.
    """
    reading = Reading(KIND, DESCRIPTION)
    for index, gpu in enumerate(_gpus(without_lines_before(decode(data)[0]), reading)):
        cells = {
            _FIELDS.get(name, name): _cell("N/A" if value is None else str(value))
            for name, value in gpu.items()
            if name not in {"device_name", "pci"} and not isinstance(value, list)
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


def _cell(text: str) -> Cell:
    """Sizes are plain bytes, or have their unit behind them."""
    cell, unit = parse_cell(text)
    return cell._replace(value=cell.value * _SIZES.get(unit, 1.0))


def _gpus(text: str, reading: Reading) -> list[dict[str, Any]]:
    mended, missing = _NO_COMMA.subn(r"\1,\2", text)
    if missing:
        sentence = "The file is no valid JSON: commas were missing between its lines, as nvtop 3.3.0 leaves them out."
        reading.notes.append(Note(code="lost", sentence=sentence, count=missing))
    try:
        return msgspec.json.decode(mended.encode(), type=list[dict[str, Any]])
    except (msgspec.MsgspecError, RecursionError):
        whole = mended[: mended.rfind("}") + 1]
    try:
        gpus = msgspec.json.decode(f"{whole}]".encode(), type=list[dict[str, Any]])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError("The file is no complete JSON of nvtop: save it again.") from error
    sentence = "The list is cut off: the GPUs before were read, others may be missing."
    reading.notes.append(Note(code="lost", sentence=sentence))
    return gpus
