"""What the framework says about itself and its devices. Never initialises CUDA: looks only once the script did."""

from __future__ import annotations

import sys
from typing import Any

_MEMORY_INTERVAL_S = 0.5


def cuda_is_in_use(torch: Any) -> bool:
    """True once the script itself has a CUDA context in this process."""
    cuda = getattr(torch, "cuda", None)
    return cuda is not None and bool(cuda.is_initialized())


def framework_fields(torch: Any) -> dict[str, Any]:
    """Fields of the `framework` event; devices are only listed once CUDA is in use."""
    devices = []
    if cuda_is_in_use(torch):
        devices = [_device_fields(torch, index) for index in range(torch.cuda.device_count())]
    version = getattr(torch, "version", None)
    return {
        "name": "torch",
        "version": str(torch.__version__),
        "cuda_version": getattr(version, "cuda", None),
        "devices": devices,
    }


def device_event_fields(torch: Any, parameters: list[Any]) -> dict[str, Any] | None:
    """Fields of the `device` event: where the first parameter that has a real place is."""
    for parameter in parameters:
        device = parameter.device
        if device.type == "meta":
            continue
        fields = {"type": device.type, "index": device.index, "name": None, "uuid": None}
        if device.type == "cuda" and cuda_is_in_use(torch):
            listed = _device_fields(torch, device.index)
            fields.update(name=listed["name"], uuid=listed["uuid"])
        return fields
    return None


def _device_fields(torch: Any, index: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(index)
    uuid = getattr(properties, "uuid", None)
    return {
        "name": properties.name,
        "uuid": None if uuid is None else _nvml_style(str(uuid)),
        "memory_bytes": properties.total_memory,
    }


def _nvml_style(uuid: str) -> str:
    return uuid if uuid.startswith(("GPU-", "MIG-")) else "GPU-" + uuid


class MemoryWatch:
    """Reads the CUDA allocator's counters, at most twice a second, of the devices that the script uses."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._next_s = 0.0
        self._devices: set[int] = set()

    def use(self, parameters: list[Any]) -> None:
        """Parameters live on these devices: watch them."""
        self._devices.update(p.device.index for p in parameters if p.device.type == "cuda")

    def due(self, now_s: float) -> list[dict[str, Any]]:
        """Fields of `memory` events, when it is time for them again."""
        if now_s < self._next_s:
            return []
        self._next_s = now_s + _MEMORY_INTERVAL_S
        return self.read()

    def read(self) -> list[dict[str, Any]]:
        """Fields of a `memory` event for each device in use; none without CUDA."""
        if not cuda_is_in_use(self._torch):
            return []
        devices = self._devices | {self._torch.cuda.current_device()}
        return [self._read_device(index) for index in sorted(devices)]

    def _read_device(self, index: int) -> dict[str, Any]:
        stats = self._torch.cuda.memory_stats(index)
        return {
            "device": "cuda:%d" % index,
            "allocated_bytes": stats.get("allocated_bytes.all.current"),
            "reserved_bytes": stats.get("reserved_bytes.all.current"),
            "peak_allocated_bytes": stats.get("allocated_bytes.all.peak"),
            "peak_reserved_bytes": stats.get("reserved_bytes.all.peak"),
            "alloc_retries": stats.get("num_alloc_retries"),
            "ooms": stats.get("num_ooms"),
        }


def compiled_anything(torch: Any) -> bool:
    """True once torch.compile has compiled a graph in this process."""
    utilities = sys.modules.get(torch.__name__ + "._dynamo.utils")
    counters = getattr(utilities, "counters", None)
    if not counters or "stats" not in counters:
        return False
    return bool(counters["stats"].get("unique_graphs", 0))


def tf32_allowed(torch: Any) -> bool | None:
    """Whether FP32 matrix products may use TF32; None where CUDA is not in use, so that it does not matter."""
    if not cuda_is_in_use(torch):
        return None
    return str(torch.get_float32_matmul_precision()) != "highest"
