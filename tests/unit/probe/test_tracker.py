"""Which optimizer calls make a step: the grouping rules, without any framework."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from gpuscope.probe.recorder.steps import IN_BACKWARD, StepTracker, TrackedOptimizer


class Parameter:
    def __init__(self, size: int = 4) -> None:
        self.size = size


class Optimizer:
    def __init__(self, *parameters: Parameter) -> None:
        self.param_groups = [{"params": list(parameters)}]


class Job:
    """A training loop of fake calls, and the steps that were counted."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, bool | None]] = []
        self.now_s = 0.0
        self.tracker = StepTracker(self._clock, self._measure, self._on_step)

    def _clock(self) -> float:
        self.now_s += 1.0
        return self.now_s

    @staticmethod
    def _measure(optimizers: list[Any]) -> int:
        return sum(p.size for optimizer in optimizers for group in optimizer.param_groups for p in group["params"])

    def _on_step(self, tracked: TrackedOptimizer, _end_s: float, skipped: bool | None) -> None:
        self.seen.append((tracked.key, tracked.steps, skipped))

    def backward(self, *inside: Optimizer) -> None:
        self.tracker.backward_begins()
        for optimizer in inside:
            self.step(optimizer)
        self.tracker.backward_ends()

    def step(self, *nested: Optimizer) -> None:
        """The first is the outermost call."""
        self.tracker.step_begins(nested[0], sys._getframe())
        if nested[1:]:
            self.step(*nested[1:])
        self.tracker.step_ends(nested[0])

    def counts(self) -> dict[str, int]:
        return {tracked.key: tracked.steps for tracked in self.tracker.tracked}


@pytest.fixture
def job() -> Job:
    return Job()


def test_two_optimizers_after_one_backward(job: Job) -> None:
    small, big = Optimizer(Parameter(1)), Optimizer(Parameter(9))
    for _ in range(3):
        job.backward()
        job.step(small)
        job.step(big)
    assert job.counts() == {"optimizer1": 3, "optimizer2": 3}
    assert job.tracker.dominant is not None
    assert job.tracker.dominant.key == "optimizer2"


def test_without_backward_an_optimizer_that_steps_again_starts_a_step(job: Job) -> None:
    optimizer = Optimizer(Parameter())
    for _ in range(4):
        job.step(optimizer)
    assert job.counts() == {"optimizer1": 4}


def test_nested_calls_count_once_and_inner_objects_are_known(job: Job) -> None:
    parameter = Parameter()
    outer, middle, inner = Optimizer(parameter), Optimizer(parameter), Optimizer(parameter)
    for _ in range(2):
        job.backward()
        job.step(outer, middle, inner)
    assert job.counts() == {"optimizer1": 2}
    (tracked,) = job.tracker.tracked
    assert tracked.optimizers() == [outer]
    assert tracked.inner_optimizers() == [inner, middle]


def test_closure_inside_a_step_opens_no_group(job: Job) -> None:
    optimizer = Optimizer(Parameter())
    other = Optimizer(Parameter())
    job.backward()
    job.step(other)
    job.tracker.step_begins(optimizer, sys._getframe())
    for _ in range(5):
        job.backward()
    job.tracker.step_ends(optimizer)
    assert job.counts() == {"optimizer1": 1, "optimizer2": 1}


def test_optimizer_made_anew_over_the_same_parameters_is_the_same(job: Job) -> None:
    parameters = [Parameter(), Parameter()]
    for size in (1, 2, 2):
        job.backward()
        job.step(Optimizer(*parameters[:size]))
    assert job.counts() == {"optimizer1": 3}


def test_overlapping_optimizers_after_one_backward_are_one_step(job: Job) -> None:
    shared = Parameter()
    first, second = Optimizer(shared, Parameter()), Optimizer(shared, Parameter())
    for _ in range(3):
        job.backward()
        job.step(first)
        job.step(second)
    assert job.counts() == {"optimizer1": 3}


def test_hundreds_of_optimizers_inside_backward(job: Job) -> None:
    optimizers = [Optimizer(Parameter()) for _ in range(300)]
    for _ in range(4):
        job.backward(*optimizers)
    assert job.seen == [(IN_BACKWARD, n, False) for n in (1, 2, 3, 4)]
    assert job.tracker.dominant is not None
    assert job.tracker.dominant.parameter_bytes == 300 * 4


def test_nested_backward_passes_are_one(job: Job) -> None:
    optimizer = Optimizer(Parameter())
    job.tracker.backward_begins()
    job.backward(optimizer)
    job.step(optimizer)
    assert job.seen == []
    job.tracker.backward_ends()
    assert job.counts() == {IN_BACKWARD: 1}


def test_step_that_failed_does_not_swallow_later_ones(job: Job) -> None:
    optimizer = Optimizer(Parameter())

    def fails() -> None:
        job.tracker.step_begins(optimizer, sys._getframe())  # and no end: it raised

    fails()
    job.backward()
    job.step(optimizer)
    job.backward()
    job.step(optimizer)
    assert job.counts() == {"optimizer1": 2}


def test_layerwise_optimizers_in_a_loop_report_few_steps_but_the_dominant(job: Job) -> None:
    optimizers = [Optimizer(Parameter(1)) for _ in range(40)] + [Optimizer(Parameter(50))]
    for _ in range(3):
        job.backward()
        for optimizer in optimizers:
            job.step(optimizer)
    assert job.tracker.dominant is not None
    assert job.tracker.dominant.key == "optimizer41"
    assert [n for key, n, _ in job.seen if key == "optimizer41"] == [1, 2, 3]
    assert len(job.seen) < 40


def test_skipped_step_counts_and_is_no_update(job: Job) -> None:
    optimizer = Optimizer(Parameter())
    job.backward()
    job.tracker.step_skipped(optimizer)
    job.backward()
    job.step(optimizer)
    assert job.seen == [("optimizer1", 1, True), ("optimizer1", 2, False)]
    assert job.tracker.tracked[0].updates == 1


def test_nothing_keeps_an_optimizer_alive(job: Job) -> None:
    import weakref

    optimizer = Optimizer(Parameter())
    job.step(optimizer)
    gone = weakref.ref(optimizer)
    del optimizer
    assert gone() is None
    assert job.tracker.tracked[0].members == {}
