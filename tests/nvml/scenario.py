"""Scenarios for the stand-in NVML library: what each GPU answers, over time, written from plain Python.

    scenario = Scenario()
    gpu = scenario.add_gpu(H100, utilization_gpu=[(0, 10), (2.5, 90)], fan_percent=NvmlError(3))
    gpu.values["lost"] = [(3, 1), (5, 0)]
    scenario.rule("nvmlDeviceGetPowerUsage", gpu, error=15, start_s=2, end_s=4)
    scenario.write(path)

A value is a constant, an `NvmlError`, or a list of (seconds since the scenario's start, value). Values are in NVML's
own units (mW, mJ, KB/s); a key that is not there is answered with NOT_SUPPORTED. Besides the figures there are `lost`
(1 while the GPU is off the bus; it stays lost until the library is initialised again), `present` (0: not there at
initialisation) and, for the system, `init` (an error: what initialisation answers).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GIB = 1024**3
FOREVER = float("inf")


@dataclass(frozen=True)
class NvmlError:
    """Stands in a value's place: the call answers with this NVML return code."""

    code: int


@dataclass(frozen=True)
class Growing:
    """A counter: its value at scenario time 0, its growth a second, and the bits after which it runs over."""

    start: int
    per_s: float
    bits: int = 64


@dataclass
class Scope:
    """A GPU, a MIG instance or the system, with its values."""

    name: str
    values: dict[str, Any]

    def at(self, key: str, time_s: float) -> Any:
        """The value of a key at a time; None where the scenario gives none."""
        current = None
        for start_s, value in _steps(self.values.get(key, [])):
            if start_s <= time_s:
                current = value
        return current

    def during(self, key: str, start_s: float, end_s: float) -> list[Any]:
        """All values that a key has in a span of time."""
        changes = [value for at_s, value in _steps(self.values.get(key, [])) if start_s < at_s <= end_s]
        return [self.at(key, start_s), *changes]


@dataclass
class Gpu(Scope):
    """A GPU, to which MIG instances can be added."""

    instances: list[Scope] = field(default_factory=list)

    def add_instance(self, **values: Any) -> Scope:
        """Split off a MIG instance."""
        scope = Scope(f"{self.name}.mig{len(self.instances)}", values)
        self.instances.append(scope)
        return scope


@dataclass
class Scenario:
    """What the stand-in library answers."""

    system: Scope = field(default_factory=lambda: Scope("system", dict(SYSTEM)))
    gpus: list[Gpu] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    start_s: float = 0.0
    """Monotonic clock at scenario time 0; set by `write`."""

    def add_gpu(self, model: dict[str, Any], **changes: Any) -> Gpu:
        """Add a GPU of a model, with some values of its own; UUID and bus id follow from its place."""
        index = len(self.gpus)
        own = {
            "uuid": f"GPU-00000000-0000-4000-8000-{index:012x}",
            "pci_bus_id": f"00000000:{index + 1:02X}:00.0",
        }
        gpu = Gpu(f"gpu{index}", {**model, **own, **changes})
        self.gpus.append(gpu)
        return gpu

    def rule(
        self, function: str, scope: Scope | None = None, *, error: int | None = None, delay_ms: float | None = None,
        start_s: float = 0.0, end_s: float = FOREVER,
    ) -> None:  # fmt: skip
        """Make calls of a function (`*`: all) fail or take long for a while; without error or delay they hang."""
        action, amount = "hang", 0.0
        if error is not None:
            action, amount = "error", float(error)
        elif delay_ms is not None:
            action, amount = "delay", delay_ms
        self.rules.append(f"rule {function} {scope.name if scope else '*'} {start_s} {end_s} {action} {amount}")

    def write(self, path: Path) -> None:
        """Write the file that the library reads, whole or not at all; scenario time starts now if it has not yet."""
        self.start_s = self.start_s or time.monotonic()
        lines = [f"start {self.start_s!r}"]
        instances = [instance for gpu in self.gpus for instance in gpu.instances]
        for scope in (self.system, *self.gpus, *instances):
            lines += [f"value {scope.name} present 0 1"]
            for key, value in scope.values.items():
                lines += [f"value {scope.name} {key} {at_s} {_text(item)}" for at_s, item in _steps(value)]
        unfinished = path.with_suffix(".part")
        unfinished.write_text("\n".join([*lines, *self.rules, ""]), encoding="utf-8", errors="surrogateescape")
        unfinished.replace(path)


def _steps(value: Any) -> list[tuple[float, Any]]:
    return value if isinstance(value, list) else [(0.0, value)]


def _text(value: Any) -> str:
    if isinstance(value, NvmlError):
        return f"!{value.code}"
    if isinstance(value, Growing):
        return f"grow {value.start} {value.per_s!r} {value.bits}"
    if isinstance(value, tuple):  # processes: (pid, bytes or None); their utilisation: (pid, percent)
        return " ".join(f"{pid}:{'-' if used is None else used}" for pid, used in value)
    return str(value)


SYSTEM: dict[str, Any] = {"driver_version": "580.65.06", "cuda_driver_version": 13000}

H100: dict[str, Any] = {
    "name": "NVIDIA H100 80GB HBM3",
    "utilization_gpu": 61, "utilization_memory": 37,
    "memory_total": 81559 * 1024**2, "memory_used": 30 * GIB, "memory_reserved": 567 * 1024**2,
    "power_mw": 412_345, "power_limit_mw": 700_000, "energy_mj": 987_654_321,
    "temperature_c": 54,
    "clock_graphics_mhz": 1740, "clock_sm_mhz": 1755, "clock_memory_mhz": 2619, "clock_video_mhz": 1410,
    "clock_graphics_max_mhz": 1965, "clock_sm_max_mhz": 1980, "clock_memory_max_mhz": 2619,
    "clock_event_reasons": 4, "performance_state": 0,
    "pcie_generation": 5, "pcie_width": 16, "pcie_generation_max": 5, "pcie_width_max": 16,
    "pcie_tx_kb_per_s": 1_250_000, "pcie_rx_kb_per_s": 2_500_000,
    "encoder_percent": 3, "encoder_period_us": 167_000, "decoder_percent": 5, "decoder_period_us": 167_000,
    "mig_mode": 0, "mig_mode_pending": 0, "mig_devices_max": 7,
    "compute_major": 9, "compute_minor": 0,
    "compute_processes": ((4242, 29 * GIB),), "graphics_processes": (),
}  # fmt: skip
"""A data-centre card: no fan, MIG possible, behind a driver that has the plain functions only. The figures are made
up within what such a card shows; profiles.py has whole chips."""

RTX_4090: dict[str, Any] = {
    **{key: value for key, value in H100.items() if not key.startswith("mig_")},
    "name": "NVIDIA GeForce RTX 4090",
    "memory_total": 24564 * 1024**2, "memory_used": 11 * GIB, "memory_reserved": 437 * 1024**2,
    "power_mw": 318_250, "power_limit_mw": 450_000, "fan_percent": 43,
    "clock_sm_max_mhz": 3105, "clock_memory_max_mhz": 10501,
    "pcie_generation": 4, "pcie_generation_max": 4, "compute_major": 8, "compute_minor": 9,
    "compute_processes": ((5151, 10 * GIB),), "graphics_processes": ((977, 180 * 1024**2),),
}  # fmt: skip
"""A desktop card: a fan, a desktop on it, no MIG."""
