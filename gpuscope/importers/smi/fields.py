"""Fields of `nvidia-smi --query-gpu`: which figure of a sample or fact of a device each one is.

Names changed over the years; the old ones stay valid (`nvidia-smi --help-query-gpu` of drivers 340 to 610).
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.domain.units import GIB, KIB, MIB


class Figure(NamedTuple):
    """A figure of a sample."""

    field: str
    """Of domain GpuSample."""
    scale: float = 1.0
    """From the printed unit, when the file prints none, to the field's."""


FIGURES: dict[str, Figure] = {
    "utilization.gpu": Figure("utilization_gpu_percent"),
    "utilization.memory": Figure("utilization_memory_percent"),
    "utilization.encoder": Figure("encoder_percent"),
    "utilization.decoder": Figure("decoder_percent"),
    "memory.total": Figure("memory_total_bytes", MIB),
    "memory.used": Figure("memory_used_bytes", MIB),
    "memory.free": Figure("memory_free_bytes", MIB),
    "memory.reserved": Figure("memory_reserved_bytes", MIB),
    "power.draw": Figure("power_w"),
    "power.draw.average": Figure("power_w"),
    "power.draw.instant": Figure("power_instant_w"),
    "power.limit": Figure("power_limit_w"),
    "enforced.power.limit": Figure("power_limit_w"),
    "total_energy_consumption": Figure("energy_j", 1e-3),
    "temperature.gpu": Figure("temperature_c"),
    "temperature.memory": Figure("temperature_memory_c"),
    "fan.speed": Figure("fan_percent"),
    "clocks.current.sm": Figure("clock_sm_mhz"),
    "clocks.current.graphics": Figure("clock_graphics_mhz"),
    "clocks.current.memory": Figure("clock_memory_mhz"),
    "clocks_event_reasons.active": Figure("clock_event_reasons"),
    "pstate": Figure("performance_state"),
    "pcie.rx": Figure("pcie_rx_bytes_per_s", 1e6),
    "pcie.tx": Figure("pcie_tx_bytes_per_s", 1e6),
    "pcie.link.gen.current": Figure("pcie_generation"),
    "pcie.link.width.current": Figure("pcie_width"),
}

_ALIASES = {
    "time": "timestamp",
    "date": "timestamp",
    "datetime": "timestamp",
    "utilization.gpu.rate": "utilization.gpu",
    "gpu_util": "utilization.gpu",
    "clocks.sm": "clocks.current.sm",
    "clocks.gr": "clocks.current.graphics",
    "clocks.mem": "clocks.current.memory",
    "clocks.current.mem": "clocks.current.memory",
    "pcie.link.gen.gpucurrent": "pcie.link.gen.current",
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
    "gpu_serial": "serial",
    "temperature": "temperature.gpu",
    "power.draw.avg": "power.draw.average",
    "process_name": "process_name",
    "name.process": "process_name",
    "used_memory": "used_gpu_memory",
}

IDENTITIES = ("uuid", "pci.bus_id", "index", "serial", "name")
"""Fields that tell one GPU from another, the surest first; `name` only does where no two GPUs share it."""

REASON_BITS = {
    "gpu_idle": 0x1, "applications_clocks_setting": 0x2, "sw_power_cap": 0x4, "hw_slowdown": 0x8, "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20, "hw_thermal_slowdown": 0x40, "hw_power_brake_slowdown": 0x80,
    "display_clocks_setting": 0x100,
}  # fmt: skip
"""NVML's clock-event bits by the name of their column."""

PROCESS_KINDS = {"C": "compute", "M+C": "compute", "G": "graphics", "C+G": "both"}
"""Kinds of processes by nvidia-smi's letters; M+C is a process under MPS."""

_SCALES = {
    "%": 1.0, "w": 1.0, "mw": 1e-3, "mhz": 1.0, "c": 1.0, "mj": 1e-3, "j": 1.0, "kj": 1e3,
    "mb/s": 1e6, "mib": MIB, "mb": MIB, "kib": KIB, "kb": KIB, "gib": GIB, "gb": GIB, "b": 1.0,
}  # fmt: skip
"""From a printed unit to that of a sample's field; nvidia-smi's MB are MiB."""


def canonical(heading: str) -> tuple[str, str]:
    """A column's field under its present name, and the unit in its heading (empty: none)."""
    heading, unit = heading.strip(), ""
    if heading.endswith("]"):
        heading, _, unit = heading[:-1].rpartition("[")
    name = heading.strip().lower().replace(" ", "_")
    name = name.replace("clocks_throttle_reasons", "clocks_event_reasons")
    return _ALIASES.get(name, name), unit.strip()


def scale_of(unit: str, figure: Figure) -> float:
    """Factor from a printed figure to its field; an unknown or missing unit means nvidia-smi's usual one."""
    if figure.scale == 1.0 and unit.lower() in {"mib", "mb"}:
        return 1.0
    return _SCALES.get(unit.lower(), figure.scale) if unit else figure.scale
