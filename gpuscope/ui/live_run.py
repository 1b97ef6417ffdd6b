"""What the window says of a run: steps, speed, memory by part, state; folded together from updates, without Qt."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import Any

from gpuscope.domain.events import SUPERVISOR, Event
from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome
from gpuscope.engine.follow import Update
from gpuscope.engine.measures import WARM_UP_STEPS, warm_up_steps
from gpuscope.store.reader import SessionState
from gpuscope.ui.step_counter import RECENT_STEPS, StepCounter

FEWEST_STEPS = 2
"""Fewer have no speed and no steady state."""
STALLED_AFTER_STEPS = 10.0
"""A run counts as stalled when no step came for this many times its usual step time ..."""
STALLED_AFTER_S = 30.0
"""... and for at least this long."""


class RunState(StrEnum):
    """The state of a run in a word; the last group is how it ended."""

    WAITING = "waiting"
    NO_PROBE = "no_probe"
    RUNNING = "running"
    STEADY = "steady"
    STALLED = "stalled"
    STOPPING = "stopping"
    READING = "reading"
    INTERRUPTED = "interrupted"
    FINISHED = "finished"
    FAILED = "failed"
    OUT_OF_MEMORY = "out_of_memory"
    STOPPED = "stopped"
    KILLED = "killed"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """A part of the memory in use."""

    name: str
    """parameters, gradients, optimizer_state, activations (and temporaries), unused (reserved, not allocated), other"""
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Memory of the process with the most steps: of its GPU, or of its process tree on the CPU."""

    parts: tuple[MemoryPart, ...] = ()
    on_gpu: bool = False
    allocated_bytes: int | None = None
    reserved_bytes: int | None = None
    peak_allocated_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    rss_bytes: int | None = None
    """Resident memory of the workload's process tree now."""


@dataclass(slots=True)
class _Process:
    steps: StepCounter = field(default_factory=StepCounter)
    optimizers: dict[str, dict[str, int]] = field(default_factory=dict)
    """Highest bytes seen, by optimizer and by field."""
    model: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    samples: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))
    """Samples that the recent steps took."""


class LiveRun:
    """One run, as far as it has been followed."""

    def __init__(self, manifest: Manifest) -> None:
        """Nothing is known yet but the manifest."""
        self.manifest = manifest
        self.outcome: RunOutcome | None = None
        self.probe_off_reason: str | None = None
        self._live = True
        self._ended = False
        self._stopping = False
        self._now_s = 0.0
        self._furthest_step = (0.0, 0)
        self._first_steps: list[tuple[float, int]] = []
        self._rss_bytes: int | None = None
        self._processes: dict[str, _Process] = {}

    @property
    def steps(self) -> int:
        """Training steps so far."""
        return self._main.steps.count

    @property
    def total_steps(self) -> int | None:
        """As the person said."""
        return self.manifest.run.total_steps if self.manifest.run else None

    @property
    def now_s(self) -> float:
        """Session time up to which it has been followed."""
        return self._now_s

    @property
    def last_step_s(self) -> float | None:
        """Duration of the last step."""
        return self._main.steps.last_s

    @property
    def median_step_s(self) -> float | None:
        """Median duration of the recent steps."""
        return self._main.steps.median_s

    @property
    def live(self) -> bool:
        """Whether the run goes on."""
        return self._live

    @property
    def remaining_s(self) -> float | None:
        """Until the total is reached at the present speed; None when it is not known."""
        median_s, total = self.median_step_s, self.total_steps
        if median_s is None or total is None or not self._live:
            return None
        return max(0, total - self.steps) * median_s

    @property
    def steps_per_s(self) -> float | None:
        """One over the median step time; None before there are two steps, and while no step comes."""
        median_s = self.median_step_s
        if not median_s or self.steps < FEWEST_STEPS or (self._live and self._stalled()):
            return None
        return 1 / median_s

    @property
    def samples_per_s(self) -> float | None:
        """Usual samples of a step over the usual time of one; None when the script has no DataLoader."""
        samples, median_s = self._main.samples, self.median_step_s
        return median(samples) / median_s if samples and median_s else None

    def take(self, update: Update) -> None:
        """Fold in what is new."""
        self._live = update.state is SessionState.LIVE
        for frame in update.frames:
            self._now_s = max(self._now_s, frame.monotonic_s - self.manifest.created_monotonic_s)
            if frame.host is not None and frame.host.workload_rss_bytes is not None:
                self._rss_bytes = frame.host.workload_rss_bytes
        self._take_events(update.events)

    def end(self, outcome: RunOutcome | None) -> None:
        """The session has ended."""
        self._live = False
        self._ended = True
        self.outcome = outcome

    def steady_span(self) -> tuple[float, float] | None:
        """Session times between which the steps are steady, by the footprint's rule; None before there are any."""
        if self.steps < FEWEST_STEPS:
            return None
        warm_up = warm_up_steps(self.steps)
        start_s = next((t for t, number in self._first_steps if number >= warm_up), self._first_steps[-1][0])
        end_s = self._furthest_step[0]
        return (start_s, end_s) if end_s > start_s else None

    def state(self) -> RunState:
        """What the run does, or how it ended."""
        if self.outcome is not None:
            kind = self.outcome.kind
            known = kind not in {OutcomeKind.UNKNOWN, OutcomeKind.RECORDED}
            return RunState(kind.value) if known else RunState.INTERRUPTED
        if not self._live:  # over, but perhaps not yet read to its end
            return RunState.INTERRUPTED if self._ended else RunState.READING
        if self._stopping:
            return RunState.STOPPING
        if self.steps == 0:
            unprobed = self.probe_off_reason is not None or (
                self.manifest.run is not None and not self.manifest.run.probe
            )
            return RunState.NO_PROBE if unprobed else RunState.WAITING
        if self._stalled():
            return RunState.STALLED
        return RunState.STEADY if self._main.steps.steady else RunState.RUNNING

    def stalled_for_s(self) -> float:
        """How long no step has come."""
        return self._now_s - (self._main.steps.last_t or 0.0)

    def memory(self) -> MemoryParts:
        """Memory by part, as far as it is known."""
        main = self._main
        known = {name: sum(each[name] for each in main.optimizers.values()) for name in _OPTIMIZER_FIELDS}
        parameters = max(known["parameter_bytes"], int(main.model.get("parameter_bytes") or 0))
        parts = [
            MemoryPart("parameters", parameters),
            MemoryPart("gradients", known["gradient_bytes"]),
            MemoryPart("optimizer_state", known["state_bytes"]),
        ]
        explained = sum(part.bytes for part in parts)
        counters = {name: main.memory.get(name) for name in _MEMORY_FIELDS}
        peak, reserved = counters["peak_allocated_bytes"], counters["peak_reserved_bytes"]
        if peak is not None:
            parts.append(MemoryPart("activations", max(0, int(peak) - explained)))
            parts.append(MemoryPart("unused", max(0, int(reserved or 0) - max(int(peak), explained))))
        elif self._rss_bytes is not None and explained:
            parts.append(MemoryPart("other", max(0, self._rss_bytes - explained)))
        shown = tuple(part for part in parts if part.bytes > 0)
        return MemoryParts(parts=shown, on_gpu=peak is not None, rss_bytes=self._rss_bytes, **counters)

    @property
    def _main(self) -> _Process:
        return max(self._processes.values(), key=lambda process: process.steps.count, default=_NOTHING)

    def _take_events(self, events: Iterable[Event]) -> None:
        for event in events:
            self._now_s = max(self._now_s, event.t)
            if event.source != SUPERVISOR:
                self._take_probe_event(self._processes.setdefault(event.source, _Process()), event)
            elif event.kind == "stop_requested":
                self._stopping = True

    def _take_probe_event(self, process: _Process, event: Event) -> None:
        process.steps.take(event)
        self._note_step(event.t, process.steps.count)
        match event.kind:
            case "optimizer":
                highest = process.optimizers.setdefault(str(event.data.get("key")), dict.fromkeys(_OPTIMIZER_FIELDS, 0))
                for name in _OPTIMIZER_FIELDS:
                    highest[name] = max(highest[name], int(event.data.get(name) or 0))
            case "model":
                process.model = event.data
            case "memory":
                process.memory = event.data
            case "batch" if event.data.get("samples") is not None:
                process.samples.append(float(event.data["samples"]))
            case "probe_off":
                self.probe_off_reason = str(event.data.get("reason") or "")

    def _note_step(self, t: float, number: int) -> None:
        if number <= self._furthest_step[1]:
            return  # another rank's report of the same step, or no step
        self._furthest_step = (t, number)
        if len(self._first_steps) < WARM_UP_STEPS[1]:
            self._first_steps.append((t, number))

    def _stalled(self) -> bool:
        median_s = self.median_step_s
        if median_s is None:
            return False
        return self.stalled_for_s() > max(STALLED_AFTER_S, STALLED_AFTER_STEPS * median_s)


_OPTIMIZER_FIELDS = ("parameter_bytes", "gradient_bytes", "state_bytes")
_MEMORY_FIELDS = ("allocated_bytes", "reserved_bytes", "peak_allocated_bytes", "peak_reserved_bytes")
_NOTHING = _Process()
