"""Services among jobs, and machines at hand that will do."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.mix.advising import recommend_mix
from gpuscope.advisor.mix.jobs import AskedJob
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.mix import MixOption, MixRecommendation
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import TODAY, cpu_footprint, gpu_footprint, ops, shipped

SERVICE = estimate(7_000_000_000, "fp16", "inference")
TRAINING = gpu_footprint(step_s=0.1, ops=ops())
TARGET = ServingTarget(prompt_tokens=500.0, output_tokens=200.0, requests_per_second=1.0)
GPUS = ("l4", "rtx-4090")
KNOWN = (*GPUS, "rtx-3090")
HOUR = 3600.0


@cache
def catalogue() -> Catalogue:
    """A few GPUs of the shipped catalogue, with their offers."""
    known = shipped()
    gpus = tuple(gpu for gpu in known.gpus if gpu.id in KNOWN)
    offers = tuple(offer for offer in known.offers if offer.gpu_id in KNOWN)
    return Catalogue(gpus, known.cpus, offers)


def mix(*jobs: tuple[Footprint, float], growth: float = 0.0, **limits: Any) -> MixRecommendation:
    asked = [AskedJob(f"job{index}", footprint, runs) for index, (footprint, runs) in enumerate(jobs)]
    advisors = [Advisor(job.footprint, catalogue(), today=TODAY) for job in asked]
    return recommend_mix(asked, advisors, Constraints(**limits), growth)


def served(*jobs: tuple[Footprint, float], growth: float = 0.0, **limits: Any) -> MixRecommendation:
    return mix(*jobs, growth=growth, **{"gpus": GPUS, "counts": (1,), "serving": TARGET, "total_steps": 1e6, **limits})


def chosen(found: MixRecommendation) -> MixOption:
    assert found.recommended is not None, found.sentence
    return found.options[found.recommended]


def shared(found: MixRecommendation) -> MixOption:
    return next(option for option in found.options if option.kind == "shared")


# Services


def test_a_service_is_counted_in_hours_of_load() -> None:
    found = served((SERVICE, 200.0), acquisition="rent")
    machine = chosen(found).machines[0]
    (job,) = machine.jobs
    assert found.jobs[0].work == "an hour of load"
    assert job.hours_per_month is not None
    assert job.hours_per_month.mid == 200
    assert job.usd_per_run is not None
    year = chosen(found).costs[0].usd
    assert year is not None
    assert year.mid == pytest.approx(job.usd_per_run.mid * 200 * 12)


def test_twice_the_hours_of_load_cost_twice_the_rent() -> None:
    once, twice = (chosen(served((SERVICE, hours), acquisition="rent")).costs[0].usd for hours in (100.0, 200.0))
    assert once is not None
    assert twice is not None
    assert twice.mid == pytest.approx(2 * once.mid)


def test_a_service_and_a_job_share_machines() -> None:
    (machine,) = shared(served((SERVICE, 400.0), (TRAINING, 2.0), acquisition="buy")).machines
    assert [each.job for each in machine.jobs] == [0, 1]
    assert machine.machines == 1
    assert machine.utilization is not None
    hours = sum(each.hours_per_month.mid for each in machine.jobs if each.hours_per_month is not None)
    assert machine.utilization == pytest.approx(hours / 730, rel=1e-3)


def test_a_service_of_all_hours_fills_one_machine_and_no_more() -> None:
    machine = chosen(served((SERVICE, 730.0), acquisition="buy")).machines[0]
    assert machine.machines == 1
    assert machine.utilization == pytest.approx(1.0, rel=1e-3)


def test_two_services_may_be_under_load_at_once() -> None:
    (machine,) = shared(served((SERVICE, 100.0), (SERVICE, 100.0), acquisition="buy")).machines
    assert machine.machines == 2


def test_the_hours_of_a_service_do_not_grow() -> None:
    machine = chosen(served((SERVICE, 700.0), growth=0.5, acquisition="buy")).machines[0]
    assert machine.machines == 1
    assert machine.utilization_last_year == machine.utilization


def test_what_is_asked_of_the_service_does_not_make_a_service_of_the_training() -> None:
    found = served((SERVICE, 100.0), (TRAINING, 1.0), deadline_s=1000 * HOUR)
    assert [job.work for job in found.jobs] == ["an hour of load", "as much work as was asked for"]


def test_more_hours_than_a_month_has_are_refused() -> None:
    with pytest.raises(UsageError, match="job0 is a service, counted in hours of load: a month has 730"):
        served((SERVICE, 731.0))


@settings(deadline=None, max_examples=10)
@given(hours=st.floats(1.0, 700.0), more=st.floats(1.0, 30.0))
def test_more_load_never_costs_less(hours: float, more: float) -> None:
    less, greater = (chosen(served((SERVICE, each))).costs[-1].usd for each in (hours, hours + more))
    assert less is not None
    assert greater is not None
    assert greater.mid >= less.mid * 0.999


# Machines at hand


def test_what_is_at_hand_is_kept_where_it_meets_the_deadline_of_each_job() -> None:
    found = mix((TRAINING, 10.0), (TRAINING, 5.0), total_steps=1e5, deadline_s=4 * HOUR)
    best = chosen(found)
    assert best.kind == "kept"
    (machine,) = best.machines
    assert machine.acquisition == "keep"
    assert machine.utilization == pytest.approx(15 * 1e4 / 3600 / 730, rel=1e-3)
    assert found.sentence.startswith("Keep 1× ")
    assert "costs nothing more" in found.sentence
    assert {"rented"} <= {found.options[index].kind for index in found.alternates}


def test_jobs_without_room_on_the_machine_at_hand_go_elsewhere() -> None:
    found = mix((TRAINING, 10.0), (TRAINING, 220.0), total_steps=1e5, deadline_s=4 * HOUR)
    best = chosen(found)
    assert best.kind == "mixed"
    assert best.machines[0].acquisition == "keep"
    assert sorted(job.job for machine in best.machines for job in machine.jobs) == [0, 1]


def test_growth_fills_the_machine_at_hand() -> None:
    jobs = ((TRAINING, 150.0),)
    assert chosen(mix(*jobs, total_steps=1e5, deadline_s=4 * HOUR)).kind == "kept"
    assert chosen(mix(*jobs, growth=0.5, total_steps=1e5, deadline_s=4 * HOUR)).kind != "kept"


def test_machines_at_hand_are_told_apart() -> None:
    device = msgspec.structs.replace(TRAINING.devices[0], uuid="GPU-other")
    elsewhere = msgspec.structs.replace(TRAINING, devices=(device,))
    found = mix((TRAINING, 150.0), (elsewhere, 150.0), total_steps=1e5, deadline_s=4 * HOUR)
    assert chosen(found).kind == "kept"
    assert len(chosen(found).machines) == 2


def test_a_machine_that_is_too_slow_for_a_deadline_is_not_kept() -> None:
    found = mix((cpu_footprint(step_s=2.0), 10.0), total_steps=1e6, deadline_s=100 * HOUR)
    assert all(machine.acquisition != "keep" for option in found.options for machine in option.machines)


def test_what_was_asked_to_be_rented_is_not_kept() -> None:
    found = mix((TRAINING, 10.0), total_steps=1e5, deadline_s=4 * HOUR, acquisition="rent")
    assert all(option.kind == "rented" for option in found.options)
