"""The one place where NVML is called and its errors are translated."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from gpuscope.domain.reasons import REASON_SENTENCES, Reason
from gpuscope.domain.sample import SourceState
from gpuscope.errors import SourceError
from gpuscope.sources.binding import Binding

SOURCE = "nvml"

# NVML return codes (nvml.h, nvmlReturn_t).
UNINITIALIZED = 1
INVALID_ARGUMENT = 2
NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
DRIVER_NOT_LOADED = 9
TIMEOUT = 10
LIBRARY_NOT_FOUND = 12
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
LIBRARY_MISMATCH = 18
NO_DATA = 21
ARGUMENT_VERSION_MISMATCH = 25
DEPRECATED = 26
NOT_READY = 27
GPU_NOT_FOUND = 28

REASONS: dict[int, Reason] = {
    UNINITIALIZED: Reason.DRIVER_NOT_LOADED,
    NOT_SUPPORTED: Reason.NOT_SUPPORTED,
    NO_PERMISSION: Reason.NO_PERMISSION,
    NOT_FOUND: Reason.NOT_FOUND,
    DRIVER_NOT_LOADED: Reason.DRIVER_NOT_LOADED,
    TIMEOUT: Reason.TIMEOUT,
    LIBRARY_NOT_FOUND: Reason.DRIVER_NOT_LOADED,
    FUNCTION_NOT_FOUND: Reason.FUNCTION_NOT_FOUND,
    GPU_IS_LOST: Reason.GPU_LOST,
    RESET_REQUIRED: Reason.RESET_REQUIRED,
    LIBRARY_MISMATCH: Reason.LIBRARY_MISMATCH,
    NO_DATA: Reason.NO_DATA,
    ARGUMENT_VERSION_MISMATCH: Reason.FUNCTION_NOT_FOUND,
    DEPRECATED: Reason.NOT_SUPPORTED,
    NOT_READY: Reason.NOT_READY,
    GPU_NOT_FOUND: Reason.GPU_LOST,
}
"""Codes that are not here mean UNKNOWN_ERROR: the driver failed in a way that tells a person nothing."""

LASTING = frozenset(
    {Reason.NOT_SUPPORTED, Reason.FUNCTION_NOT_FOUND, Reason.NO_PERMISSION, Reason.UNIFIED_MEMORY, Reason.MIG_MODE}
)
"""Reasons that will hold for a while: such a field is not asked for again at every tick."""

NOT_OFFERED = frozenset({Reason.NOT_SUPPORTED, Reason.FUNCTION_NOT_FOUND})
"""Reasons to try an older or newer function for the same figure."""

DRIVER_GONE = frozenset({Reason.DRIVER_NOT_LOADED, Reason.LIBRARY_MISMATCH})
"""Reasons that concern the whole driver: nothing can be read until it has been initialised again."""

DEVICE_GONE = frozenset({Reason.GPU_LOST, Reason.RESET_REQUIRED})
"""Reasons that concern a whole GPU."""

_NO_LIBRARY = (
    "No NVIDIA driver was found (its library NVML is missing): install NVIDIA's driver to see GPUs; the rest of this "
    "machine is monitored all the same."
)
_NOT_LOADED = (
    "The NVIDIA kernel driver is not running: load it with `sudo modprobe nvidia`, or install it for this kernel (in a "
    "container or WSL: on the host); the rest of this machine is monitored all the same."
)
_MISMATCH = (
    "The NVIDIA kernel driver and its library have different versions, as after an update: reboot, or reload the "
    "kernel module (in a container: restart the container)."
)
_NO_PERMISSION = "This user may not open the NVIDIA devices (/dev/nvidia*): ask the administrator for access."
_NO_GPU = (
    "The NVIDIA driver works but shows no GPU: check that one is plugged in and, in a container, passed in (for "
    "example with `docker run --gpus all`)."
)
_DRIVER_STATES: dict[int, tuple[str, str]] = {
    UNINITIALIZED: ("driver_not_loaded", _NOT_LOADED),
    LIBRARY_NOT_FOUND: ("no_driver_library", _NO_LIBRARY),
    DRIVER_NOT_LOADED: ("driver_not_loaded", _NOT_LOADED),
    LIBRARY_MISMATCH: ("library_mismatch", _MISMATCH),
    NO_PERMISSION: ("no_permission", _NO_PERMISSION),
}


class DriverError(Exception):
    """An NVML call failed.

    Attributes:
        code: NVML's return code.
        reason: what it means for the figure that was asked for.
    """

    def __init__(self, code: int, function: str) -> None:
        super().__init__(f"{function}: NVML error {code}")
        self.code = code
        self.reason = REASONS.get(code, Reason.UNKNOWN_ERROR)


class Driver:
    """Calls NVML's functions by name and keeps account of it. Used by one thread; others may read its attributes.

    Attributes:
        calls: calls made so far.
        busy_s: wall time spent in them.
        call_started_s: monotonic time at which the call now running began; None between calls.
    """

    def __init__(self, binding: Binding) -> None:
        self.module: Any = binding.module
        self.calls = 0
        self.busy_s = 0.0
        self.call_started_s: float | None = None

    def call(self, function: str, *arguments: Any, **options: Any) -> Any:
        """Call one function of the binding.

        Raises:
            DriverError: it failed; any error that the binding can raise ends up here.
        """
        self.calls += 1
        self.call_started_s = start_s = time.monotonic()
        try:
            return getattr(self.module, function)(*arguments, **options)
        except self.module.NVMLError as error:
            raise DriverError(int(error.value), function) from None
        except (ValueError, OSError) as error:  # undecodable text, a library that cannot be called
            raise DriverError(-1, f"{function} ({error})") from error
        finally:
            self.busy_s += time.monotonic() - start_s
            self.call_started_s = None

    def first_offered(self, *calls: Callable[[], Any]) -> Any:
        """The answer of the first of several ways to ask that this driver offers.

        Raises:
            DriverError: a way failed, or the driver offers none of them; then a refusal says more than the absence of
                a function that only other drivers have.
        """
        refusals: list[DriverError] = []
        for call in calls:
            try:
                return call()
            except DriverError as error:
                if error.reason not in NOT_OFFERED:
                    raise
                refusals.append(error)
        raise next((r for r in refusals if r.reason is not Reason.FUNCTION_NOT_FOUND), refusals[-1])

    def initialise(self) -> None:
        """Start NVML.

        Raises:
            DriverError: it does not start; `state_of` makes a sentence of it.
        """
        self.call("nvmlInitWithFlags", 0)

    def shut_down(self) -> None:
        """End NVML; a library that has already ended itself is fine."""
        with contextlib.suppress(DriverError):
            self.call("nvmlShutdown")


def state_of(error: DriverError, generation: int) -> SourceState:
    """What a failed initialisation means, in a sentence for the person."""
    failed = (
        f"The NVIDIA driver failed (NVML error {error.code}): check `nvidia-smi` and the kernel log; it is tried again "
        "from time to time."
    )
    code, sentence = _DRIVER_STATES.get(error.code, ("error", failed))
    return SourceState(source=SOURCE, ok=False, code=code, sentence=sentence, generation=generation)


def binding_state(error: SourceError) -> SourceState:
    """There is no usable binding; its error says what to install."""
    return SourceState(source=SOURCE, ok=False, code="wrong_binding", sentence=str(error))


def no_gpu_state(generation: int) -> SourceState:
    """The driver works and shows no GPU."""
    return SourceState(source=SOURCE, ok=False, code="no_gpu", sentence=_NO_GPU, generation=generation)


def lost_state(names: list[str], reason: Reason, generation: int) -> SourceState:
    """Some GPUs cannot be read; the others can."""
    code = {Reason.NO_PERMISSION: "no_permission", Reason.GPU_LOST: "gpu_lost", Reason.RESET_REQUIRED: "gpu_lost"}
    advice = " In a container: restart it." if reason is Reason.GPU_LOST else ""
    return SourceState(
        source=SOURCE,
        ok=False,
        code=code.get(reason, "error"),
        sentence=f"{' and '.join(names)} cannot be read. {REASON_SENTENCES[reason]}{advice}",
        generation=generation,
    )


def wedged_state(since_s: float, generation: int) -> SourceState:
    """A driver call does not come back."""
    sentence = (
        f"The NVIDIA driver has not answered for {since_s:.0f} s: check the kernel log (`dmesg`) for Xid errors; a GPU "
        "reset or a reboot may be needed."
    )
    return SourceState(source=SOURCE, ok=False, code="wedged", sentence=sentence, generation=generation)
