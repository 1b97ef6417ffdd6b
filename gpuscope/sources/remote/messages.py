"""What the far side sends, a line of JSON each, and what it means here."""

from __future__ import annotations

from typing import Any

import msgspec

from gpuscope.domain.base import Compact, from_json
from gpuscope.domain.device import Device, Host
from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import GpuSample, HostSample, SourceState
from gpuscope.sources.driver import (
    DEVICE_GONE,
    DRIVER_GONE,
    REASONS,
    SOURCE,
    DriverError,
    lost_state,
    no_gpu_state,
    state_of,
)

MOST_LINE_BYTES = 4 * 1024 * 1024
"""No message is longer: the stream is damaged."""


class Message(Compact, frozen=True, kw_only=True):
    """One line; which fields are there says what it is."""

    hello: Host | None = None
    """The first: what machine it is."""
    pid: int | None = None
    pong: float | None = None
    """The time, on this machine's monotonic clock, that was sent and comes back."""
    t: float = 0.0
    """The far monotonic clock."""
    wall_s: float | None = None
    nvml_code: int | None = None
    """0: the GPUs can be read; else why not."""
    no_binding: bool = False
    """nvidia-ml-py cannot be loaded there."""
    devices: tuple[dict[str, Any], ...] | None = None
    gpus: tuple[dict[str, Any], ...] | None = None
    host: HostSample | None = None
    driver_busy_s: float | None = None
    """How long the driver call that now runs has taken."""


def read_message(line: bytes) -> Message:
    """Understand one line.

    Raises:
        ValueError: it is no such message.
    """
    return from_json(line, Message)


def gpu_sample(reading: dict[str, Any], offset_s: float) -> GpuSample:
    """A reading with its times on this machine's clock.

    Raises:
        ValueError: it is none.
    """
    times: dict[str, Any] = {
        name: reading[name] + offset_s for name in ("read_start_s", "read_end_s") if name in reading
    }
    return msgspec.convert({**_explained(reading), **times}, GpuSample)


def device_of(facts: dict[str, Any], hostname: str) -> Device:
    """A device of a machine.

    Raises:
        ValueError: these are no facts of one.
    """
    return msgspec.convert({**_explained(facts), "hostname": hostname}, Device)


def driver_state(code: int, *, has_gpus: bool) -> SourceState:
    """Whether the far GPUs can be read, and what to do there if not."""
    if code == 0:
        return SourceState(source=SOURCE, ok=True) if has_gpus else no_gpu_state(0)
    error = DriverError(code, "NVML")
    if error.reason in DEVICE_GONE - DRIVER_GONE:
        return lost_state(["A GPU"], error.reason, 0)
    return state_of(error, 0)


def no_binding_state() -> SourceState:
    """NVML cannot be loaded there at all."""
    sentence = (
        "GPUs cannot be read: nvidia-ml-py is missing from gpuscope's own environment here, or ctypes from the python3 "
        "there."
    )
    return SourceState(source=SOURCE, ok=False, code="wrong_binding", sentence=sentence)


def _explained(reading: dict[str, Any]) -> dict[str, Any]:
    """With NVML's return codes turned into reasons."""
    missing: dict[str, Any] = reading.get("unavailable") or {}
    reasons = {
        name: REASONS.get(why, Reason.UNKNOWN_ERROR) if isinstance(why, int) else why for name, why in missing.items()
    }
    return {**reading, "unavailable": reasons}
