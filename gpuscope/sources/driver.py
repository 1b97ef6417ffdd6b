"""The one place where NVML is called and its errors are translated."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from gpuscope.domain.reasons import REASON_SENTENCES, FieldState, Reason
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
INSUFFICIENT_SIZE = 7
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

LASTING_STATES = frozenset({FieldState.UNSUPPORTED, FieldState.DENIED})
"""How figures are that are not asked for again at every tick: this will hold for a while."""

NOT_OFFERED = frozenset({Reason.NOT_SUPPORTED, Reason.FUNCTION_NOT_FOUND})
"""Reasons to try an older or newer function for the same figure."""

DRIVER_GONE = frozenset({Reason.DRIVER_NOT_LOADED, Reason.LIBRARY_MISMATCH})
"""Reasons that concern the whole driver: nothing can be read until it has been initialised again."""

DEVICE_GONE = frozenset({Reason.GPU_LOST, Reason.RESET_REQUIRED})
"""Reasons that concern a whole GPU."""

GONE = DRIVER_GONE | DEVICE_GONE
"""Reasons that end a reading: there is nothing more to ask."""

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

    def of_figure(self) -> Reason:
        """The reason, for a figure that is missing.

        Raises:
            DriverError: this one, when the device or the whole driver has gone.
        """
        if self.reason in GONE:
            raise self
        return self.reason


def refused(code: int, function: str) -> Reason:
    """What the return code of one entry of a list means for its figure.

    Raises:
        DriverError: the device or the whole driver has gone.
    """
    if code == INVALID_ARGUMENT:  # an identifier that came after this driver, or a part that this chip lacks
        return Reason.NOT_SUPPORTED
    return DriverError(code, function).of_figure()


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
        self._entries: dict[str, Any] = {}

    def call(self, function: str, *arguments: Any, **options: Any) -> Any:
        """Call one function of the binding.

        Raises:
            DriverError: it failed; any error that the binding can raise ends up here.
        """
        self.calls += 1
        self.call_started_s = start_s = time.monotonic()
        try:
            ask = getattr(self.module, function, None)  # a binding that is older than the function
            if ask is None:
                raise DriverError(FUNCTION_NOT_FOUND, function)
            return ask(*arguments, **options)
        except self.module.NVMLError as error:
            raise DriverError(int(error.value), function) from None
        except (ValueError, OSError) as error:  # undecodable text, a library that cannot be called
            raise DriverError(-1, f"{function} ({error})") from error
        finally:
            self.busy_s += time.monotonic() - start_s
            self.call_started_s = None

    def raw(self, function: str, *arguments: Any) -> None:
        """Call a function of the library itself with ctypes arguments, results going to where they point.

        For what is called often, with structures made once: the binding makes new ones at every call.

        Raises:
            DriverError: it failed, or this library does not have it.
        """
        entry = self._entries.get(function) or self.entry(function)
        self.calls += 1
        self.call_started_s = start_s = time.monotonic()
        code = entry(*arguments)
        self.busy_s += time.monotonic() - start_s
        self.call_started_s = None
        if code:
            raise DriverError(code, function)

    def entry(self, function: str) -> Any:
        """The library's function itself, for calls in a row: the caller sets `call_started_s`, and tells `account`.

        Raises:
            DriverError: this library does not have it.
        """
        try:
            self._entries[function] = getattr(self.module.nvmlLib, function)
        except AttributeError:
            raise DriverError(FUNCTION_NOT_FOUND, function) from None
        return self._entries[function]

    def account(self, calls: int, start_s: float) -> None:
        """Calls in a row through `entry` have ended that began at a monotonic time."""
        self.calls += calls
        self.busy_s += time.monotonic() - start_s
        self.call_started_s = None

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


def asleep_state(generation: int) -> SourceState:
    """All GPUs sleep and the driver is left alone."""
    sentence = "All GPUs are asleep to save power; they are not woken to be measured and show as soon as they are used."
    return SourceState(source=SOURCE, ok=True, code="asleep", sentence=sentence, generation=generation)


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
