"""Wide tables of GPU-Z, Weights & Biases and nvitop's collector: which column is which figure of which GPU."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuscope.domain.device import Device
from gpuscope.domain.units import GIB, KIB, MIB
from gpuscope.importers.content import Content
from gpuscope.importers.monitors.wide_csv import SECONDS, TIME, Target, WideTable, heading_of, read_table
from gpuscope.importers.notes import add_encoding
from gpuscope.importers.reading import ImportedProcess, Note, Progress, Reading
from gpuscope.importers.tabular.blocks import Lines

GPUZ_KIND, WANDB_KIND, NVITOP_KIND = "gpu_z_log", "wandb_csv", "nvitop_csv"
GPUZ_DESCRIPTION = "GPU-Z sensor log"
WANDB_DESCRIPTION = "Weights & Biases, chart of system metrics as CSV"
NVITOP_DESCRIPTION = "nvitop collector, CSV"


class _Named(NamedTuple):
    field: str
    scale: float = 1.0


_GPUZ: dict[str, _Named] = {
    "gpu clock [mhz]": _Named("clock_graphics_mhz"),
    "gpu core clock [mhz]": _Named("clock_graphics_mhz"),
    "memory clock [mhz]": _Named("clock_memory_mhz"),
    "gpu memory clock [mhz]": _Named("clock_memory_mhz"),
    "gpu temperature [°c]": _Named("temperature_c"),
    "memory temperature [°c]": _Named("temperature_memory_c"),
    "fan speed (%) [%]": _Named("fan_percent"),
    "fan 1 speed (%) [%]": _Named("fan_percent"),
    "gpu load [%]": _Named("utilization_gpu_percent"),
    "memory controller load [%]": _Named("utilization_memory_percent"),
    "video engine load [%]": _Named("encoder_percent"),
    "memory used (dedicated) [mb]": _Named("memory_used_bytes", MIB),
    "memory used [mb]": _Named("memory_used_bytes", MIB),
    "board power draw [w]": _Named("power_w"),
    "gpu power [w]": _Named("power_w"),
    "power consumption (w) [w]": _Named("power_w"),
}


def recognises_gpuz(head: str) -> bool:
    """Whether the beginning of a text is such a log."""
    return re.match(r"\s*Date\s*,\s*GPU (?:Core )?Clock \[MHz\]", head) is not None


def read_gpuz(data: Content, progress: Progress | None = None) -> Reading:
    """Read the log of one GPU; after a crash GPU-Z goes on in a file with a run of NUL bytes, which is skipped."""
    reading = Reading(GPUZ_KIND, GPUZ_DESCRIPTION)
    lines = Lines(data, progress, nul_ends_line=True)
    table = WideTable(reading, lambda names, _: [_gpuz_target(name) for name in names], lambda key: _device(key, 0))
    table.read(lines)
    if lines.nul_bytes:
        sentence = f"{lines.nul_bytes} NUL bytes were skipped: what the program had written there was lost in a crash."
        reading.notes.append(Note(code="lost", sentence=sentence))
    add_encoding(reading, lines.encoding or table.encoding)
    for track in reading.tracks.values():
        power = track.values("power_w")
        if len(power) and not power.any():
            del power  # a view holds the column where it is
            track.columns["GPU Power [W] as written"] = track.columns.pop("power_w")
            sentence = "The power is 0 W in every row: no usable sensor, so it counts as missing."
            reading.notes.append(Note(code="contradiction", sentence=sentence))
    return reading


def _gpuz_target(name: str) -> Target | None:
    lowered = name.lower()
    if lowered == "date":
        return TIME
    if lowered.startswith(("cpu ", "system memory")):
        return None
    known = _GPUZ.get(lowered)
    return Target("GPU 0", known.field, known.scale) if known else Target("GPU 0", name)


_WANDB = re.compile(r"system[/.]gpu\.(?:process\.)?(\d{1,9})\.([a-zA-Z]+)")
_WANDB_FIELDS: dict[str, _Named] = {
    "gpu": _Named("utilization_gpu_percent"),
    "memory": _Named("utilization_memory_percent"),
    "temp": _Named("temperature_c"),
    "powerWatts": _Named("power_w"),
    "enforcedPowerLimitWatts": _Named("power_limit_w"),
    "memoryAllocatedBytes": _Named("memory_used_bytes"),
    "smClock": _Named("clock_sm_mhz"),
    "memoryClock": _Named("clock_memory_mhz"),
    "fanSpeed": _Named("fan_percent"),
}
"""memoryAllocated is a percentage of the memory's size, which the file does not hold: it keeps its name."""


def recognises_wandb(head: str) -> bool:
    """Whether the beginning of a text is such a table."""
    return any(_WANDB.search(name) for name in heading_of(head.split("\n", 1)[0]))


def read_wandb(data: Content, progress: Progress | None = None) -> Reading:
    """Read an exported chart, or the table that `run.history(stream="events")` gives.

    The columns `__MIN` and `__MAX` are bounds of the one before, not GPUs of their own.
    """
    reading = Reading(WANDB_KIND, WANDB_DESCRIPTION)

    def targets_of(names: list[str], _: list[str]) -> list[Target | None]:
        dated = "_timestamp" in names
        return [None if dated and name == "_runtime" else _wandb_target(name) for name in names]

    table = read_table(reading, data, progress, targets_of, lambda key: _device(key, int(key.rpartition(" ")[2])))
    targets = targets_of(table.names, [])
    if any(target is not None and target.field.startswith("memoryAllocated") for target in targets):
        sentence = (
            "memoryAllocated is per cent of the GPU's memory; for GiB its size is needed, which is not in the file."
        )
        reading.notes.append(Note(code="missing", sentence=sentence))
    return reading


def _wandb_target(name: str) -> Target | None:
    if name.lower() in {"timestamp", "_timestamp"}:
        return TIME
    if name.lower().startswith("relative time") or name == "_runtime":
        return SECONDS
    match = _WANDB.search(name)
    if match is None:
        return None
    gpu, metric = match.groups()
    run, dash, _ = name[: match.start()].rpartition(" - ")
    key = f"{run} GPU {gpu}" if dash and run else f"GPU {gpu}"
    bound = name.rpartition("__")[2] if name.endswith(("__MIN", "__MAX")) else ""
    if bound:
        return Target(key, f"{metric} {bound.lower()}")
    known = _WANDB_FIELDS.get(metric)
    return Target(key, known.field, known.scale) if known else Target(key, metric)


_NVITOP = re.compile(r".*/cuda:(\d{1,9}) \(gpu:(\d{1,9})\)/(\w+) \((\S+)\)(?:/(mean|min|max|last))?")
_NVITOP_PROCESS = re.compile(r".*/pid:(\d{1,18})/cuda:(\d{1,9}) \(gpu:(\d{1,9})\)/gpu_memory \((\w+)\)/mean")
_NVITOP_FIELDS = {
    "memory_used": "memory_used_bytes", "memory_total": "memory_total_bytes", "memory_free": "memory_free_bytes",
    "gpu_utilization": "utilization_gpu_percent", "memory_utilization": "utilization_memory_percent",
    "power_usage": "power_w", "temperature": "temperature_c", "fan_speed": "fan_percent",
    "sm_clock": "clock_sm_mhz", "memory_clock": "clock_memory_mhz",
}  # fmt: skip
_NVITOP_SCALES = {"MiB": MIB, "GiB": GIB, "KiB": KIB, "B": 1.0}


def recognises_nvitop(head: str) -> bool:
    """Whether the beginning of a text is such a table."""
    return any(_NVITOP.match(name) for name in heading_of(head.split("\n", 1)[0]))


def read_nvitop(data: Content, progress: Progress | None = None) -> Reading:
    """Read a collector's table: GPUs by their physical index, whatever order CUDA sees them in."""
    reading = Reading(NVITOP_KIND, NVITOP_DESCRIPTION, zone_known=True)
    table = read_table(
        reading,
        data,
        progress,
        lambda names, _: [_nvitop_target(name) for name in names],
        lambda key: _device(key, int(key.rpartition(" ")[2])),
    )
    matches = [_NVITOP.match(name) for name in table.names if "/pid:" not in name]
    physical = {match.group(1): match.group(2) for match in matches if match is not None}
    for name, text in zip(table.names, table.last_row, strict=False):
        match = _NVITOP_PROCESS.match(name)
        if match is not None:
            _add_process(reading, match, text, physical)
    return reading


def _nvitop_target(name: str) -> Target | None:
    if name.endswith("/timestamp"):
        return TIME
    match = None if "/pid:" in name else _NVITOP.match(name)
    if match is None:
        return None
    _, gpu, figure, unit, kind = match.groups()
    field = _NVITOP_FIELDS.get(figure, figure)
    return Target(f"GPU {gpu}", field if kind in {None, "mean"} else f"{figure} {kind}", _NVITOP_SCALES.get(unit, 1.0))


def _add_process(reading: Reading, match: re.Match[str], text: str, physical: dict[str, str]) -> None:
    pid, cuda, gpu, unit = match.groups()
    memory = float(text) * _NVITOP_SCALES.get(unit, 1.0) if re.fullmatch(r"\d{1,18}(?:\.\d*)?", text) else None
    reading.processes.append(
        ImportedProcess(
            pid=int(pid), device=f"GPU {gpu}", memory_bytes=None if memory is None else round(memory), kind="compute"
        )
    )
    other = physical.get(cuda)
    if other is not None and other != gpu:
        sentence = (
            f"Process {pid} is said to be on cuda:{cuda} = GPU {gpu}, the devices' columns say cuda:{cuda} = GPU "
        )
        sentence += f"{other}: it is not clear which GPU it used."
        reading.notes.append(Note(code="contradiction", sentence=sentence))


def _device(key: str, index: int) -> Device:
    return Device(uuid=key, index=index, name="unknown GPU")
