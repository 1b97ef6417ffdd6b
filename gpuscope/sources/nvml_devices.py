"""Which GPUs and MIG instances there are; asked again after the driver was initialised anew or MIG was changed."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.sources.device_facts import driver_versions, gpu_device, instance_device, mig_enabled
from gpuscope.sources.driver import DRIVER_GONE, INVALID_ARGUMENT, NOT_FOUND, Driver, DriverError
from gpuscope.sources.figures import Handle


@dataclass(frozen=True, slots=True)
class Found:
    """A device and the handle by which the driver knows it until the next initialisation."""

    handle: Handle
    device: Device
    gpu_handle: Handle
    """Of the GPU that an instance is part of; a GPU's own."""


def read_devices(driver: Driver, generation: int) -> tuple[list[Found], dict[int, Reason]]:
    """All GPUs that can be opened, each followed by its MIG instances; and why others cannot be, by NVML index.

    Raises:
        DriverError: the driver as a whole is not to be read.
    """
    versions = driver_versions(driver)
    found: list[Found] = []
    refused: dict[int, Reason] = {}
    for index in range(driver.call("nvmlDeviceGetCount")):
        try:
            handle = driver.call("nvmlDeviceGetHandleByIndex", index)
            uuid = str(driver.call("nvmlDeviceGetUUID", handle))
            device = gpu_device(driver, handle, versions, uuid=uuid, index=index, generation=generation)
            found += _with_instances(driver, Found(handle, device, handle))
        except DriverError as error:
            if error.reason in DRIVER_GONE:
                raise
            refused[index] = error.reason
    return found, refused


Layout = tuple[tuple[bool, tuple[str, ...]], ...]
"""Of each GPU whether it is split, and the UUIDs of its instances."""


def mig_layout(driver: Driver, gpus: list[Found]) -> Layout:
    """The layout now: changes when somebody creates or removes instances or switches MIG on or off.

    Raises:
        DriverError: a GPU has gone.
    """
    layout: list[tuple[bool, tuple[str, ...]]] = []
    for gpu in gpus:
        enabled = gpu.device.mig_enabled is not None and mig_enabled(driver, gpu.handle)
        handles = _instance_handles(driver, gpu.handle) if enabled else []
        layout.append((enabled, tuple(str(driver.call("nvmlDeviceGetUUID", handle)) for handle in handles)))
    return tuple(layout)


def _with_instances(driver: Driver, gpu: Found) -> list[Found]:
    """The GPU and its instances; why they are missing is a reason of the GPU."""
    if not gpu.device.mig_enabled:
        return [gpu]
    try:
        return [gpu, *_instances(driver, gpu)]
    except DriverError as error:
        reasons = {**gpu.device.unavailable, "mig_instances": error.of_figure()}
        return [Found(gpu.handle, msgspec.structs.replace(gpu.device, unavailable=reasons), gpu.handle)]


def _instances(driver: Driver, gpu: Found) -> list[Found]:
    found: list[Found] = []
    for handle in _instance_handles(driver, gpu.handle):
        uuid = str(driver.call("nvmlDeviceGetUUID", handle))
        found.append(Found(handle, instance_device(driver, handle, gpu.device, uuid), gpu.handle))
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
