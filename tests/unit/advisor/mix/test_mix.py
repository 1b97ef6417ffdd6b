"""Several jobs together: sharing pays, renting pays for little use, growth and frequencies move the choice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.mix.advising import recommend_mix
from gpuscope.advisor.mix.jobs import AskedJob
from gpuscope.domain.base import from_json, to_json
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.mix import MixOption, MixRecommendation
from gpuscope.domain.recommendation import Constraints
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import TODAY, cpu_footprint, gpu, offer, shipped


def catalogue() -> Catalogue:
    """Two GPUs for rent and for sale, the second twice as fast and three times as dear."""
    slow = gpu("slow", launch_price_usd=1000.0)
    fast = gpu("fast", fp32_tflops=60, tf32_tensor_tflops=120, memory_bandwidth_gbs=1200, launch_price_usd=3000.0)
    return Catalogue((slow, fast), shipped().cpus, (offer("slow", price=0.5), offer("fast", price=1.5)))


def mix(
    runs: tuple[float, ...], growth: float = 0.0, footprints: tuple[Footprint, ...] = (), **limits: Any
) -> MixRecommendation:
    known = catalogue()
    jobs = [
        AskedJob(f"job{index}", footprints[index] if footprints else cpu_footprint(), each)
        for index, each in enumerate(runs)
    ]
    advisors = [Advisor(job.footprint, known, today=TODAY) for job in jobs]
    return recommend_mix(jobs, advisors, Constraints(**{"total_steps": 1e5, **limits}), growth)


def chosen(found: MixRecommendation) -> MixOption:
    assert found.recommended is not None
    return found.options[found.recommended]


def test_rare_jobs_are_rented() -> None:
    found = mix((1, 1))
    assert chosen(found).kind == "rented"
    assert all(machine.acquisition == "rent" for machine in chosen(found).machines)
    assert found.sentence.startswith("Rent ")


def test_frequent_jobs_share_what_is_bought() -> None:
    found = mix((300, 300))
    best = chosen(found)
    assert best.kind in {"shared", "mixed"}
    bought = next(machine for machine in best.machines if machine.acquisition == "buy")
    assert len(bought.jobs) == 2
    assert bought.machines is not None
    assert bought.utilization is not None
    assert 0 < bought.utilization <= 0.85
    assert "busy in the first year" in found.sentence


def test_utilisation_is_hours_over_hours() -> None:
    bought = next(machine for machine in chosen(mix((300, 300))).machines if machine.acquisition == "buy")
    hours = sum(job.hours_per_month.mid for job in bought.jobs if job.hours_per_month is not None)
    assert bought.machines is not None
    assert bought.utilization == pytest.approx(hours / (730 * bought.machines))


def test_growth_needs_more_machines_and_more_money() -> None:
    still, growing = (
        next(each for each in mix((500, 500), growth, acquisition="buy").options if each.kind == "shared")
        for growth in (0.0, 0.5)
    )
    assert still.machines[0].machines is not None
    assert growing.machines[0].machines is not None
    assert growing.machines[0].machines > still.machines[0].machines


def test_rent_of_a_mix_is_the_sum_of_its_runs() -> None:
    rented = next(each for each in mix((10, 20), acquisition="rent").options if each.kind == "rented")
    each_usd = [machine.jobs[0].usd_per_run for machine in rented.machines]
    total = sum(usd.mid * runs for usd, runs in zip(each_usd, (10, 20), strict=True) if usd is not None)
    one_year = rented.costs[0].usd
    assert one_year is not None
    assert one_year.mid == pytest.approx(total * 12)


def test_alternates_rent_or_buy_other_hardware() -> None:
    found = mix((300, 300))
    assert found.recommended not in found.alternates
    kinds = {found.options[index].kind for index in found.alternates}
    assert "rented" in kinds
    assert len(found.alternates) == len(set(found.alternates))


def test_number_of_runs_at_which_the_choice_changes_is_where_it_does() -> None:
    found = mix((20, 20))
    sentence = next(each.sentence for each in found.sensitivity if "runs may rise" in each.sentence)
    factor = float(sentence.split(" to ")[1].split(" times")[0])
    kind = chosen(found).kind
    assert chosen(mix((20 * factor * 0.98, 20 * factor * 0.98))).kind == kind
    assert chosen(mix((20 * factor * 1.03, 20 * factor * 1.03))).kind != kind


def test_without_a_total_a_run_is_what_was_recorded() -> None:
    found = mix((5,), total_steps=None)
    assert found.jobs[0].work == "100 steps, as recorded"


@pytest.mark.parametrize(
    ("runs", "growth", "limits", "words"),
    [
        ((), 0.0, {}, "at least one job"),
        ((0.0,), 0.0, {}, "above zero"),
        ((1.0,), -1.0, {}, "growth"),
        ((1.0,), 0.0, {"budget_usd": -1}, "budget"),
    ],
)
def test_nonsense_is_refused(runs: tuple[float, ...], growth: float, limits: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        mix(runs, growth, **limits)


def test_work_that_nobody_knows_is_asked_for() -> None:
    footprint = cpu_footprint()
    unknown = msgspec.structs.replace(footprint, steps=msgspec.structs.replace(footprint.steps, count=None))
    with pytest.raises(UsageError, match="job0"):
        mix((1,), footprints=(unknown,), total_steps=None)


def test_a_job_that_fits_nowhere_is_named() -> None:
    found = mix((1, 1), gpus=("slow",), minimum_memory_bytes=10**12)
    assert found.recommended is None
    assert "job0" in found.sentence


def test_document_survives_json_and_is_the_same_each_time() -> None:
    first, second = (to_json(mix((300, 20), 0.2)) for _ in range(2))
    assert first == second
    assert to_json(from_json(first, MixRecommendation)) == first


@settings(deadline=None, max_examples=15)
@given(runs=st.floats(1, 2000), more=st.floats(1.0, 4.0))
def test_more_runs_never_cost_less(runs: float, more: float) -> None:
    less, greater = chosen(mix((runs,))).costs[-1].usd, chosen(mix((runs * more,))).costs[-1].usd
    assert less is not None
    assert greater is not None
    assert greater.mid >= less.mid * 0.999
