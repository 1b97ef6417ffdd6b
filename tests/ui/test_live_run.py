"""What is known of a run while it goes on: steps, speed, memory by part, state."""

from __future__ import annotations

import pytest

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.store.reader import SessionState
from gpuscope.ui.live_run import LiveRun, RunState
from tests.ui.run_samples import MIB, census, cuda_memory, event, frame, manifest, steps, update


def test_before_the_first_step_it_waits() -> None:
    run = LiveRun(manifest())
    run.take(update(frames=(frame(3),)))
    assert run.state() is RunState.WAITING
    assert run.median_step_s is None
    assert run.remaining_s is None
    assert run.samples_per_s is None


def test_steps_speed_and_time_to_go() -> None:
    run = LiveRun(manifest(total_steps=100))
    run.take(update(*steps(40)))
    assert run.steps == 40
    assert run.median_step_s == pytest.approx(0.2)
    assert run.remaining_s == pytest.approx(12.0)
    assert run.samples_per_s == pytest.approx(160.0)
    assert run.state() is RunState.STEADY


def test_without_a_total_there_is_no_time_to_go() -> None:
    run = LiveRun(manifest(total_steps=None))
    run.take(update(*steps(5)))
    assert run.remaining_s is None
    assert run.state() is RunState.RUNNING


def test_no_step_for_long_is_stalled_until_the_next() -> None:
    run = LiveRun(manifest())
    run.take(update(*steps(40), frames=(frame(60),)))
    assert run.state() is RunState.STALLED
    assert run.stalled_for_s() == pytest.approx(42.0)
    run.take(update(event(60.1, "step", n=41, optimizer="a", duration_s=42.1)))
    assert run.state() is not RunState.STALLED


def test_a_command_without_the_probe_does_not_wait_for_steps() -> None:
    assert LiveRun(manifest(probe=False)).state() is RunState.NO_PROBE
    run = LiveRun(manifest())
    run.take(update(event(1, "probe_off", reason="this Python is older than 3.9")))
    assert run.state() is RunState.NO_PROBE


def test_memory_on_a_gpu_adds_up_to_what_is_reserved_at_the_peak() -> None:
    run = LiveRun(manifest())
    run.take(update(*steps(3), *census(), cuda_memory()))
    memory = run.memory()
    assert memory.on_gpu
    assert {part.name: part.bytes // MIB for part in memory.parts} == {
        "parameters": 496, "gradients": 496, "optimizer_state": 992, "activations": 8200 - 1984, "unused": 800,
    }  # fmt: skip
    assert sum(part.bytes for part in memory.parts) == memory.peak_reserved_bytes


def test_memory_on_the_cpu_adds_up_to_the_processes_resident_memory() -> None:
    run = LiveRun(manifest())
    run.take(update(*steps(3), *census(), frames=(frame(11, 3000 * MIB),)))
    memory = run.memory()
    assert not memory.on_gpu
    assert sum(part.bytes for part in memory.parts) == 3000 * MIB
    assert memory.parts[-1].name == "other"


def test_memory_is_unknown_before_the_probe_says_anything() -> None:
    run = LiveRun(manifest())
    run.take(update(frames=(frame(1, 500 * MIB),)))
    assert run.memory().parts == ()


def test_the_process_with_the_most_steps_is_shown() -> None:
    run = LiveRun(manifest())
    helper = event(9, "optimizer", key="x", parameter_bytes=7).__class__(t=9, source="probe:5", kind="framework")
    run.take(update(helper, *steps(4)))
    assert run.steps == 4


@pytest.mark.parametrize(
    "kind", [kind for kind in OutcomeKind if kind not in {OutcomeKind.UNKNOWN, OutcomeKind.RECORDED}]
)
def test_every_outcome_is_a_state(kind: OutcomeKind) -> None:
    run = LiveRun(manifest())
    run.end(RunOutcome(kind=kind, sentence=""))
    assert run.state().value == kind.value


def test_an_end_that_nobody_saw_is_interrupted() -> None:
    run = LiveRun(manifest())
    run.take(update(state=SessionState.INTERRUPTED))
    run.end(None)
    assert run.state() is RunState.INTERRUPTED
