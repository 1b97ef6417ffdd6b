"""The most important figures of a far machine's GPUs, with nothing but Python's own library and nvidia-ml-py.

Readings are plain dictionaries in the shape of `GpuSample`. A figure that the driver refuses has NVML's return code in
place of the reason: the near side knows what each means.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpuscope.domain.reasons import Reason
from gpuscope.sources.figures import number, percent, thousandth
from gpuscope.sources.remote.far_processes import FarProcesses

FAST, MEDIUM, SLOW = "fast", "medium", "slow"
PROBE_AGAIN_S = 60.0
"""What a GPU does not offer is asked for again this often."""
NOT_SUPPORTED, NO_PERMISSION, FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH = 3, 4, 13, 25
LASTING = (NOT_SUPPORTED, NO_PERMISSION, FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH)
GONE = (1, 9, 12, 15, 16, 18)
"""Uninitialised, driver not loaded, library not found, GPU lost, reset required, library mismatch: nothing can be read
until NVML is started again."""
TEMPERATURE_GPU = 0
CLOCK_GRAPHICS, CLOCK_SM, CLOCK_MEMORY = 0, 1, 2
PSTATE_UNKNOWN = 32
_MEMORY = ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes")

Figures = dict[str, Any]
Ask = Callable[[Any, Any], Figures]
Question = tuple[tuple[str, ...], Ask]
"""Names of figures and the call that gives them."""


def _utilization(nvml: Any, handle: Any) -> Figures:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    return {"utilization_gpu_percent": percent(rates.gpu), "utilization_memory_percent": percent(rates.memory)}


def _memory(nvml: Any, handle: Any) -> Figures:
    """Version 2, which tells the driver's reservation apart; chips that share the system's memory have none."""
    info = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    if info.total == 0:
        return dict.fromkeys(_MEMORY, Reason.UNIFIED_MEMORY)
    values = (info.total, info.used, info.reserved, info.free)
    return {name: number(values[place]) for place, name in enumerate(_MEMORY)}


def _plain(field: str, function: str, *arguments: int, convert: Callable[[Any], Any] = number) -> Ask:
    return lambda nvml, handle: {field: convert(getattr(nvml, function)(handle, *arguments))}


def _state(value: int) -> Any:
    return Reason.NO_DATA if value == PSTATE_UNKNOWN else value


_ASKS: dict[str, list[Question]] = {
    FAST: [
        (("utilization_gpu_percent", "utilization_memory_percent"), _utilization),
        (_MEMORY, _memory),
        (("power_w",), _plain("power_w", "nvmlDeviceGetPowerUsage", convert=thousandth)),
        (("clock_sm_mhz",), _plain("clock_sm_mhz", "nvmlDeviceGetClockInfo", CLOCK_SM)),
        (("clock_memory_mhz",), _plain("clock_memory_mhz", "nvmlDeviceGetClockInfo", CLOCK_MEMORY)),
        (("clock_event_reasons",), _plain("clock_event_reasons", "nvmlDeviceGetCurrentClocksEventReasons")),
    ],
    MEDIUM: [
        (("temperature_c",), _plain("temperature_c", "nvmlDeviceGetTemperature", TEMPERATURE_GPU)),
        (("fan_percent",), _plain("fan_percent", "nvmlDeviceGetFanSpeed")),
        (("clock_graphics_mhz",), _plain("clock_graphics_mhz", "nvmlDeviceGetClockInfo", CLOCK_GRAPHICS)),
        (("power_limit_w",), _plain("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", convert=thousandth)),
        (("energy_j",), _plain("energy_j", "nvmlDeviceGetTotalEnergyConsumption", convert=thousandth)),
        (("performance_state",), _plain("performance_state", "nvmlDeviceGetPerformanceState", convert=_state)),
        (("pcie_generation",), _plain("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration")),
        (("pcie_width",), _plain("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth")),
    ],
    SLOW: [],
}
"""Which figures each call gives, by how often it is made."""


def _compute_capability(nvml: Any, handle: Any) -> Figures:
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    return {"compute_capability": f"{major}.{minor}"}


def _bus_id(nvml: Any, handle: Any) -> Figures:
    bus_id = nvml.nvmlDeviceGetPciInfo_v3(handle).busId
    return {"pci_bus_id": bus_id.decode("ascii", "replace") if isinstance(bus_id, bytes) else str(bus_id)}


_FACTS: list[Question] = [
    (("memory_total_bytes",), lambda nvml, handle: {"memory_total_bytes": _memory(nvml, handle)["memory_total_bytes"]}),
    (("pci_bus_id",), _bus_id),
    (("compute_capability",), _compute_capability),
    (("power_limit_w",), _plain("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", convert=thousandth)),
    (("pcie_generation_max",), _plain("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration")),
    (("pcie_width_max",), _plain("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth")),
    (("clock_sm_max_mhz",), _plain("clock_sm_max_mhz", "nvmlDeviceGetMaxClockInfo", CLOCK_SM)),
    (("clock_memory_max_mhz",), _plain("clock_memory_max_mhz", "nvmlDeviceGetMaxClockInfo", CLOCK_MEMORY)),
    (("mig_enabled",), lambda nvml, handle: {"mig_enabled": nvml.nvmlDeviceGetMigMode(handle)[0] == 1}),
]


class FarGpu:
    """One whole GPU, from one start of NVML to the next."""

    def __init__(self, nvml: Any, index: int) -> None:
        """Open it.

        Raises:
            NVMLError: it cannot be opened.
        """
        self._nvml = nvml
        self._handle = nvml.nvmlDeviceGetHandleByIndex(index)
        self._index = index
        self.uuid = str(nvml.nvmlDeviceGetUUID(self._handle))
        self._processes = FarProcesses(nvml, self._handle)
        self._memory_total_bytes: int | None = None
        self._refused: dict[Ask, tuple[int, float]] = {}

    def facts(self) -> Figures:
        """What does not change, in the shape of `Device`."""
        nvml = self._nvml
        facts = self._ask(_FACTS, time.monotonic())
        self._memory_total_bytes = facts.get("memory_total_bytes")
        versions = {"driver_version": str(nvml.nvmlSystemGetDriverVersion())}
        name = str(nvml.nvmlDeviceGetName(self._handle))
        return {"uuid": self.uuid, "index": self._index, "name": name, **versions, **facts}

    def read(self, tier: str) -> Figures:
        """All figures of a tier.

        Raises:
            NVMLError: the GPU or the driver has gone; nothing else ends a reading.
        """
        start_s = time.monotonic()
        wanted: list[Question] = [(("processes",), self._read_processes)] if tier == SLOW else _ASKS[tier]
        figures = self._ask(wanted, start_s)
        return {"uuid": self.uuid, "read_start_s": start_s, "read_end_s": time.monotonic(), **figures}

    def _read_processes(self, _nvml: Any, _handle: Any) -> Figures:
        return {"processes": self._processes.read(self._memory_total_bytes)}

    def _ask(self, wanted: list[Question], now_s: float) -> Figures:
        found: Figures = {}
        missing: dict[str, Any] = {}
        for fields, ask in wanted:
            code, again_s = self._refused.get(ask, (0, now_s))
            if now_s >= again_s:
                code = self._answer(ask, found)
                if code in LASTING:
                    self._refused[ask] = (code, now_s + PROBE_AGAIN_S)
            if code:
                missing.update(dict.fromkeys(fields, code))
        missing.update({name: value for name, value in found.items() if isinstance(value, Reason)})
        return {**{name: value for name, value in found.items() if name not in missing}, "unavailable": missing}

    def _answer(self, ask: Ask, found: Figures) -> int:
        """Put the figures of one call among the others; returns NVML's code where it fails."""
        try:
            found.update(ask(self._nvml, self._handle))
        except self._nvml.NVMLError as error:
            if error.value in GONE:
                raise
            return int(error.value)
        return 0
