"""Why a device does not offer a figure, from what it is and where it runs: more than the driver's "not supported"."""

from __future__ import annotations

import platform
import sys

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import Reason
from gpuscope.sources.gpm import PERCENT_FIELDS

NO_GRAPHICS_ENGINE = frozenset(
    {"utilization_gpu_percent", "utilization_memory_percent", "encoder_percent", "decoder_percent", "sm_percent"}
)
"""What a GPU does not offer while it is split into MIG instances (nvml.h)."""
_GPM = frozenset(PERCENT_FIELDS)
FIRST_WITH_GPM = 9
"""Hopper's compute capability."""


def under_wsl() -> bool:
    """True inside the Windows Subsystem for Linux."""
    return sys.platform == "linux" and "microsoft" in platform.release().lower()


class Surroundings:
    """What is known of a device that explains a missing figure."""

    def __init__(self, device: Device) -> None:
        self._mig_enabled = bool(device.mig_enabled)
        self._before_gpm = _major(device) < FIRST_WITH_GPM
        self._everywhere = _everywhere(device)

    def explain(self, name: str, reason: Reason) -> Reason:
        """The reason to tell a person for a figure of this device."""
        if name in _GPM and reason in {Reason.GPM_CHIP, Reason.FUNCTION_NOT_FOUND}:
            return self._without_gpm(reason)
        if reason is not Reason.NOT_SUPPORTED:
            return reason
        if self._mig_enabled and name in NO_GRAPHICS_ENGINE:
            return Reason.MIG_MODE
        return self._everywhere or reason

    def _without_gpm(self, reason: Reason) -> Reason:
        if self._before_gpm:  # a newer driver would not help
            return Reason.GPM_CHIP
        if sys.platform == "win32":
            return Reason.GPM_WINDOWS
        return self._everywhere or reason

    def hidden_memory(self) -> Reason:
        """Why the driver lists a process and keeps its memory to itself."""
        if under_wsl():
            return Reason.WSL
        return Reason.WDDM if sys.platform == "win32" else Reason.NO_DATA


def _major(device: Device) -> int:
    """Of the compute capability; a chip that does not tell is taken for a new one."""
    return int(device.compute_capability.partition(".")[0]) if device.compute_capability else FIRST_WITH_GPM


def _everywhere(device: Device) -> Reason | None:
    """What takes many figures away at once."""
    if device.virtualization == "vgpu":
        return Reason.VGPU
    if under_wsl():
        return Reason.WSL
    return Reason.WDDM if device.driver_model == "wddm" else None
