"""Why a figure is not there. A missing figure always carries one of these, and is never 0."""

from __future__ import annotations

from enum import Enum


class Reason(str, Enum):  # noqa: UP042 # see below
    """Codes stored beside a missing figure; `REASON_SENTENCES` says each to a person.

    No StrEnum: the readers of host figures, which use it, also run on Python 3.9.
    """

    __str__ = str.__str__

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
    NOT_OFFERED = "not_offered"
    SYSTEM_REFUSES = "system_refuses"
    UNREADABLE = "unreadable"
    NO_LIMIT = "no_limit"
    MEMORY_TRAFFIC_UNCOUNTED = "memory_traffic_uncounted"
    RESCTRL_NOT_MOUNTED = "resctrl_not_mounted"
    MIG_INSTANCE = "mig_instance"
    VGPU = "vgpu"
    WSL = "wsl"
    GPM_CHIP = "gpm_chip"
    GPM_WINDOWS = "gpm_windows"
    NO_NVLINK = "no_nvlink"
    STALE = "stale"
    CLOCK_JUMPED = "clock_jumped"
    COUNTER_RESET = "counter_reset"
    COUNTER_WRAPPED = "counter_wrapped"
    SCRAMBLED = "scrambled"


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
    Reason.WDDM: "Windows' display driver model (WDDM) hides the figure: the Task Manager has it.",
    Reason.UNIFIED_MEMORY: "This chip shares the CPU's memory and reports none of its own: see the host's memory.",
    Reason.IMPLAUSIBLE: "The driver gave an impossible value.",
    Reason.FIRST_READING: "A rate needs two readings; this is the first.",
    Reason.PROCESS_ENDED: "The process has ended.",
    Reason.PID_NAMESPACE: "In a container the driver gives process numbers of the host: whose they are is not known "
    "here. Look on the host, or run the job with gpuscope run, which counts inside the process.",
    Reason.UNKNOWN_ERROR: "The driver failed without saying why.",
    Reason.NOT_OFFERED: "This operating system, virtual machine or board does not offer the figure.",
    Reason.SYSTEM_REFUSES: "The operating system keeps the figure from this user.",
    Reason.UNREADABLE: "The operating system's file with the figure holds something else than it should.",
    Reason.NO_LIMIT: "No limit is set for this program: all of the machine is open to it.",
    Reason.MEMORY_TRAFFIC_UNCOUNTED: "This processor, or the virtual machine around it, does not count memory traffic "
    "for the system (no resctrl monitoring): a bandwidth benchmark gives the ceiling.",
    Reason.RESCTRL_NOT_MOUNTED: "This processor counts memory traffic, but the counters are not mounted: "
    "`sudo mount -t resctrl resctrl /sys/fs/resctrl`.",
    Reason.MIG_INSTANCE: "Measured for whole GPUs only: see the GPU that this MIG instance is a part of.",
    Reason.VGPU: "Not offered inside a virtual GPU: ask on the machine that hosts it.",
    Reason.WSL: "Not offered under WSL: look on the Windows side, or run natively under Linux.",
    Reason.GPM_CHIP: "Only data-centre GPUs from Hopper on measure this for everybody: on others, DCGM's profiling "
    "metrics or Nsight have it.",
    Reason.GPM_WINDOWS: "The driver measures this under Linux only; under Windows, Nsight has it.",
    Reason.NO_NVLINK: "This GPU has no NVLink, or none that is connected: its traffic goes over PCIe.",
    Reason.STALE: "The driver has not renewed this reading for a while.",
    Reason.CLOCK_JUMPED: "The driver's clock jumped between two readings, so there is no rate for the time between.",
    Reason.COUNTER_RESET: "The driver's counter started again, so there is no rate for the time before.",
    Reason.COUNTER_WRAPPED: "The driver's counter can run over more than once between two readings: read more often.",
    Reason.SCRAMBLED: "The driver's list cannot be right (impossible process numbers or amounts): driver and library "
    "disagree about its form, as after an update. Reboot or restart the container.",
}


class FieldState(str, Enum):  # noqa: UP042 # as above
    """How a figure is, in one word."""

    __str__ = str.__str__

    OK = "ok"
    UNSUPPORTED = "unsupported"
    """This device, driver or system does not offer it."""
    DENIED = "denied"
    """Offered, but not to this user."""
    TRANSIENT = "transient"
    """Missing this time; the next reading may have it."""
    STALE = "stale"
    """What the driver gives is old."""
    GONE = "gone"
    """The whole device, driver or process is not there now."""


_STATES: dict[FieldState, tuple[Reason, ...]] = {
    FieldState.UNSUPPORTED: (
        Reason.NOT_SUPPORTED, Reason.MIG_MODE, Reason.FUNCTION_NOT_FOUND, Reason.WDDM, Reason.UNIFIED_MEMORY,
        Reason.PID_NAMESPACE, Reason.MIG_INSTANCE, Reason.VGPU, Reason.WSL, Reason.GPM_CHIP, Reason.GPM_WINDOWS,
        Reason.NO_NVLINK, Reason.NOT_OFFERED, Reason.NO_LIMIT, Reason.MEMORY_TRAFFIC_UNCOUNTED,
        Reason.RESCTRL_NOT_MOUNTED,
    ),
    FieldState.DENIED: (Reason.NO_PERMISSION, Reason.SYSTEM_REFUSES),
    FieldState.STALE: (Reason.STALE, Reason.SUSPENDED),
    FieldState.GONE: (
        Reason.GPU_LOST, Reason.RESET_REQUIRED, Reason.DRIVER_NOT_LOADED, Reason.LIBRARY_MISMATCH,
        Reason.PROCESS_ENDED,
    ),
}  # fmt: skip
_STATE_OF = {reason: state for state, reasons in _STATES.items() for reason in reasons}


def field_state(reason: Reason | None) -> FieldState:
    """The state of a figure that is missing for a reason; OK for one that is there (None)."""
    return FieldState.OK if reason is None else _STATE_OF.get(reason, FieldState.TRANSIENT)
