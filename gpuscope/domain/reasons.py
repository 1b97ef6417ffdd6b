"""Why a figure is not there. A missing figure always carries one of these, and is never 0."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Codes stored beside a missing figure; `REASON_SENTENCES` says each to a person."""

    NOT_SUPPORTED = "not_supported"
    NO_PERMISSION = "no_permission"
    NOT_FOUND = "not_found"
    MIG_MODE = "mig_mode"
    GPU_LOST = "gpu_lost"
    RESET_REQUIRED = "reset_required"
    DRIVER_NOT_LOADED = "driver_not_loaded"
    LIBRARY_MISMATCH = "library_mismatch"
    FUNCTION_NOT_FOUND = "function_not_found"
    TIMEOUT = "timeout"
    NOT_READY = "not_ready"
    NO_DATA = "no_data"
    SUSPENDED = "suspended"
    WDDM = "wddm"
    UNIFIED_MEMORY = "unified_memory"
    IMPLAUSIBLE = "implausible"
    FIRST_READING = "first_reading"
    PROCESS_ENDED = "process_ended"
    PID_NAMESPACE = "pid_namespace"
    UNKNOWN_ERROR = "unknown_error"


REASON_SENTENCES: dict[Reason, str] = {
    Reason.NOT_SUPPORTED: "This device or driver does not offer the figure.",
    Reason.NO_PERMISSION: "The driver refuses the figure to this user: ask the administrator for permission.",
    Reason.NOT_FOUND: "The driver knows no such device or counter.",
    Reason.MIG_MODE: "Not offered while the GPU is split into MIG instances: look at the instances.",
    Reason.GPU_LOST: "The GPU has fallen off the bus: check the kernel log; a reboot is usually needed.",
    Reason.RESET_REQUIRED: "The GPU needs a reset before it can be read again.",
    Reason.DRIVER_NOT_LOADED: "The NVIDIA kernel driver is not loaded: install or load it.",
    Reason.LIBRARY_MISMATCH: "Driver and NVML library have different versions: reboot, or reload the kernel module.",
    Reason.FUNCTION_NOT_FOUND: "The installed driver is too old to offer the figure.",
    Reason.TIMEOUT: "The driver did not answer in time.",
    Reason.NOT_READY: "The driver is not ready yet.",
    Reason.NO_DATA: "The driver has no reading of it yet.",
    Reason.SUSPENDED: "The GPU is asleep and is not woken to be measured.",
    Reason.WDDM: "Windows' display driver model hides the figure.",
    Reason.UNIFIED_MEMORY: "This chip shares its memory with the CPU and reports none of its own.",
    Reason.IMPLAUSIBLE: "The driver gave an impossible value.",
    Reason.FIRST_READING: "A rate needs two readings; this is the first.",
    Reason.PROCESS_ENDED: "The process has ended.",
    Reason.PID_NAMESPACE: "In a container the driver gives process numbers of the host: whose they are is not known.",
    Reason.UNKNOWN_ERROR: "The driver failed without saying why.",
}
