"""Runs on a GPU that is considered correct what is predicted for it."""

from __future__ import annotations

import pytest

from gpuscope.domain.recommendation import Candidate, Constraints
from gpuscope.engine.advise import Own, advise
from tests.unit.advisor.advisor_jobs import gpu_footprint

CONSTRAINTS = Constraints(gpus=("l4",), counts=(1,))


def candidate(own: Own) -> Candidate:
    return advise(gpu_footprint("t4", 1.0), CONSTRAINTS, own).candidates[0]


def test_a_handful_of_runs_moves_the_prediction_and_narrows_it() -> None:
    before = candidate(Own())
    assert before.step_time_s is not None
    slower = gpu_footprint("l4", before.step_time_s.mid * 1.3)
    after = candidate(Own(target_runs=(slower,) * 5))
    assert after.step_time_s is not None
    assert after.step_time_s.mid == pytest.approx(slower.steps.time_s.mid, rel=0.1)
    assert after.step_time_s.high / after.step_time_s.low < before.step_time_s.high / before.step_time_s.low


def test_runs_on_other_cards_say_nothing_about_this_one() -> None:
    assert candidate(Own(target_runs=(gpu_footprint("a10", 5.0),) * 5)) == candidate(Own())
