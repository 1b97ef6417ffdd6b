"""The long report of nvidia-smi (`-q` as text, `-q -x` as XML): one tree a GPU, the same facts under either's names."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.units import MIB
from gpuscope.domain.whole_numbers import whole_number
from gpuscope.importers.cells import Cell, parse_cell, rounded
from gpuscope.importers.reading import ImportedProcess, Note, Reading
from gpuscope.importers.smi.fields import PROCESS_KINDS, REASON_BITS
from gpuscope.importers.times import parse_time

_SCALES = {"mib": MIB, "mb": MIB, "kb/s": 1e3, "mb/s": 1e6, "x": 1.0, "us": 1e-6}
"""From a printed unit to that of a field; other units are the fields' own."""

FIGURES: dict[str, tuple[str, ...]] = {
    "utilization_gpu_percent": ("utilization/gpu_util", "utilization/gpu"),
    "utilization_memory_percent": ("utilization/memory_util", "utilization/memory"),
    "encoder_percent": ("utilization/encoder_util", "utilization/encoder"),
    "decoder_percent": ("utilization/decoder_util", "utilization/decoder"),
    "memory_total_bytes": ("fb_memory_usage/total", "memory_usage/total"),
    "memory_reserved_bytes": ("fb_memory_usage/reserved",),
    "memory_used_bytes": ("fb_memory_usage/used", "memory_usage/used"),
    "memory_free_bytes": ("fb_memory_usage/free", "memory_usage/free"),
    "temperature_c": ("temperature/gpu_temp", "temperature/gpu_current_temp", "temperature/gpu"),
    "temperature_memory_c": ("temperature/memory_temp", "temperature/memory_current_temp"),
    "power_w": (
        "gpu_power_readings/average_power_draw", "gpu_power_readings/power_draw", "power_readings/power_draw",
        "gpu_power_readings/instant_power_draw", "gpu_power_readings/instantaneous_power_draw",
    ),
    "power_instant_w": ("gpu_power_readings/instant_power_draw", "gpu_power_readings/instantaneous_power_draw"),
    "power_limit_w": (
        "gpu_power_readings/current_power_limit", "power_readings/enforced_power_limit", "power_readings/power_limit",
        "gpu_power_readings/power_limit",
    ),
    "clock_sm_mhz": ("clocks/sm_clock", "clocks/sm"),
    "clock_graphics_mhz": ("clocks/graphics_clock", "clocks/graphics"),
    "clock_memory_mhz": ("clocks/mem_clock", "clocks/memory"),
    "fan_percent": ("fan_speed",),
    "performance_state": ("performance_state",),
    "pcie_generation": ("pci/pci_gpu_link_info/pcie_gen/current_link_gen", "pci/gpu_link_info/pcie_generation/current"),
    "pcie_width": ("pci/pci_gpu_link_info/link_widths/current_link_width", "pci/gpu_link_info/link_width/current"),
    "pcie_tx_bytes_per_s": ("pci/tx_util", "pci/tx_throughput"),
    "pcie_rx_bytes_per_s": ("pci/rx_util", "pci/rx_throughput"),
}  # fmt: skip
"""By field of GpuSample: where the XML and the text have it, the first that has a number. The power of the whole module
(`module_power_readings`) is another figure and stands nowhere here."""

_REASON_SECTIONS = ("clocks_event_reasons", "clocks_throttle_reasons")


@dataclass(slots=True)
class GpuNode:
    """What a report says of one GPU."""

    line: int
    bus_id: str
    values: dict[str, str] = field(default_factory=dict)
    """By path in lower case, such as `fb_memory_usage/used`; repeated sections have a number: `mig_device.1`."""
    complete: bool = True


@dataclass(slots=True)
class Head:
    """What a report says before its first GPU."""

    values: dict[str, str] = field(default_factory=dict)


def add_report(reading: Reading, head: Head, gpus: list[GpuNode], number: int) -> None:
    """Add one report to a reading: a sample and the processes of each of its GPUs.

    Args:
        reading: gets tracks, processes and notes.
        head: of the report.
        gpus: of the report.
        number: of the report in the file, from 0, for reports without a time.
    """
    time = parse_time(head.values.get("timestamp", ""))
    wall_s = float(number) if time is None else time[0]
    attached = whole_number(head.values.get("attached_gpus"))
    if attached is not None and attached > len(gpus):
        sentence = f"Only {len(gpus)} of {attached} GPUs of the machine are in the file."
        reading.notes.append(Note(code="missing", sentence=sentence))
    for position, node in enumerate(gpus):
        _add_gpu(reading, head, node, position, wall_s)


def _add_gpu(reading: Reading, head: Head, node: GpuNode, position: int, wall_s: float) -> None:
    cells = {name: found for name, paths in FIGURES.items() if (found := _first(node.values, paths)) is not None}
    mask = _reasons_mask(node.values)
    if mask is not None:
        cells["clock_event_reasons"] = Cell(float(mask))
    track = reading.add(node.bus_id, _device(head, node, position, cells), wall_s, cells)
    _add_mig(reading, node, track.device, wall_s)
    reading.processes += _processes(node, wall_s)
    if not node.complete:
        sentence = "The report ends early; what was read before the cut is there."
        reading.notes.append(Note(code="lost", sentence=sentence, line=node.line))


def _first(values: dict[str, str], paths: tuple[str, ...]) -> Cell | None:
    """The first path that has a number, else the reason of the first that is there; None: none is there."""
    missing: Cell | None = None
    for path in paths:
        text = values.get(path)
        if text is None:
            continue
        cell, unit = parse_cell(text.removeprefix("P") if path == "performance_state" else text)
        if cell.reason is None:
            return Cell(cell.value * _SCALES.get(unit.lower(), 1.0))
        missing = missing or cell
    return missing


def _device(head: Head, node: GpuNode, position: int, cells: dict[str, Cell]) -> Device:
    values = node.values
    limit = cells.get("power_limit_w")
    mode = (values.get("mig_mode/current_mig") or values.get("mig_mode/current") or "").lower()
    uuid = values.get("uuid") or values.get("gpu_uuid") or ""
    return Device(
        uuid=uuid if uuid.startswith(("GPU-", "MIG-")) and uuid.strip("GPU-0") else node.bus_id,
        index=position,
        name=values.get("product_name", "unknown GPU"),
        pci_bus_id=node.bus_id,
        driver_version=head.values.get("driver_version"),
        cuda_version=head.values.get("cuda_version"),
        memory_total_bytes=rounded(cells.get("memory_total_bytes")),
        power_limit_w=None if limit is None or limit.reason else limit.value,
        pcie_generation_max=_whole(
            values, "pci/pci_gpu_link_info/pcie_gen/max_link_gen", "pci/gpu_link_info/pcie_generation/max"
        ),
        pcie_width_max=_whole(
            values, "pci/pci_gpu_link_info/link_widths/max_link_width", "pci/gpu_link_info/link_width/max"
        ),
        clock_sm_max_mhz=_whole(values, "max_clocks/sm_clock", "max_clocks/sm"),
        clock_memory_max_mhz=_whole(values, "max_clocks/mem_clock", "max_clocks/memory"),
        mig_enabled={"enabled": True, "disabled": False}.get(mode),
    )


def _whole(values: dict[str, str], *paths: str) -> int | None:
    return rounded(_first(values, paths))


def _reasons_mask(values: dict[str, str]) -> int | None:
    """NVML's bits of the clock-event reasons that are active; None where the report does not list them."""
    mask: int | None = None
    for path, text in values.items():
        section, _, rest = path.partition("/")
        if section not in _REASON_SECTIONS or text.lower() not in {"active", "not active"}:
            continue
        name = rest.rpartition("/")[2]
        name = name.removeprefix("clocks_event_reason_").removeprefix("clocks_throttle_reason_")
        bit = REASON_BITS.get("gpu_idle" if name == "idle" else name, 0)
        mask = (mask or 0) | (bit if text.lower() == "active" else 0)
    return mask


def _add_mig(reading: Reading, node: GpuNode, parent: Device, wall_s: float) -> None:
    sections = dict.fromkeys(section for path in node.values if (section := _mig_section(path)))
    for position, section in enumerate(sections):
        values = {
            path.removeprefix(f"{section}/"): text
            for path, text in node.values.items()
            if path.startswith(f"{section}/")
        }
        instance = f"{values.get('gpu_instance_id', '?')}/{values.get('compute_instance_id', '?')}"
        key = f"{node.bus_id} MIG {instance}"
        cells = {
            name: found
            for name in ("memory_total_bytes", "memory_reserved_bytes", "memory_used_bytes", "memory_free_bytes")
            if (found := _first(values, FIGURES[name])) is not None
        }
        index = whole_number(values.get("index"))
        device = msgspec.structs.replace(
            parent,
            uuid=key,
            index=position if index is None else index,
            kind="mig",
            parent_uuid=parent.uuid,
            memory_total_bytes=rounded(cells.get("memory_total_bytes")),
            power_limit_w=None,
            mig_enabled=None,
        )
        reading.add(key, device, wall_s, cells)


def _mig_section(path: str) -> str:
    """`mig_devices/mig_device.1` of a path below it; empty for others."""
    parts = path.split("/")
    at = next((index for index, part in enumerate(parts) if part.startswith("mig_device.")), None)
    return "" if at is None else "/".join(parts[: at + 1])


def _processes(node: GpuNode, wall_s: float) -> list[ImportedProcess]:
    found: dict[str, dict[str, str]] = {}
    for path, text in node.values.items():
        section, _, name = path.rpartition("/")
        if "process_info." in section:
            found.setdefault(section, {})[name] = text
    pids = [(whole_number(values.get("pid")), values) for values in found.values()]
    return [_process(node, pid, values, wall_s) for pid, values in pids if pid is not None]


def _process(node: GpuNode, pid: int, values: dict[str, str], wall_s: float) -> ImportedProcess:
    memory = parse_cell(values.get("used_memory", ""))[0]
    return ImportedProcess(
        pid=pid,
        name=values.get("process_name"),
        device=node.bus_id,
        memory_bytes=None if memory.reason is not None else round(memory.value * MIB),
        kind=PROCESS_KINDS.get(values.get("type", "")),
        wall_s=wall_s,
    )
