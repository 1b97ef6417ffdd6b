"""Jobs that wait for data: judged with that wait taken away, beside what they are today."""

from __future__ import annotations

import pytest

from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Verdict
from tests.unit.advisor.advisor_jobs import advise, best, cpu_footprint, gpu_footprint, ops, with_data_wait

HOUR = 3600.0
STEPS = 1e6


def waiting() -> Footprint:
    """0.1 s of work and 0.4 s of waiting in each step."""
    return with_data_wait(gpu_footprint(step_s=0.5, ops=ops()), 0.4)


def test_candidates_are_those_of_the_job_without_its_wait() -> None:
    found = advise(waiting(), total_steps=STEPS)
    without = advise(with_data_wait(gpu_footprint(step_s=0.1, ops=ops()), 0.0), total_steps=STEPS)
    assert found.verdict is Verdict.FIX_FIRST
    names = [(each.gpu, each.count, each.acquisition) for each in found.candidates]
    assert names == [(each.gpu, each.count, each.acquisition) for each in without.candidates]
    for ours, theirs in zip(found.candidates, without.candidates, strict=True):
        if ours.step_time_s is not None and theirs.step_time_s is not None:
            assert ours.step_time_s.mid == pytest.approx(theirs.step_time_s.mid, rel=1e-6)


def test_what_the_choice_is_today_stands_beside_it() -> None:
    found = advise(waiting(), total_steps=STEPS)
    today, after = found.before_mending, best(found)
    assert today is not None
    assert (today.gpu, today.count, today.acquisition) == (after.gpu, after.count, after.acquisition)
    assert today.time_to_finish_s is not None
    assert after.time_to_finish_s is not None
    assert today.time_to_finish_s.mid - after.time_to_finish_s.mid == pytest.approx(0.4 * STEPS / after.count, rel=0.01)
    assert "With the wait as it is" in found.sentence
    assert any("taken away" in note for note in found.assumptions)
    assert any("mending" in each.sentence or "Mend" in each.sentence for each in found.would_be_surer)


def test_a_deadline_that_only_the_mended_job_meets_is_not_impossible() -> None:
    limits = {"total_steps": STEPS, "deadline_s": 35 * HOUR, "counts": (1,), "acquisition": "rent"}
    found = advise(waiting(), **limits)
    assert found.verdict is Verdict.FIX_FIRST
    assert best(found).time_to_finish_s.mid <= 35 * HOUR  # type: ignore[union-attr]  # known: it meets a deadline


def test_the_machine_at_hand_may_do_once_it_no_longer_waits() -> None:
    found = advise(waiting(), total_steps=STEPS, deadline_s=40 * HOUR)
    assert found.verdict is Verdict.FIX_FIRST
    assert best(found).acquisition == "keep"
    assert best(found).confidence != "measured", "nobody has measured it without the wait"
    assert "Keep the GPU that it ran on" in found.sentence


def test_a_deadline_that_is_met_as_it_is_needs_no_mending() -> None:
    assert advise(waiting(), total_steps=STEPS, deadline_s=200 * HOUR).verdict is Verdict.KEEP


def test_a_deadline_that_nothing_meets_stays_impossible() -> None:
    found = advise(waiting(), total_steps=STEPS, deadline_s=1.0)
    assert found.verdict is Verdict.IMPOSSIBLE
    assert found.before_mending is None


def test_a_job_that_is_nothing_but_waiting_has_no_time_below_a_kernel() -> None:
    found = advise(with_data_wait(cpu_footprint(step_s=0.2), 0.2))
    assert found.verdict is Verdict.FIX_FIRST
    step = best(found).step_time_s
    assert step is not None
    assert step.low > 0


def test_little_waiting_is_left_as_it_is() -> None:
    found = advise(with_data_wait(gpu_footprint(step_s=0.5, ops=ops()), 0.01), total_steps=STEPS)
    assert found.verdict is not Verdict.FIX_FIRST
    assert found.before_mending is None
