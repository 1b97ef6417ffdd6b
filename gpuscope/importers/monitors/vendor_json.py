"""`rocm-smi --json` and `amd-smi ... --json`: cards of AMD, one sample a file."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.units import MIB
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.errors import UsageError
from gpuscope.importers.cells import Cell, parse_cell, rounded
from gpuscope.importers.json_text import values_of, without_lines_before
from gpuscope.importers.notes import NO_TIMES, one_moment
from gpuscope.importers.reading import Note, Reading
from gpuscope.importers.text import decode

ROCM_KIND, AMD_KIND = "rocm_smi_json", "amd_smi_json"
ROCM_DESCRIPTION, AMD_DESCRIPTION = "rocm-smi --json", "amd-smi metric --json"

_CARD = re.compile(r"card(\d{1,9})")
_ROCM: dict[str, tuple[str, ...]] = {
    "temperature_c": ("Temperature (Sensor edge) (C)", "Temperature (Sensor junction) (C)"),
    "temperature_memory_c": ("Temperature (Sensor memory) (C)",),
    "clock_sm_mhz": ("sclk clock speed:", "sclk clock speed"),
    "clock_memory_mhz": ("mclk clock speed:", "mclk clock speed"),
    "power_w": (
        "Average Graphics Package Power (W)", "Current Socket Graphics Package Power (W)",
        "Current Graphics Package Power (W)",
    ),
    "power_limit_w": ("Max Graphics Package Power (W)",),
    "utilization_gpu_percent": ("GPU use (%)",),
    "utilization_memory_percent": ("Memory Activity", "GPU Memory Read/Write Activity (%)"),
    "memory_total_bytes": ("VRAM Total Memory (B)",),
    "memory_used_bytes": ("VRAM Total Used Memory (B)",),
    "fan_percent": ("Fan speed (%)", "Fan Speed (%)"),
}  # fmt: skip
"""By field: names in rocm-smi's JSON. `GPU memory use (%)` is how full the memory is, not how busy: not here."""


def recognises_rocm(head: str) -> bool:
    """Whether the beginning of a text is rocm-smi's JSON."""
    return re.match(r'\s*\{\s*"(?:card\d+|system)"', without_lines_before(head)) is not None


def read_rocm(data: bytes) -> Reading:
    """Read rocm-smi's JSON; warnings that it prints before the JSON are skipped.

    Raises:
        UsageError: it is cut off or no such JSON.
    """
    reading = Reading(ROCM_KIND, ROCM_DESCRIPTION)
    answer = _decoded(data, "rocm-smi")
    system = answer.get("system") or {}
    driver = system.get("Driver version") if isinstance(system, dict) else None
    for name, card in answer.items():
        match = _CARD.fullmatch(name)
        if match is not None and isinstance(card, dict):
            cells = {field: cell for field, names in _ROCM.items() if (cell := _first(card, names)) is not None}
            names = ("Card Series", "Card series", "Card Model", "Card model", "Device Name")
            title = next((str(card[name]) for name in names if card.get(name)), "unknown AMD GPU")
            reading.add(name, _device(card, name, int(match.group(1)), title, driver, cells), 0.0, cells)
    reading.notes.append(one_moment("rocm-smi's JSON"))
    return reading


def _decoded(data: bytes, tool: str) -> dict[str, Any]:
    text = decode(data)[0]
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=0)
    try:
        answer = msgspec.json.decode(text[start:].encode())
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"The file is no complete JSON of {tool}: save it again.") from error
    if not isinstance(answer, dict):
        raise UsageError(f"The file is no JSON of {tool}: it holds a {type(answer).__name__}.")
    return answer


def _first(card: dict[str, Any], names: tuple[str, ...]) -> Cell | None:
    for name in names:
        if name in card:
            return parse_cell(str(card[name]).strip("()"))[0]
    return None


def _device(card: dict[str, Any], key: str, index: int, title: str, driver: Any, cells: dict[str, Cell]) -> Device:
    return Device(
        uuid=str(card.get("Unique ID") or key),
        index=index,
        name=title,
        vendor="AMD",
        pci_bus_id=None if card.get("PCI Bus") is None else str(card["PCI Bus"]),
        driver_version=None if driver is None else str(driver),
        memory_total_bytes=rounded(cells.get("memory_total_bytes")),
    )


_AMD: dict[str, tuple[tuple[str, ...], ...]] = {
    "temperature_c": (("temperature", "edge"), ("temperature", "hotspot")),
    "temperature_memory_c": (("temperature", "mem"),),
    "power_w": (("power", "socket_power"), ("power", "current_power"), ("power", "average_socket_power")),
    "utilization_gpu_percent": (("usage", "gfx_activity"),),
    "utilization_memory_percent": (("usage", "umc_activity"),),
    "memory_total_bytes": (("mem_usage", "total_vram"),),
    "memory_used_bytes": (("mem_usage", "used_vram"),),
    "clock_sm_mhz": (("clock", "gfx_0", "clk"), ("clock", "gfx", "clk")),
    "clock_memory_mhz": (("clock", "mem_0", "clk"), ("clock", "mem", "clk")),
    "energy_j": (("energy", "total_energy_consumption"),),
}
"""By field: places in amd-smi's JSON; a figure is `{"value": 36, "unit": "W"}` or a bare number."""


_AMD_BEGINS = re.compile(
    r'\s*(?:\{\s*"gpu_data"\s*:\s*)?\[\s*\{\s*(?:"timestamp"\s*:\s*\d{1,12}\s*,\s*)?"gpu"\s*:\s*\d'
)


def recognises_amd(head: str) -> bool:
    """Whether the beginning of a text is amd-smi's JSON."""
    return _AMD_BEGINS.match(without_lines_before(head)) is not None


def read_amd(data: bytes) -> Reading:
    """Read the JSON of `amd-smi metric`: one answer, or those that `-w` prints one after the other.

    Raises:
        UsageError: it is cut off or no such JSON.
    """
    reading = Reading(AMD_KIND, AMD_DESCRIPTION)
    try:
        answers, is_whole = values_of(without_lines_before(decode(data)[0]))
    except RecursionError as error:
        raise UsageError("The file is no JSON of amd-smi: it is nested too deeply.") from error
    if not answers:
        raise UsageError("The file is no complete JSON of amd-smi: save it again.")
    if not is_whole:
        sentence = "The end of the file is no complete answer of amd-smi: those before were read."
        reading.notes.append(Note(code="lost", sentence=sentence))
    timed = [_add_answer(reading, answer, float(number)) for number, answer in enumerate(answers)]
    if not all(timed):
        reading.notes.append(one_moment("amd-smi's JSON") if len(answers) == 1 else NO_TIMES)
    return reading


def _add_answer(reading: Reading, answer: Any, moment_s: float) -> bool:
    """Add the GPUs of one answer; whether they say when it was."""
    gpus = answer.get("gpu_data") if isinstance(answer, dict) else answer
    timed = True
    for gpu in gpus if isinstance(gpus, list) else ():
        index = whole_number(str(gpu.get("gpu"))) if isinstance(gpu, dict) else None
        if index is None:
            continue
        cells = {field: cell for field, paths in _AMD.items() if (cell := _at(gpu, paths)) is not None}
        time = parse_cell(str(gpu.get("timestamp", "")))[0]
        timed = timed and time.reason is None
        key = f"GPU {index}"
        device = _device({}, key, index, "unknown AMD GPU", None, cells)
        reading.add(key, device, moment_s if time.reason else time.value, cells)
    return timed


def _at(gpu: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> Cell | None:
    for path in paths:
        value: Any = gpu
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            unit = str(value.get("unit", "")) if isinstance(value, dict) else ""
            cell = parse_cell(str(value.get("value", "") if isinstance(value, dict) else value))[0]
            return cell._replace(value=cell.value * (MIB if unit.upper() in {"MB", "MIB"} else 1.0))
    return None
