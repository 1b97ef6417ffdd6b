"""The facts of a GPU that are read once: each by one way to ask, or why it is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.sources.calls import Getter
from gpuscope.sources.driver import DRIVER_GONE, Driver, DriverError
from gpuscope.sources.field_batch import Field, FieldBatch
from gpuscope.sources.field_groups import POWER_AVERAGE, POWER_INSTANT
from gpuscope.sources.figures import Handle, number, thousandth
from gpuscope.sources.link_limits import pcie_limit_bytes_per_s
from gpuscope.sources.nvlink import link_count, link_version
from gpuscope.sources.nvml_fields import CLOCK_GRAPHICS, CLOCK_MEMORY, CLOCK_SM, MEMORY_READING
from gpuscope.sources.surroundings import Surroundings

ENABLED = 1
"""NVML_FEATURE_ENABLED and NVML_DEVICE_MIG_ENABLE."""
XID_EVENT = 0x8
"""nvmlEventTypeXidCriticalError."""
_COMPUTE_MODES = {0: "default", 2: "prohibited", 3: "exclusive_process"}
"""nvmlComputeMode_t."""
_DRIVER_MODELS = {0: "wddm", 1: "tcc", 2: "mcdm"}
"""nvmlDriverModel_t."""
_VIRTUALIZATION = {0: "none", 1: "passthrough", 2: "vgpu", 3: "host_vgpu", 4: "host_vsga"}
"""nvmlGpuVirtualizationMode_t."""
_SHUTDOWN, _SLOWDOWN, _MEMORY_MAX, _GPU_MAX = range(4)
"""nvmlTemperatureThresholds_t."""

_SHUTDOWN_MARGIN, _SLOWDOWN_MARGIN = Field(193), Field(194)
"""NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT and _SLOWDOWN_TLIMIT: Ada and later have these in place of thresholds."""

Fact = Callable[[Driver, Handle], Any]


def _plain(function: str, *arguments: int, convert: Callable[[int], Any] = number) -> Fact:
    return lambda driver, handle: convert(driver.call(function, handle, *arguments))


def _named(function: str, names: dict[int, str]) -> Fact:
    return lambda driver, handle: names.get(driver.call(function, handle), Reason.NO_DATA)


def _flag(value: int) -> bool:
    return value == ENABLED


def _pci_bus_id(driver: Driver, handle: Handle) -> str:
    bus_id = driver.call("nvmlDeviceGetPciInfo_v3", handle).busId
    return bus_id.decode("ascii", errors="replace") if isinstance(bus_id, bytes) else str(bus_id)


def _compute_capability(driver: Driver, handle: Handle) -> str:
    major, minor = driver.call("nvmlDeviceGetCudaComputeCapability", handle)
    return f"{major}.{minor}"


def mig_enabled(driver: Driver, handle: Handle) -> bool:
    """Whether the GPU is split into instances.

    Raises:
        DriverError: it is not to be had.
    """
    return _flag(driver.call("nvmlDeviceGetMigMode", handle)[0])


def _power_averaged(driver: Driver, handle: Handle) -> bool | Reason:
    """Chips that average have that field, the others only the instant one; before both, no driver could tell."""
    answers = FieldBatch(driver, handle, [POWER_AVERAGE, POWER_INSTANT]).read(0.0)
    average, instant = answers[POWER_AVERAGE].value, answers[POWER_INSTANT].value
    if average is Reason.NOT_SUPPORTED:
        return instant if isinstance(instant, Reason) else False
    return average if isinstance(average, Reason) else True


def _power_range(end: int) -> Fact:
    return lambda driver, handle: thousandth(driver.call("nvmlDeviceGetPowerManagementLimitConstraints", handle)[end])


def _field(field: Field) -> Fact:
    return lambda driver, handle: FieldBatch(driver, handle, [field]).read(0.0)[field].value


def _memory_total(driver: Driver, handle: Handle) -> Any:
    return Getter(driver, handle, MEMORY_READING).read(0.0)["memory_total_bytes"]


def _threshold(kind: int) -> Fact:
    return _plain("nvmlDeviceGetTemperatureThreshold", kind)


_GPU_FACTS: dict[str, Fact] = {
    "name": lambda driver, handle: str(driver.call("nvmlDeviceGetName", handle)),
    "memory_total_bytes": _memory_total,
    "pci_bus_id": _pci_bus_id,
    "compute_capability": _compute_capability,
    "power_averaged": _power_averaged,
    "power_limit_w": _plain("nvmlDeviceGetEnforcedPowerLimit", convert=thousandth),
    "power_limit_default_w": _plain("nvmlDeviceGetPowerManagementDefaultLimit", convert=thousandth),
    "power_limit_min_w": _power_range(0),
    "power_limit_max_w": _power_range(1),
    "pcie_generation_max": _plain("nvmlDeviceGetMaxPcieLinkGeneration"),
    "pcie_width_max": _plain("nvmlDeviceGetMaxPcieLinkWidth"),
    "nvlink_links": link_count,
    "clock_sm_max_mhz": _plain("nvmlDeviceGetMaxClockInfo", CLOCK_SM),
    "clock_memory_max_mhz": _plain("nvmlDeviceGetMaxClockInfo", CLOCK_MEMORY),
    "clock_graphics_max_mhz": _plain("nvmlDeviceGetMaxClockInfo", CLOCK_GRAPHICS),
    "temperature_slowdown_c": _threshold(_SLOWDOWN),
    "temperature_shutdown_c": _threshold(_SHUTDOWN),
    "temperature_max_c": _threshold(_GPU_MAX),
    "temperature_memory_max_c": _threshold(_MEMORY_MAX),
    "temperature_margin_slowdown_c": _field(_SLOWDOWN_MARGIN),
    "temperature_margin_shutdown_c": _field(_SHUTDOWN_MARGIN),
    "ecc_enabled": lambda driver, handle: _flag(driver.call("nvmlDeviceGetEccMode", handle)[0]),
    "mig_enabled": mig_enabled,
    "compute_mode": _named("nvmlDeviceGetComputeMode", _COMPUTE_MODES),
    "persistence_mode": _plain("nvmlDeviceGetPersistenceMode", convert=_flag),
    "virtualization": _named("nvmlDeviceGetVirtualizationMode", _VIRTUALIZATION),
    "xid_reported": lambda driver, handle: bool(driver.call("nvmlDeviceGetSupportedEventTypes", handle) & XID_EVENT),
}
_WINDOWS_FACTS: dict[str, Fact] = {"driver_model": _named("nvmlDeviceGetCurrentDriverModel", _DRIVER_MODELS)}
_INSTANCE_FACTS: dict[str, Fact] = {
    "name": _GPU_FACTS["name"],
    "memory_total_bytes": _GPU_FACTS["memory_total_bytes"],
    "gpu_instance_id": _plain("nvmlDeviceGetGpuInstanceId"),
}
"""What an instance has of its own; the rest is its GPU's."""
_INHERITED = ("index", "pci_bus_id", "driver_version", "cuda_version", "compute_capability", "virtualization",
              "driver_model", "generation")  # fmt: skip


def driver_versions(driver: Driver) -> dict[str, Any]:
    """Versions of the driver and of CUDA, which all devices share."""
    return _read({"driver_version": _driver_version, "cuda_version": _cuda_version}, driver, None)


def gpu_device(driver: Driver, handle: Handle, versions: dict[str, Any], **known: Any) -> Device:
    """All facts of a whole GPU.

    Raises:
        DriverError: the GPU or the whole driver has gone.
    """
    wanted = _GPU_FACTS | _WINDOWS_FACTS if sys.platform == "win32" else _GPU_FACTS
    facts = _read(wanted, driver, handle) | versions
    if facts["nvlink_links"] == 0:
        facts["nvlink_version"] = Reason.NO_NVLINK
    else:
        facts |= _read({"nvlink_version": link_version}, driver, handle)
    facts["pcie_limit_bytes_per_s"] = _pcie_limit(facts)
    return _device(facts, **known)


def instance_device(driver: Driver, handle: Handle, gpu: Device, uuid: str) -> Device:
    """All facts of a MIG instance of a GPU.

    Raises:
        DriverError: the GPU or the whole driver has gone.
    """
    inherited = {name: getattr(gpu, name) for name in _INHERITED}
    return _device(
        _read(_INSTANCE_FACTS, driver, handle), uuid=uuid, kind="mig", parent_uuid=gpu.uuid, **inherited
    )  # fmt: skip


def _driver_version(driver: Driver, _: Handle) -> str:
    return str(driver.call("nvmlSystemGetDriverVersion"))


def _cuda_version(driver: Driver, _: Handle) -> str:
    """NVML gives 1000 × major + 10 × minor."""
    version = int(driver.call("nvmlSystemGetCudaDriverVersion"))
    return f"{version // 1000}.{version % 1000 // 10}"


def _pcie_limit(facts: dict[str, Any]) -> float | Reason:
    generation, width = facts["pcie_generation_max"], facts["pcie_width_max"]
    for fact in (generation, width):
        if isinstance(fact, Reason):
            return fact
    return pcie_limit_bytes_per_s(generation, width) or Reason.NO_DATA


def _read(wanted: dict[str, Fact], driver: Driver, handle: Handle) -> dict[str, Any]:
    """Each fact's value, or the reason why it is missing."""
    facts: dict[str, Any] = {}
    for name, read in wanted.items():
        try:
            facts[name] = read(driver, handle)
        except DriverError as error:
            if error.reason in DRIVER_GONE or error.reason is Reason.GPU_LOST:
                raise
            facts[name] = error.reason
    return facts


def _device(facts: dict[str, Any], **known: Any) -> Device:
    values = {name: value for name, value in facts.items() if not isinstance(value, Reason)}
    reasons = {name: value for name, value in facts.items() if isinstance(value, Reason)}
    device = Device(name=values.pop("name", "Unknown NVIDIA GPU"), **values, **known)
    surroundings = Surroundings(device)
    explained = {name: surroundings.explain(name, reason) for name, reason in reasons.items()}
    return msgspec.structs.replace(device, unavailable=explained)
