"""The events of a trace as columns of numbers: a few dozen bytes an event, however long its name."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuscope.importers.pytorch.trace_event import TraceEvent, kind_of

_NANOSECONDS_FROM = 1e17
"""Time stamps count microseconds, whatever `displayTimeUnit` says: as nanoseconds since 1970 this is the year 1973."""
_MOST_TIME = 1e19
_MOST_US = 1e16
"""Three hundred years: a longer duration is damage."""
_MOST_WHOLE = 2**62
_MOST_DEVICES = 4095
NO_NUMBER = -1
OPTIMIZER_PREFIX, LOADER_PREFIX = "Optimizer.step#", "enumerate(DataLoader)"
"""How the names of the ranges begin that PyTorch itself marks."""


def _floats() -> array[float]:
    return array("d")


def _integers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Spans:
    """Things that begin and last. Times in microseconds of the trace's clock."""

    start_us: array[float] = field(default_factory=_floats)
    duration_us: array[float] = field(default_factory=_floats)
    key: array[int] = field(default_factory=_integers)
    """Number of the name, or of the operator with its shapes."""
    thread: array[int] = field(default_factory=_integers)
    """Number of the thread of what runs on the CPU."""
    correlation: array[int] = field(default_factory=_integers)
    """Of launches and work: what the two have in common; NO_NUMBER: none."""
    external: array[int] = field(default_factory=_integers)
    """Of operators and work: what the two have in common, in most versions."""


@dataclass(slots=True)
class MemoryEvents:
    """Allocations and frees of one device in the order of the file."""

    time_us: array[float] = field(default_factory=_floats)
    thread: array[int] = field(default_factory=_integers)
    change: array[int] = field(default_factory=_integers)
    allocated: array[float] = field(default_factory=_floats)
    """NaN: the event has no total."""
    reserved: array[float] = field(default_factory=_floats)


class Numbers(dict[Any, int]):
    """Gives equal things the same number: `numbers[thing]`."""

    def __missing__(self, thing: Any) -> int:
        """A new number for a new thing."""
        number = self[thing] = len(self)
        return number

    @property
    def in_order(self) -> list[Any]:
        """The things by their number."""
        return list(self)


class TraceColumns:
    """Everything that is used of a trace's events."""

    def __init__(self) -> None:
        self.events = 0
        self.odd = 0
        """Events without a time or duration."""
        self.nanoseconds = False
        self.names, self.threads, self.operator_keys = Numbers(), Numbers(), Numbers()
        """An operator's key is (name, shapes, dtypes, values), as bytes of JSON: there are few different ones."""
        self.operators, self.annotations, self.launches = Spans(), Spans(), Spans()
        self.device_work: dict[tuple[int, str], Spans] = {}
        """By device index and kind: kernel, copy, set, gpu_annotation, gpu_range."""
        self.memory: dict[tuple[int, int], MemoryEvents] = {}
        """By device type (0: CPU) and index."""
        self.python: dict[str, list[float]] = {}
        """By function: calls, microseconds."""
        self.python_functions = 0
        self.collectives: dict[tuple[int, int], tuple[Any, ...]] = {}
        """By device and correlation: name, elements in and out, dtype, group size of a communication kernel."""
        self.first_us = math.inf
        self.last_us = -math.inf

    def add(self, events: Sequence[TraceEvent]) -> None:
        """Take in a list of events."""
        self.events += len(events)
        by_kind: dict[str, list[TraceEvent]] = defaultdict(list)
        for event in events:
            by_kind[kind_of(event)].append(event)
        for kind, group in by_kind.items():
            if kind == "instant":
                self._add_instants(group)
            elif kind:
                self._add_spans(kind, self._timed(group))

    def _timed(self, events: list[TraceEvent]) -> list[TraceEvent]:
        """Those with a beginning and a duration, in microseconds; the rest is counted."""
        timed = [
            event
            for event in events
            if event.ph == "X"
            and event.ts is not None
            and event.dur is not None
            and -_MOST_TIME < event.ts < _MOST_TIME
            and 0 <= event.dur < _MOST_US
        ]
        # Flows and counters share categories with what lasts: only a complete event without its times is odd.
        self.odd += sum(event.ph == "X" for event in events) - len(timed) if len(timed) < len(events) else 0
        if timed and max(event.ts or 0.0 for event in timed) > _NANOSECONDS_FROM:
            self.nanoseconds = True
            for event in timed:
                event.ts, event.dur = (event.ts or 0.0) / 1000, (event.dur or 0.0) / 1000
        return timed

    def _add_spans(self, kind: str, events: list[TraceEvent]) -> None:
        if not events:
            return
        starts, durations = [event.ts or 0.0 for event in events], [event.dur or 0.0 for event in events]
        self.first_us = min(self.first_us, *starts)
        self.last_us = max(self.last_us, *map(float.__add__, starts, durations))
        if kind == "operator":
            self._add_operators(events)
        elif kind == "annotation":
            self._extend(self.annotations, events, [self.names[event.name] for event in events])
        elif kind == "launch":
            self._extend(self.launches, events, [self.names[event.name] for event in events])
            self.launches.correlation.extend(_correlations(events))
        elif kind == "python":
            self._add_python(events)
        else:
            self._add_device_work(kind, events)

    def _extend(self, spans: Spans, events: list[TraceEvent], keys: list[int]) -> None:
        spans.start_us.extend([event.ts or 0.0 for event in events])
        spans.duration_us.extend([event.dur or 0.0 for event in events])
        spans.key.extend(keys)
        spans.thread.extend([self.threads[event.pid, event.tid] for event in events])

    def _add_operators(self, events: list[TraceEvent]) -> None:
        # torch 1.8 filed the steps under operators.
        steps = [event for event in events if event.name.startswith("ProfilerStep#")]
        if steps:
            self._extend(self.annotations, steps, [self.names[event.name] for event in steps])
            events = [event for event in events if not event.name.startswith("ProfilerStep#")]
        self._extend(self.operators, events, [self.operator_keys[_operator_key(event)] for event in events])
        self.operators.external.extend(_externals(events))

    def _add_python(self, events: list[TraceEvent]) -> None:
        self.python_functions += len(events)
        for event in events:
            total = self.python.setdefault(event.name, [0, 0.0])
            total[0] += 1
            total[1] += event.dur or 0.0

    def _add_device_work(self, kind: str, events: list[TraceEvent]) -> None:
        by_device: dict[int, list[TraceEvent]] = defaultdict(list)
        for event in events:
            by_device[_device_index(event)].append(event)
        for index, mine in by_device.items():
            spans = self.device_work.setdefault((index, kind), Spans())
            self._extend(spans, mine, [self.names[event.name] for event in mine])
            spans.correlation.extend(_correlations(mine))
            spans.external.extend(_externals(mine))
            if kind == "kernel":
                self._note_collectives(index, mine)

    def _note_collectives(self, index: int, events: list[TraceEvent]) -> None:
        for event in events:
            if event.args.collective is not None:
                told = event.args
                self.collectives[index, _whole(told.correlation)] = (
                    told.collective, told.message_in, told.message_out, told.message_dtype, told.group_size,
                )  # fmt: skip

    def _add_instants(self, events: list[TraceEvent]) -> None:
        for event in events:
            if event.name != "[memory]":
                continue
            if event.ts is None or not -_MOST_TIME < event.ts < _MOST_TIME:
                self.odd += 1
                continue
            told = event.args
            kind, index = max(0, _whole(told.device_type)), max(0, _whole(told.device_id))
            memory = self.memory.setdefault((kind, index), MemoryEvents())
            time_us = event.ts / 1000 if event.ts > _NANOSECONDS_FROM else event.ts
            self.first_us, self.last_us = min(self.first_us, time_us), max(self.last_us, time_us)
            memory.time_us.append(time_us)
            memory.thread.append(self.threads[event.pid, event.tid])
            memory.change.append(_whole(told.size, missing=0))
            memory.allocated.append(_number(told.allocated))
            memory.reserved.append(_number(told.reserved))

    def annotated(self) -> Iterator[tuple[float, float, str, int]]:
        """Beginning, duration (µs), name and thread of each annotated range."""
        spans, names = self.annotations, self.names.in_order
        for start_us, duration_us, key, thread in zip(
            spans.start_us, spans.duration_us, spans.key, spans.thread, strict=True
        ):
            yield start_us, duration_us, names[key], thread


def _correlations(events: list[TraceEvent]) -> list[int]:
    return [
        told if type(told := event.args.correlation) is int and 0 <= told < _MOST_WHOLE else _whole(told)
        for event in events
    ]


def _externals(events: list[TraceEvent]) -> list[int]:
    return [
        told
        if type(told := event.args.external) is int and 0 <= told < _MOST_WHOLE
        else _whole(told, event.args.external_old)
        for event in events
    ]


def _operator_key(event: TraceEvent) -> tuple[str, bytes, bytes, bytes]:
    told, name = event.args, event.name
    values = bytes(told.concrete) if "conv" in name else b""
    return name, bytes(told.dims) or bytes(told.dims_old), bytes(told.types), values


def _device_index(event: TraceEvent) -> int:
    """The device that the event names; the process id of a GPU's track is its number."""
    index = event.args.device
    if not isinstance(index, int):
        index = event.pid
    return index if isinstance(index, int) and 0 <= index <= _MOST_DEVICES else 0


def is_communication(kernel: str) -> bool:
    """Whether a kernel is one of NCCL's or RCCL's collectives."""
    return kernel.startswith(("nccl", "rccl"))


def _whole(value: Any, instead: Any = None, missing: int = NO_NUMBER) -> int:
    """A whole number that fits into a column; `instead` where there is no value, `missing` where there is neither."""
    if value is None:
        value = instead
    if isinstance(value, str) and len(value) < 19 and value.lstrip("-").isdecimal():
        value = int(value)
    return value if isinstance(value, int) and -_MOST_WHOLE < value < _MOST_WHOLE else missing


def _number(value: Any) -> float:
    """A size; NaN where there is none."""
    return float(value) if isinstance(value, (int, float)) and 0 <= value < _MOST_WHOLE else math.nan
