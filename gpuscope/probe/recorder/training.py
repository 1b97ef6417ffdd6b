"""Turns what the hooks notice into events: steps, batches, bytes, precision, one profiled step."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from .batches import BatchSum
from .census import model_census, optimizer_census, parameter_bytes, parameters_of
from .devices import MemoryWatch, compiled_anything, cuda_is_in_use, device_event_fields, framework_fields, tf32_allowed
from .ops import StepProfile
from .steps import StepTracker, TrackedOptimizer
from .writer import EventWriter, encode

# Steps faster than this are written several at once, so that a loop of tiny steps does not fill the disk.
_MERGE_BELOW_S = 0.02
_MERGE_FROM_STEP = 100
_MODEL_CENSUS_STEP = 2
_PROFILED_STEP = 5
_PROFILED_STEP_IF_SLOW = 3
_SLOW_STEP_S = 5.0


class _Pace:
    """What was written about one optimizer's steps."""

    def __init__(self) -> None:
        self.last_end_s: float | None = None
        self.written_end_s: float | None = None
        self.waiting = 0
        self.gradient_bytes = 0
        self.next_census = 1
        self.last_duration_s = 0.0


class TrainingRecorder:
    """The recorder of a process that has imported torch."""

    def __init__(self, torch: Any, writer: EventWriter) -> None:
        self._torch = torch
        self._writer = writer
        self.tracker = StepTracker(time.monotonic, parameter_bytes, self._on_step)
        self.profile = StepProfile(torch)
        self._profile_wanted = os.environ.get("GPUSCOPE_PROBE_PROFILE", "1") != "0"
        self._start_counting()

    def forget(self) -> None:
        """Start afresh (in a forked child)."""
        self.tracker.forget()
        self._start_counting()
        self.framework(quiet=True)

    def _start_counting(self) -> None:
        self._pace: dict[str, _Pace] = {}
        self._memory = MemoryWatch(self._torch)
        self._batches = BatchSum(self._torch)
        self._probe_s = 0.0
        self._marked_until = 0
        self._finished = False
        self._described: Any = None
        self._model_written = False
        self._devices_listed = False
        self._precision: dict[str, Any] | None = None
        self.autocast: str | None = None
        self.grad_scaler = False
        self.checkpointing = False

    # What the hooks tell

    def framework(self, *, quiet: bool) -> None:
        """torch was imported: say so at once, or (quiet) only together with the first thing that matters."""
        fields = framework_fields(self._torch)
        if quiet:
            self._writer.hold("framework", **fields)
        else:
            self._writer.write("framework", **fields)

    def batch_arrived(self, batch: Any, began_s: float) -> None:
        """The data loader handed over a batch that was asked for at `began_s`."""
        now_s = time.monotonic()
        self._batches.add(batch, now_s - began_s)
        self.profile.give_up_if_late()
        self._probe_s += time.monotonic() - now_s

    def scaler_used(self, scaler: Any) -> None:
        """A gradient scaler is asked to step."""
        if not self.grad_scaler:
            self.grad_scaler = bool(scaler.is_enabled())

    def step_begins(self, optimizer: Any, frame: Any) -> None:
        """An optimizer's step is called."""
        if self.tracker.step_begins(optimizer, frame) and self.profile.running:
            self.profile.optimizer_begins()

    def step_ends(self, optimizer: Any) -> None:
        """An optimizer's step returned."""
        self.tracker.step_ends(optimizer, _skipped_inside(optimizer) if self.grad_scaler else False)

    def backward_begins(self) -> None:
        """A backward pass is called."""
        if self.profile.running:
            self.profile.backward_begins()
        self.tracker.backward_begins()

    def memory_counters(self) -> dict[str, Any]:
        """The allocator's counters of the current device; empty without CUDA."""
        counters = self._memory.read()
        for fields in counters:
            self._writer.write("memory", **fields)
        return counters[-1] if counters else {}

    def finish(self) -> None:
        """Write what is still to be said at the end of the process (children may be told twice)."""
        if self._finished:
            return
        self._finished = True
        self.profile.abandon()
        for tracked in self.tracker.tracked:
            pace = self._pace.get(tracked.key)
            if pace is None or pace.last_end_s is None:
                continue
            if pace.waiting:
                self._write_step(tracked.key, pace, tracked.steps, pace.last_end_s)
            if tracked.optimizers():
                self._write_census(tracked, pace)
        if self._writer.is_open:
            self._list_devices()
            for fields in self._memory.read():
                self._writer.write("memory", **fields)
            self._write_model()
            if self.tracker.dominant is not None:
                self._write_precision()

    # Steps

    def _on_step(self, tracked: TrackedOptimizer, end_s: float, skipped: bool | None) -> None:
        pace = self._pace.get(tracked.key)
        if pace is None:
            pace = self._pace[tracked.key] = _Pace()
            _finish_with_worker(self.finish)
        dominant = tracked is self.tracker.dominant
        marked = dominant and tracked.steps <= self._marked_until
        previous_s, pace.last_end_s = pace.last_end_s, end_s
        written_s = pace.written_end_s
        mergeable = tracked.steps > _MERGE_FROM_STEP and skipped is False and not marked
        if mergeable and written_s is not None and end_s - written_s < _MERGE_BELOW_S:
            pace.waiting += 1
        else:
            if previous_s is not None:
                pace.last_duration_s = end_s - previous_s
                if pace.waiting and not mergeable:
                    self._write_step(tracked.key, pace, tracked.steps - 1, previous_s)
            pace.waiting += 1
            self._write_step(tracked.key, pace, tracked.steps, end_s, skipped=skipped, marked=marked)
        self._after_step(tracked, pace, dominant, end_s)
        self._probe_s += time.monotonic() - end_s

    def _write_step(
        self, key: str, pace: _Pace, number: int, end_s: float, *, skipped: bool | None = False, marked: bool = False
    ) -> None:
        """Write the steps that wait to be written, the last of which is this one."""
        covered, pace.waiting = pace.waiting, 0
        duration = "null"
        if pace.written_end_s is not None:
            duration = "%.6f" % ((end_s - pace.written_end_s) / covered)
        pace.written_end_s = end_s
        probe_s, self._probe_s = self._probe_s, 0.0
        # By hand: several times faster than the encoder, and this is the only event of the hot path.
        line = (
            '{"kind":"step","t":%.6f,"pid":%d,"n":%d,"steps":%d,"duration_s":%s,"optimizer":"%s","skipped":%s,'
            '"profiled":%s,"probe_s":%.6f}\n'
            % (
                end_s,
                os.getpid(),
                number,
                covered,
                duration,
                key,
                _JSON_WORDS[skipped],
                _JSON_WORDS[marked],
                probe_s,
            )
        ).encode()
        dominant = self.tracker.dominant
        if self._batches.batches and dominant is not None and dominant.key == key:
            line += encode("batch", {"t": round(end_s, 6), **self._batches.take(covered)})
        self._writer.write_line(line)

    def _after_step(self, tracked: TrackedOptimizer, pace: _Pace, dominant: bool, end_s: float) -> None:
        if dominant and self.profile.running:
            self._write_profile(tracked.steps)
        if tracked.updates >= pace.next_census or tracked.steps == 1:
            self._census(tracked, pace, dominant)
        for fields in self._memory.due(end_s):
            self._list_devices()
            self._writer.write("memory", **fields)
        if dominant and self._profile_wanted:
            self._maybe_profile(tracked.steps + 1, pace.last_duration_s)

    # Bytes

    def _census(self, tracked: TrackedOptimizer, pace: _Pace, dominant: bool) -> None:
        while pace.next_census <= tracked.updates:
            pace.next_census = pace.next_census + 1 if pace.next_census < 2 else _next_power_of_ten(pace.next_census)
        parameters = parameters_of(tracked.optimizers())
        self._memory.use(parameters)
        if dominant and self._described is not tracked:
            self._described = tracked
            self._list_devices()
            fields = device_event_fields(self._torch, parameters)
            if fields is not None:
                self._writer.write("device", **fields)
        self._write_census(tracked, pace)
        if dominant and tracked.updates >= _MODEL_CENSUS_STEP:
            self._write_model()
            self._write_precision()

    def _write_census(self, tracked: TrackedOptimizer, pace: _Pace) -> None:
        fields = optimizer_census(tracked.optimizers(), tracked.inner_optimizers(), self._torch)
        pace.gradient_bytes = max(pace.gradient_bytes, fields["gradient_bytes"])
        fields["gradient_bytes"] = pace.gradient_bytes
        fields["dominant"] = tracked is self.tracker.dominant
        self._writer.write("optimizer", key=tracked.key, after_step=tracked.steps, **fields)

    def _write_model(self) -> None:
        if self._model_written:
            return
        self._model_written = True
        fields = model_census(self._torch)
        if fields is not None:
            self._writer.write("model", **fields)

    def _list_devices(self) -> None:
        """Say the framework again, with its devices, once the script has initialised CUDA."""
        if not self._devices_listed and cuda_is_in_use(self._torch):
            self._devices_listed = True
            self._writer.write("framework", **framework_fields(self._torch))

    def _write_precision(self) -> None:
        fields = {
            "autocast": self.autocast,
            "grad_scaler": self.grad_scaler,
            "tf32": tf32_allowed(self._torch),
            "compiled": compiled_anything(self._torch),
            "checkpointing": self.checkpointing,
        }
        if fields != self._precision:
            self._precision = fields
            self._writer.write("precision", **fields)

    # The profiled step

    def _maybe_profile(self, step: int, last_duration_s: float) -> None:
        slow = last_duration_s > _SLOW_STEP_S
        if step == _PROFILED_STEP or (step == _PROFILED_STEP_IF_SLOW and slow):
            self._profile_wanted = False
            if self.profile.start(expected_s=last_duration_s):
                # The step after it pays for adding the operators up.
                self._marked_until = step + 1

    def _write_profile(self, step: int) -> None:
        fields = self.profile.stop()
        if fields is not None:
            self._writer.write("ops", step=step, **fields)


_JSON_WORDS = {True: "true", False: "false", None: "null"}


def _next_power_of_ten(number: int) -> int:
    power = 10
    while power <= number:
        power *= 10
    return power


def _skipped_inside(optimizer: Any) -> bool | None:
    """Whether a fused optimizer skips its update by itself; None where reading that would wait for the device."""
    found_inf = getattr(optimizer, "found_inf", None)
    if found_inf is None:
        return False
    device = getattr(found_inf, "device", None)
    return bool(found_inf.item()) if getattr(device, "type", None) == "cpu" else None


def _finish_with_worker(finish: Any) -> None:
    """Children forked by multiprocessing end without running exit handlers, but they run its finalizers."""
    process, utilities = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if process is not None and utilities is not None and process.parent_process() is not None:
        utilities.Finalize(None, finish, exitpriority=-100)
