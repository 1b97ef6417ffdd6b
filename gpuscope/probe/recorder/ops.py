"""Profiles one step with the framework's own profiler and adds equal operators up."""

from __future__ import annotations

import _thread
import contextlib
import os
import time
from typing import Any

from .devices import compiled_anything, cuda_is_in_use

# A step with more events than this would take seconds to add up (about 5 µs an event): its profile is dropped.
_EVENT_LIMIT = 400_000
_USER_SCOPE = 7  # torch's RecordScope::USER_SCOPE: a region that somebody named, not an operator
_MARK = "gpuscope_optimizer_step"
_LOADER_PREFIX = "enumerate(DataLoader)"
_BACKWARD_PREFIX = "autograd::engine::evaluate_function"
# Where the step does not end (the job validates, or trains no more), the profile is given up after so many seconds, or
# so many times the step before: its events take memory all the while.
_LATE_AFTER_S = 15.0
_LATE_AFTER_STEPS = 4
# Some versions announce each profile on the script's output; this threshold, read at the first profile, stops that.
_QUIET = ("KINETO_LOG_LEVEL", "99")


class StepProfile:
    """One profile of one step, given up at once where it could get in the script's way."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.running = False
        """True between start and stop."""
        self._profiler: Any = None
        self._mark: Any = None
        self._closure_in_step = False
        self._cost_s = 0.0
        self._release: list[Any] = []
        self._deadline_s = 0.0
        self._thread = 0

    def start(self, *, expected_s: float) -> bool:
        """Begin; False where a profile would be unsafe (another profiler, a graph being captured).

        Args:
            expected_s: how long the step should take.
        """
        began_s = time.perf_counter()
        if self._unsafe():
            return False
        profiler_module = self._torch.autograd.profiler
        self._profiler = self._new_profiler(profiler_module)
        self.running = True
        self._yield_to_others(profiler_module)
        self._watch_the_time(expected_s)
        quiet_name, quiet_value = _QUIET
        quieten = quiet_name not in os.environ
        try:
            if quieten:
                os.environ[quiet_name] = quiet_value
            self._profiler.__enter__()
        except Exception:
            self._end()
            raise
        finally:
            if quieten:
                os.environ.pop(quiet_name, None)
        self._cost_s = time.perf_counter() - began_s
        return True

    def optimizer_begins(self) -> None:
        """The dominant optimizer's call starts: mark it, so that its operators can be told apart."""
        if self.running and self._mark is None:
            self._closure_in_step = False
            self._mark = self._torch.autograd.profiler.record_function(_MARK)
            self._mark.__enter__()

    def backward_begins(self) -> None:
        """A backward pass inside the optimizer's call: then the call is not the optimizer's work alone."""
        self._closure_in_step = self._closure_in_step or self._mark is not None

    def stop(self) -> dict[str, Any] | None:
        """End and add up: `device_type`, `rows`, `cost_s`; None where the profile was given up."""
        profiler = self._profiler
        if profiler is None:
            return None
        began_s = time.perf_counter()
        self._leave_mark()
        self._end()
        profiler.__exit__(None, None, None)
        events = profiler.kineto_results.events()
        if len(events) > _EVENT_LIMIT:
            return None
        rows = add_up(events, mark_is_optimizer=not self._closure_in_step)
        device_type = "cuda" if cuda_is_in_use(self._torch) else "cpu"
        cost_s = self._cost_s + time.perf_counter() - began_s
        return {"device_type": device_type, "cost_s": round(cost_s, 6), "rows": rows}

    def give_up_if_late(self, *_arguments: Any) -> None:
        """End without a result where the step takes far too long; only its own thread can end a profile."""
        if self.running and time.perf_counter() > self._deadline_s and _thread.get_ident() == self._thread:
            with contextlib.suppress(Exception):  # called from the script's own modules, which must not see it
                self.abandon()

    def abandon(self) -> None:
        """End without a result."""
        profiler = self._profiler
        if profiler is not None:
            self._leave_mark()
            self._end()
            profiler.__exit__(None, None, None)

    def _unsafe(self) -> bool:
        torch = self._torch
        if torch._C._autograd._profiler_enabled() or torch.autograd.profiler._is_profiler_enabled:
            return True
        if cuda_is_in_use(torch):
            # An outside profiler owns the CUDA profiling interface, and a capture must not be synchronised.
            outside = "NSYS_PROFILING_SESSION_ID" in os.environ or "CUDA_INJECTION64_PATH" in os.environ
            return outside or bool(torch.cuda.is_current_stream_capturing())
        return False

    def _new_profiler(self, module: Any) -> Any:
        if not cuda_is_in_use(self._torch):
            return module.profile(record_shapes=True, use_kineto=True)
        try:
            return module.profile(record_shapes=True, use_kineto=True, use_device="cuda")
        except TypeError:  # torch before 2.2
            return module.profile(record_shapes=True, use_kineto=True, use_cuda=True)

    def _yield_to_others(self, module: Any) -> None:
        """End ours first if the script starts a profiler of its own in this very step: two at once are an error."""
        profile_type = module.profile
        name = "_prepare_trace" if hasattr(profile_type, "_prepare_trace") else "__enter__"
        original = getattr(profile_type, name)
        ours = self._profiler

        def prepare(profiler: Any) -> Any:
            if profiler is not ours:
                self.abandon()
            return original(profiler)

        def release() -> None:
            if getattr(profile_type, name) is prepare:
                setattr(profile_type, name, original)

        setattr(profile_type, name, prepare)
        self._release.append(release)

    def _watch_the_time(self, expected_s: float) -> None:
        """Look at the clock at each call of a module, except where the compiler would notice such a hook."""
        self._deadline_s = time.perf_counter() + max(_LATE_AFTER_S, _LATE_AFTER_STEPS * expected_s)
        self._thread = _thread.get_ident()
        if not compiled_anything(self._torch):
            register = self._torch.nn.modules.module.register_module_forward_pre_hook
            self._release.append(register(self.give_up_if_late).remove)

    def _leave_mark(self) -> None:
        mark, self._mark = self._mark, None
        if mark is not None:
            mark.__exit__(None, None, None)

    def _end(self) -> None:
        self._profiler = None
        self.running = False
        releases, self._release = self._release, []
        for release in releases:
            release()


class _Open:
    """An event whose end has not been passed yet, while events are walked in order of their start."""

    __slots__ = ("end_ns", "phase", "row")

    def __init__(self, end_ns: int, phase: str, row: Any) -> None:
        self.end_ns = end_ns
        self.phase = phase
        self.row = row


def add_up(events: Any, *, mark_is_optimizer: bool) -> list[dict[str, Any]]:
    """Rows of operators with equal name, shapes, dtypes, settings and phase, most expensive first.

    `cpu_time_s` is an operator's own time, without operators that it calls; `device_time_s` the time of the kernels
    that it launched itself.

    Args:
        events: the profiler's raw events.
        mark_is_optimizer: operators inside our mark around the optimizer's call are the optimizer's.
    """
    rows: dict[Any, dict[str, Any]] = {}
    row_by_correlation: dict[int, dict[str, Any]] = {}
    kernels = []
    by_thread: dict[Any, list[Any]] = {}
    for event in events:
        if _is_cpu(event):
            if event.linked_correlation_id() == 0 and not event.is_async():
                by_thread.setdefault(event.start_thread_id(), []).append(event)
        elif event.linked_correlation_id() > 0:
            kernels.append(event)
    for thread_events in by_thread.values():
        _walk(thread_events, rows, row_by_correlation, mark_is_optimizer)
    for kernel in kernels:
        row = row_by_correlation.get(kernel.linked_correlation_id())
        if row is not None:
            row["kernels"] += 1
            row["device_time_s"] += kernel.duration_ns() * 1e-9
    for row in rows.values():
        row["cpu_time_s"] = round(max(0.0, row["cpu_time_s"]), 9)
        row["device_time_s"] = round(row["device_time_s"], 9)
    return sorted(rows.values(), key=lambda row: -(row["cpu_time_s"] + row["device_time_s"]))


def _walk(events: list[Any], rows: Any, row_by_correlation: Any, mark_is_optimizer: bool) -> None:
    """Add one thread's events up, taking each operator's time off the operator that called it."""
    open_events: list[_Open] = []
    for event in sorted(events, key=lambda one: (one.start_ns(), -one.end_ns())):
        while open_events and open_events[-1].end_ns <= event.start_ns():
            open_events.pop()
        parent = open_events[-1] if open_events else None
        name = event.name()
        phase = _phase(name, event, parent.phase if parent is not None else "forward", mark_is_optimizer)
        seconds = (event.end_ns() - event.start_ns()) * 1e-9
        row = None
        if not _is_named_region(event):
            row = _row(rows, event, name, phase)
            row["count"] += 1
            row["cpu_time_s"] += seconds
            row_by_correlation[event.correlation_id()] = row
            caller = next((one for one in reversed(open_events) if one.row is not None), None)
            if caller is not None:
                caller.row["cpu_time_s"] -= seconds
        open_events.append(_Open(event.end_ns(), phase, row))


def _phase(name: str, event: Any, inherited: str, mark_is_optimizer: bool) -> str:
    if name == _MARK:
        return "optimizer" if mark_is_optimizer else inherited
    if name.startswith(_LOADER_PREFIX):
        return "data_loader"
    if name.startswith(_BACKWARD_PREFIX) or event.scope() == 1:
        return "backward"
    return inherited


def _row(rows: dict[Any, dict[str, Any]], event: Any, name: str, phase: str) -> dict[str, Any]:
    shapes, dtypes = _shapes(event), event.dtypes()
    # Strides, padding and groups decide a convolution's work; elsewhere such values would only split equal rows.
    arguments = event.concrete_inputs() if "conv" in name else []
    key = (name, str(shapes), str(dtypes), str(arguments), phase)
    row = rows.get(key)
    if row is None:
        row = rows[key] = {
            "name": name,
            "shapes": shapes,
            "dtypes": dtypes,
            "args": arguments,
            "phase": phase,
            "backward": phase == "backward",
            "count": 0,
            "cpu_time_s": 0.0,
            "device_time_s": 0.0,
            "kernels": 0,
        }
    return row


def _shapes(event: Any) -> Any:
    """Shapes of the inputs; for a list of tensors a list of shapes, where this torch tells them."""
    structured = getattr(event, "structured_input_shapes", None)
    return event.shapes() if structured is None else structured()


def _is_cpu(event: Any) -> bool:
    return str(event.device_type()).endswith(".CPU")


def _is_named_region(event: Any) -> bool:
    return event.scope() == _USER_SCOPE or bool(event.is_user_annotation())
