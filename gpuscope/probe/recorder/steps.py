"""Tells steps from optimizer calls. Knows no framework: optimizers are objects with `param_groups`.

Rules:
- Of optimizer calls inside each other (wrappers, sharded optimizers) the outermost counts.
- Calls between two backward passes belong together; in such a group an optimizer counts once. A group also ends
  where an optimizer of it steps again. A backward pass inside an optimizer call (an LBFGS closure) starts no group.
- Optimizers over the same parameters, one after another or at once, are one.
- Optimizers that step while a backward pass runs (one a parameter, from gradient hooks) are one, and their step ends
  with that pass.
"""

from __future__ import annotations

import _thread
import sys
import weakref
from typing import Any, Callable

IN_BACKWARD = "in_backward"
# Layer-wise optimizers stepped in a loop: beyond so many after one backward pass the small ones are not reported.
_REPORTED_IN_A_GROUP = 8


class TrackedOptimizer:
    """One optimizer as a person would count them, whatever number of objects it is made of."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.members: dict[int, Any] = {}
        """Weak references to the optimizer objects, by id."""
        self.inner: dict[int, Any] = {}
        """Weak references to optimizers that were called inside a member's step."""
        self.parameter_bytes = 0
        self.steps = 0
        self.updates = 0
        """Steps that were not skipped by a gradient scaler."""

    def optimizers(self) -> list[Any]:
        """The live member objects."""
        return [member for member in (reference() for reference in self.members.values()) if member is not None]

    def inner_optimizers(self) -> list[Any]:
        """The live objects that did the work inside the members."""
        return [member for member in (reference() for reference in self.inner.values()) if member is not None]


class _Call:
    """One optimizer call in progress on a thread."""

    __slots__ = ("frame_id", "in_backward", "optimizer")

    def __init__(self, optimizer: Any, frame_id: int, in_backward: bool) -> None:
        self.optimizer = optimizer
        self.frame_id = frame_id
        self.in_backward = in_backward


class _Calls(_thread._local):
    """The calls in progress, outermost first, of each thread."""

    def __init__(self) -> None:
        self.stack: list[_Call] = []


class StepTracker:
    """Groups optimizer calls into steps and calls back once a step ended.

    Args:
        clock: seconds, monotonic.
        measure: bytes of parameters that a list of optimizer objects holds.
        on_step: called with the optimizer, the time its step ended, and whether its update was skipped
            (None: cannot be known without waiting for the device).
    """

    def __init__(
        self,
        clock: Callable[[], float],
        measure: Callable[[list[Any]], int],
        on_step: Callable[[TrackedOptimizer, float, bool | None], None],
    ) -> None:
        self._clock = clock
        self._measure = measure
        self._on_step = on_step
        self.forget()

    def forget(self) -> None:
        """Start afresh (in a forked child)."""
        self._lock = _thread.RLock()
        self._calls = _Calls()
        self._tracked_by_id: dict[int, tuple[Any, TrackedOptimizer]] = {}
        self._owner_by_parameter: dict[int, tuple[Any, TrackedOptimizer]] = {}
        self._group_members: set[int] = set()
        self._group_keys: set[str] = set()
        self._backward_depth = 0
        self._stepped_in_backward: bool = False
        self._skipped_in_backward: bool | None = False
        self.tracked: list[TrackedOptimizer] = []
        self.dominant: TrackedOptimizer | None = None
        self.ended_calls = 0
        """Of any optimizer, nested ones too: tells whether a gradient scaler let a call through."""

    # Calls into optimizers

    def step_begins(self, optimizer: Any, frame: Any) -> bool:
        """An optimizer is about to step; `frame` is its caller's. True for an outermost call."""
        stack = self._calls.stack
        if stack:
            self._drop_abandoned(stack, frame)
        stack.append(_Call(weakref.ref(optimizer), id(frame), self._backward_depth > 0))
        return len(stack) == 1

    def step_ends(self, optimizer: Any, skipped: bool | None = False) -> None:
        """An optimizer stepped without an error."""
        now_s = self._clock()
        self.ended_calls += 1
        stack = self._calls.stack
        call = None
        while stack and (call is None or call.optimizer() is not optimizer):
            call = stack.pop()
        if stack:
            self._remember_inner(stack[0], optimizer)
        else:
            in_backward = call is not None and call.in_backward
            self._outermost_ended(optimizer, now_s, skipped=skipped, in_backward=in_backward)

    def step_skipped(self, optimizer: Any) -> None:
        """A gradient scaler withheld the call of an optimizer: the iteration still is a step."""
        self._outermost_ended(optimizer, self._clock(), skipped=True, in_backward=self._backward_depth > 0)

    # Backward passes

    def backward_begins(self) -> None:
        """A backward pass starts (they nest: reentrant checkpointing)."""
        with self._lock:
            self._backward_depth += 1
            if self._backward_depth == 1 and not self._inside_step():
                self._close_group()

    def backward_ends(self) -> None:
        """A backward pass ended, with or without an error."""
        now_s = self._clock()
        with self._lock:
            self._backward_depth -= 1
            if self._backward_depth or not self._stepped_in_backward:
                return
            skipped, self._skipped_in_backward = self._skipped_in_backward, False
            self._stepped_in_backward = False
            tracked = next(one for one in self.tracked if one.key == IN_BACKWARD)
            self._update_measure(tracked)
            self._count(tracked, id(tracked), now_s, skipped)

    # Inside

    def _inside_step(self) -> bool:
        stack = self._calls.stack
        if stack:
            self._drop_abandoned(stack, sys._getframe(1))
        return bool(stack)

    @staticmethod
    def _drop_abandoned(stack: list[_Call], frame: Any) -> None:
        """Forget calls that ended in an error: no hook runs then, but their frame is gone from the call stack."""
        running = set()
        while frame is not None:
            running.add(id(frame))
            frame = frame.f_back
        while stack and stack[-1].frame_id not in running:
            stack.pop()

    def _remember_inner(self, outer_call: _Call, inner: Any) -> None:
        outer = outer_call.optimizer()
        if outer is None or inner is outer:
            return
        with self._lock:
            tracked = self._find(outer, outer_call.in_backward)
            if id(inner) not in tracked.inner:
                tracked.inner[id(inner)] = weakref.ref(inner)

    def _outermost_ended(self, optimizer: Any, now_s: float, *, skipped: bool | None, in_backward: bool) -> None:
        with self._lock:
            tracked = self._find(optimizer, in_backward)
            if tracked.key == IN_BACKWARD and self._backward_depth:
                self._stepped_in_backward = True
                self._skipped_in_backward = skipped
                return
            self._count(tracked, id(optimizer), now_s, skipped)

    def _count(self, tracked: TrackedOptimizer, member: int, now_s: float, skipped: bool | None) -> None:
        if member in self._group_members:
            self._close_group()
        self._group_members.add(member)
        if tracked.key in self._group_keys:
            return
        self._group_keys.add(tracked.key)
        tracked.steps += 1
        if skipped is not True:
            tracked.updates += 1
        if tracked is self.dominant or len(self._group_keys) <= _REPORTED_IN_A_GROUP:
            self._on_step(tracked, now_s, skipped)

    def _close_group(self) -> None:
        self._group_members.clear()
        self._group_keys.clear()

    def _find(self, optimizer: Any, in_backward: bool) -> TrackedOptimizer:
        known = self._tracked_by_id.get(id(optimizer))
        if known is not None and known[0]() is optimizer:
            return known[1]
        tracked = self._new_or_same(optimizer, in_backward)
        number = id(optimizer)
        self._tracked_by_id[number] = (weakref.ref(optimizer), tracked)
        tracked.members[number] = weakref.ref(optimizer, lambda _gone: tracked.members.pop(number, None))
        for parameter in _parameters(optimizer):
            self._owner_by_parameter[id(parameter)] = (weakref.ref(parameter), tracked)
        if tracked.key != IN_BACKWARD:
            self._update_measure(tracked)
        return tracked

    def _new_or_same(self, optimizer: Any, in_backward: bool) -> TrackedOptimizer:
        if in_backward:
            key = IN_BACKWARD
            same = next((one for one in self.tracked if one.key == IN_BACKWARD), None)
        else:
            key = "optimizer%d" % (len(self.tracked) + 1)
            same = self._owner(optimizer)
        if same is not None:
            return same
        tracked = TrackedOptimizer(key)
        self.tracked.append(tracked)
        return tracked

    def _owner(self, optimizer: Any) -> TrackedOptimizer | None:
        for parameter in _parameters(optimizer):
            owner = self._owner_by_parameter.get(id(parameter))
            if owner is not None and owner[0]() is parameter:
                return owner[1]
        return None

    def _update_measure(self, tracked: TrackedOptimizer) -> None:
        tracked.parameter_bytes = max(tracked.parameter_bytes, self._measure(tracked.optimizers()))
        if self.dominant is None or tracked.parameter_bytes > self.dominant.parameter_bytes:
            self.dominant = tracked


def _parameters(optimizer: Any) -> list[Any]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
