"""What the GPUs are: the facts read once, and again after the driver was initialised anew or MIG was changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import DRIVER_GONE, INVALID_ARGUMENT, NOT_FOUND, Driver, DriverError
from gpuscope.sources.nvml_fields import CLOCK_MEMORY, CLOCK_SM, Handle, read_memory

MIG_ENABLED = 1
"""NVML_DEVICE_MIG_ENABLE."""

Fact = Callable[[Driver, Handle], Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A device and the handle by which the driver knows it until the next initialisation."""

    handle: Handle
    device: Device


def _name(driver: Driver, handle: Handle) -> str:
    return str(driver.call("nvmlDeviceGetName", handle))


def _pci_bus_id(driver: Driver, handle: Handle) -> str:
    bus_id = driver.call("nvmlDeviceGetPciInfo_v3", handle).busId
    return bus_id.decode("ascii", errors="replace") if isinstance(bus_id, bytes) else str(bus_id)


def _compute_capability(driver: Driver, handle: Handle) -> str:
    major, minor = driver.call("nvmlDeviceGetCudaComputeCapability", handle)
    return f"{major}.{minor}"


def _mig_enabled(driver: Driver, handle: Handle) -> bool:
    return bool(driver.call("nvmlDeviceGetMigMode", handle)[0] == MIG_ENABLED)


GPU_FACTS: dict[str, Fact] = {
    "name": _name,
    "memory_total_bytes": lambda driver, handle: read_memory(driver, handle)[0],
    "pci_bus_id": _pci_bus_id,
    "compute_capability": _compute_capability,
    "power_limit_w": lambda driver, handle: driver.call("nvmlDeviceGetEnforcedPowerLimit", handle) / 1000,
    "pcie_generation_max": lambda driver, handle: driver.call("nvmlDeviceGetMaxPcieLinkGeneration", handle),
    "pcie_width_max": lambda driver, handle: driver.call("nvmlDeviceGetMaxPcieLinkWidth", handle),
    "clock_sm_max_mhz": lambda driver, handle: driver.call("nvmlDeviceGetMaxClockInfo", handle, CLOCK_SM),
    "clock_memory_max_mhz": lambda driver, handle: driver.call("nvmlDeviceGetMaxClockInfo", handle, CLOCK_MEMORY),
    "mig_enabled": _mig_enabled,
}
INSTANCE_FACTS = ("name", "memory_total_bytes")
"""What an instance has of its own; the rest is its GPU's."""


def read_devices(driver: Driver, generation: int) -> tuple[list[Found], dict[int, Reason]]:
    """All GPUs that can be opened, each followed by its MIG instances; and why others cannot be, by NVML index.

    Raises:
        DriverError: the driver as a whole is not to be read.
    """
    versions = _facts({"driver_version": _driver_version, "cuda_version": _cuda_version}, driver, None)
    found: list[Found] = []
    refused: dict[int, Reason] = {}
    for index in range(driver.call("nvmlDeviceGetCount")):
        try:
            handle = driver.call("nvmlDeviceGetHandleByIndex", index)
            uuid = str(driver.call("nvmlDeviceGetUUID", handle))
            gpu = Found(handle, _gpu(driver, handle, uuid, index, generation, versions))
            found += [gpu, *_instances(driver, gpu)]
        except DriverError as error:
            if error.reason in DRIVER_GONE:
                raise
            refused[index] = error.reason
    return found, refused


def mig_layout(driver: Driver, gpus: list[Found]) -> tuple[tuple[str, ...], ...]:
    """UUIDs of the MIG instances of each GPU: changes when somebody creates, removes or switches off instances.

    Raises:
        DriverError: a GPU has gone.
    """
    layout: list[tuple[str, ...]] = []
    for gpu in gpus:
        enabled = gpu.device.mig_enabled is not None and _mig_enabled(driver, gpu.handle)
        handles = _instance_handles(driver, gpu.handle) if enabled else []
        layout.append(tuple(str(driver.call("nvmlDeviceGetUUID", handle)) for handle in handles))
    return tuple(layout)


def _driver_version(driver: Driver, _: Handle) -> str:
    return str(driver.call("nvmlSystemGetDriverVersion"))


def _cuda_version(driver: Driver, _: Handle) -> str:
    """NVML gives 1000 × major + 10 × minor."""
    version = int(driver.call("nvmlSystemGetCudaDriverVersion"))
    return f"{version // 1000}.{version % 1000 // 10}"


def _facts(wanted: dict[str, Fact], driver: Driver, handle: Handle) -> dict[str, Any]:
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
    name = values.pop("name", "Unknown NVIDIA GPU")
    return Device(name=name, unavailable=reasons, **values, **known)


def _gpu(
    driver: Driver, handle: Handle, uuid: str, index: int, generation: int, versions: dict[str, Any]
) -> Device:  # fmt: skip
    facts = _facts(GPU_FACTS, driver, handle) | versions
    return _device(facts, uuid=uuid, index=index, generation=generation)


def _instances(driver: Driver, gpu: Found) -> list[Found]:
    if not gpu.device.mig_enabled:
        return []
    wanted = {name: GPU_FACTS[name] for name in INSTANCE_FACTS}
    found: list[Found] = []
    for handle in _instance_handles(driver, gpu.handle):
        device = _device(
            _facts(wanted, driver, handle),
            uuid=str(driver.call("nvmlDeviceGetUUID", handle)),
            index=gpu.device.index,
            kind="mig",
            parent_uuid=gpu.device.uuid,
            pci_bus_id=gpu.device.pci_bus_id,
            driver_version=gpu.device.driver_version,
            cuda_version=gpu.device.cuda_version,
            compute_capability=gpu.device.compute_capability,
            generation=gpu.device.generation,
        )
        found.append(Found(handle, device))
    return found


def _instance_handles(driver: Driver, handle: Handle) -> list[Handle]:
    """Handles of the instances that exist; their numbers may have holes."""
    handles: list[Handle] = []
    for index in range(driver.call("nvmlDeviceGetMaxMigDeviceCount", handle)):
        try:
            handles.append(driver.call("nvmlDeviceGetMigDeviceHandleByIndex", handle, index))
        except DriverError as error:
            if error.code not in {NOT_FOUND, INVALID_ARGUMENT}:
                raise
    return handles
