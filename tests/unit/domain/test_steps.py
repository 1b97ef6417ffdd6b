"""Counting a job's steps from the events of all its optimizers."""

from __future__ import annotations

from typing import Any

from gpuscope.domain.events import Event
from gpuscope.domain.steps import steps_of


def _event(kind: str, t: float, **data: Any) -> Event:
    return Event(t=t, source="probe:1", kind=kind, data=data)


def _step(key: str, t: float, **data: Any) -> Event:
    return _event("step", t, optimizer=key, n=1, duration_s=1.0, skipped=False, profiled=False, **data)


def _size(key: str, size: int) -> Event:
    return _event("optimizer", 0.0, key=key, parameter_bytes=size)


def test_no_events() -> None:
    assert steps_of([]) == []


def test_smaller_optimizer_that_came_first_is_not_counted() -> None:
    events = [_size("d", 10), _step("d", 1.0), _size("g", 90)]
    for i in range(5):
        events += [_step("g", 2.0 + i), _step("d", 2.5 + i)]
    assert [step.t for step in steps_of(events)] == [2.0, 3.0, 4.0, 5.0, 6.0]


def test_folds_one_after_another_all_count() -> None:
    events = [_size("a", 10), _size("b", 10), _size("c", 5)]
    events += [_step(key, 10.0 * fold + i) for fold, key in enumerate("abc") for i in range(4)]
    assert len(steps_of(events)) == 12


def test_a_lone_step_before_the_others_is_no_phase() -> None:
    events = [_size("d", 10), _size("g", 20), _step("d", 1.0), _step("g", 2.0)]
    assert len(steps_of(events)) == 1


def test_event_that_covers_several_short_steps() -> None:
    events = [
        _event("step", 10.0, optimizer="a", n=4, steps=4, duration_s=0.5, skipped=False, profiled=False, probe_s=0.04)
    ]
    steps = steps_of(events)
    assert [step.t for step in steps] == [8.5, 9.0, 9.5, 10.0]
    assert {step.duration_s for step in steps} == {0.5}
    assert {step.probe_s for step in steps} == {0.01}


def test_first_step_has_no_duration_and_unknown_skips_stay_unknown() -> None:
    event = _event("step", 3.0, optimizer="a", n=1, duration_s=None, skipped=None, profiled=True)
    (step,) = steps_of([event])
    assert (step.duration_s, step.skipped, step.profiled) == (None, None, True)
