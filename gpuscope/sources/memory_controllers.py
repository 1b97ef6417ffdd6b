"""Counters of the memory controllers of Intel's processors, through the kernel's perf interface (perf_event_open(2)).

Only controllers whose events the kernel itself describes in sysfs are counted. Needs the right to count for the whole
machine (kernel.perf_event_paranoid at 0 or below, or CAP_PERFMON). Tried on prepared folders and with a counter of the
kernel's own, not on a memory controller.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import struct
from pathlib import Path
from typing import NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.system_files import Number, names_in, numbers_of_list, read_number, read_text, reason_of

CONTROLLER = re.compile(r"uncore_imc(_\d+)?")
EVENTS = (("cas_count_read", "cas_count_write"), ("data_reads", "data_writes"))
"""What servers and what other machines call reading and writing; the first pair that is there counts."""
UNIT_BYTES = {"MiB": 1 << 20}
_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
"""Number of perf_event_open."""
_CLOSE_ON_EXEC = 8
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
"""perf_event_attr, version 0: type, size, config, sample_period, sample_type, read_format, flags; three of no use."""
_TOTAL_TIMES = 3
"""Read format: the value, then for how long the event was wanted and for how long it really was counted."""
_VALUES = struct.Struct("=QQQ")
_TERM = re.compile(r"config:(\d+)(?:-(\d+))?")


class _Event(NamedTuple):
    kind: int
    config: int
    cpus: list[int]
    bytes_each: float


class MemoryControllers:
    """Bytes that went to and from memory since the counters were opened."""

    def __init__(self, sysfs: Path) -> None:
        self._folder = sysfs / "bus" / "event_source" / "devices"
        self._counters: list[tuple[int, float]] | None = None
        self._reason = Reason.NOT_OFFERED

    def total_bytes(self) -> Number:
        """Reading and writing together, of all controllers; or why it is not known."""
        if self._counters is None:
            self._counters = self._open()
        if not self._counters:
            return self._reason
        try:
            return sum(bytes_each * _value(descriptor) for descriptor, bytes_each in self._counters)
        except (OSError, struct.error):
            return Reason.UNREADABLE
        except ZeroDivisionError:  # other programs have had all counters so far
            return Reason.NOT_READY

    def close(self) -> None:
        """End counting."""
        for descriptor, _ in self._counters or ():
            os.close(descriptor)
        self._counters = None

    def _open(self) -> list[tuple[int, float]]:
        """Descriptors of all counters and bytes that each count stands for; none when one cannot be had."""
        counters: list[tuple[int, float]] = []
        try:
            for event in _events(self._folder):
                for cpu in event.cpus:
                    counters.append((_open_counter(event, cpu), event.bytes_each))  # noqa: PERF401 # closed on an error
        except OSError as error:
            self._reason = reason_of(error)
            for descriptor, _ in counters:
                os.close(descriptor)
            return []
        return counters

    def __del__(self) -> None:
        """Counters that nobody reads end."""
        self.close()


def _events(folder: Path) -> list[_Event]:
    """Reading and writing of every controller; none when one of them is described in an unknown way."""
    events: list[_Event] = []
    for device in (folder / name for name in names_in(folder) if CONTROLLER.fullmatch(name)):
        known = names_in(device / "events")
        names = next((pair for pair in EVENTS if set(pair) <= set(known)), None)
        if names is None:
            return []
        for name in names:
            event = _event(device, name)
            if event is None:
                return []
            events.append(event)
    return events


def _event(device: Path, name: str) -> _Event | None:
    kind, cpus = read_number(device / "type"), numbers_of_list(read_text(device / "cpumask"))
    description, scale, unit = (read_text(device / "events" / f"{name}{end}") for end in ("", ".scale", ".unit"))
    config = None if isinstance(description, Reason) else _config(device / "format", description)
    if isinstance(kind, Reason) or isinstance(cpus, Reason) or not cpus or config is None or unit not in UNIT_BYTES:
        return None
    try:
        return _Event(int(kind), config, cpus, float(scale) * UNIT_BYTES[unit])
    except ValueError:
        return None


def _config(formats: Path, description: str) -> int | None:
    """The number for a description such as `event=0x04,umask=0x03`: the folder says which bits each term fills."""
    config = 0
    for term in description.split(","):
        name, _, value = term.partition("=")
        bits = _TERM.fullmatch(read_text(formats / name.strip()))
        try:
            number = int(value or "1", 0)
        except ValueError:
            return None
        if bits is None:
            return None
        first, last = int(bits[1]), int(bits[2] or bits[1])
        if number >= 1 << (last - first + 1):
            return None
        config |= number << first
    return config


def _open_counter(event: _Event, cpu: int) -> int:
    """A descriptor that counts an event on a processor's socket, for all processes.

    Raises:
        OSError: it may not, or cannot.
    """
    if _SYSTEM_CALL is None:
        raise OSError(errno.ENOSYS, "perf_event_open")
    attributes = _ATTRIBUTES.pack(event.kind, _ATTRIBUTES.size, event.config, 0, 0, _TOTAL_TIMES, 0, 0, 0, 0)
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = library.syscall(_SYSTEM_CALL, ctypes.c_char_p(attributes), -1, cpu, -1, _CLOSE_ON_EXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")
    return int(descriptor)


def _value(descriptor: int) -> float:
    """The count; where counters are too few for all who want them, extended over the time that it was not counted."""
    value, wanted_ns, counted_ns = (float(part) for part in _VALUES.unpack(os.read(descriptor, _VALUES.size)))
    return value * wanted_ns / counted_ns
