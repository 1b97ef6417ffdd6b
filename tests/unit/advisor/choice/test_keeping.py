"""Keeping what there is: alone within the limits, and what would make that surer."""

from __future__ import annotations

import msgspec

from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Verdict
from tests.unit.advisor.advisor_jobs import advise, best, cpu_footprint, gpu_footprint, ops

HOUR = 3600.0


def _with_steady(footprint: Footprint, count: int) -> Footprint:
    return msgspec.structs.replace(footprint, steps=msgspec.structs.replace(footprint.steps, steady_count=count))


def test_what_alone_meets_the_limits_is_kept_and_what_another_would_need_is_said() -> None:
    found = advise(gpu_footprint(step_s=0.1, ops=ops()), total_steps=1e7, budget_usd=1)
    assert found.verdict is Verdict.KEEP
    assert best(found).acquisition == "keep"
    assert "nothing in the catalogue meets every constraint; it finishes in" in found.sentence
    assert "For another machine, allow a budget of $" in found.sentence
    assert found.would_be_surer


def test_a_cpu_that_alone_meets_the_limits_is_kept_but_not_called_enough() -> None:
    found = advise(cpu_footprint(), total_steps=1e8, budget_usd=1)
    assert found.verdict is Verdict.KEEP
    assert found.sentence.startswith("Keep the CPU that it ran on: nothing in the catalogue")
    assert best(found).count == 0


def test_where_other_hardware_was_asked_for_nothing_at_hand_is_kept() -> None:
    found = advise(gpu_footprint(step_s=0.1), total_steps=1e7, budget_usd=1, acquisition="rent")
    assert found.verdict is Verdict.IMPOSSIBLE


def test_a_machine_at_hand_that_breaks_a_limit_itself_is_not_kept() -> None:
    found = advise(gpu_footprint(step_s=0.1), total_steps=1e7, budget_usd=1, deadline_s=HOUR)
    assert found.verdict is Verdict.IMPOSSIBLE


def test_one_that_may_miss_the_deadline_says_so() -> None:
    found = advise(gpu_footprint(step_s=0.1), total_steps=1e5, budget_usd=0.01, deadline_s=1e4 * 1.01)
    assert found.verdict is Verdict.KEEP
    assert "but it may miss the deadline" in found.sentence


def test_a_geforce_card_at_hand_may_not_stand_in_a_data_centre() -> None:
    found = advise(gpu_footprint(step_s=0.1), total_steps=1e7, budget_usd=1, datacenter_licence=True)
    assert found.verdict is Verdict.IMPOSSIBLE


def test_the_choice_moves_when_something_else_meets_the_limits() -> None:
    found = advise(gpu_footprint(step_s=0.1, ops=ops()), total_steps=1e7, budget_usd=1)
    work = next(each.sentence for each in found.sensitivity if "amount of work may fall" in each.sentence)
    assert "better choice" in work or "and the choice stays" in work


def test_keeping_is_as_sure_as_what_is_known_of_the_best_rival() -> None:
    kept = advise(gpu_footprint(step_s=0.1, ops=ops()), total_steps=1e5, deadline_s=4 * HOUR)
    assert kept.verdict is Verdict.KEEP
    assert any("range of the time on 1× " in each.sentence for each in kept.would_be_surer)
    workload = msgspec.structs.replace(cpu_footprint().workload, trainable_parameters=10_000)
    found = advise(cpu_footprint(step_s=1e-3, ops=ops(1e-6), workload=workload))
    assert found.verdict is Verdict.CPU_IS_ENOUGH
    assert any(each.sentence.startswith("Say how much work there is in all") for each in found.would_be_surer)


def test_few_recorded_steps_are_not_enough() -> None:
    job = gpu_footprint(step_s=0.1)
    few = advise(_with_steady(job, 5), total_steps=100)
    many = advise(_with_steady(job, 500), total_steps=100)
    assert any("only 5 steady ones" in each.sentence for each in few.would_be_surer)
    assert not any("steady ones" in each.sentence for each in many.would_be_surer)
