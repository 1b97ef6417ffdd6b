"""The choice itself: what has to give, alternates, the Pareto front, what would be surer, speed of asking again."""

from __future__ import annotations

import time
from typing import Any

import pytest

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.base import to_json
from gpuscope.domain.recommendation import Candidate, Constraints, Recommendation, Verdict
from gpuscope.domain.units import parse_duration
from tests.unit.advisor.advisor_jobs import (
    TODAY,
    advise,
    best,
    cpu_footprint,
    gpu,
    gpu_footprint,
    offer,
    ops,
    shipped,
)

B = 10**9
HOUR = 3600.0


def picked(found: Recommendation) -> list[Candidate]:
    return [best(found), *(found.candidates[index] for index in found.alternates)]


# What has to give


def test_deadline_and_budget_that_are_impossible_together_name_one_that_is_enough() -> None:
    limits: dict[str, Any] = {"total_steps": 1e8, "deadline_s": 48 * HOUR, "budget_usd": 200.0, "acquisition": "rent"}
    alone = [advise(cpu_footprint(), **{**limits, name: None}).verdict for name in ("deadline_s", "budget_usd")]
    found = advise(cpu_footprint(), **limits)
    assert found.verdict is Verdict.IMPOSSIBLE
    assert Verdict.RENT in alone
    words = found.sentence.split("Allow ")[1].split(" instead")[0]
    if words.startswith("a budget of $"):
        limits["budget_usd"] = float(words.removeprefix("a budget of $").replace(",", ""))
    else:
        limits["deadline_s"] = parse_duration(words.removeprefix("a deadline of "))
    assert advise(cpu_footprint(), **limits).verdict is Verdict.RENT


def test_memory_that_no_card_of_that_form_has() -> None:
    found = advise(cpu_footprint(), total_steps=1e6, minimum_memory_bytes=200 * B, form_factors=("PCIe",))
    assert found.verdict is Verdict.IMPOSSIBLE
    assert "of memory instead of 186 GiB" in found.sentence
    assert "form factor" in found.sentence


def test_region_without_offers_names_another() -> None:
    found = advise(cpu_footprint(), total_steps=1e6, acquisition="rent", regions=("India",), gpus=("l4",))
    assert found.verdict is Verdict.IMPOSSIBLE
    assert "Allow " in found.sentence
    assert "region" in found.sentence or "buying" in found.sentence or "GPU" in found.sentence


def test_count_that_does_not_fit_names_one_that_does() -> None:
    found = advise(estimate(175 * B, "fp16", "inference"), counts=(1,))
    assert found.verdict is Verdict.IMPOSSIBLE
    assert "GPUs" in found.sentence


def test_prices_that_are_missing_are_said() -> None:
    catalogue = Catalogue((gpu(),))
    found = advise(cpu_footprint(), catalogue, total_steps=1e6)
    assert found.verdict is Verdict.NEEDS_QUOTE
    assert "needs a quote" in found.sentence


# Alternates and the front


@pytest.mark.parametrize("steps", [1e4, 1e6, 1e8])
def test_alternates_are_other_hardware_and_none_is_odd(steps: float) -> None:
    found = advise(cpu_footprint(), total_steps=steps)
    hardware = [(each.gpu, each.count) for each in picked(found)]
    assert len(hardware) == len(set(hardware)) >= 3
    assert {"rent", "buy"} <= {each.acquisition for each in picked(found)}


def test_tiny_job_gets_no_large_machine() -> None:
    found = advise(gpu_footprint("t4", 0.05, ops=ops(0.01)), total_steps=1e6, acquisition="rent")
    assert all(each.count <= 2 for each in picked(found))


def test_front_holds_what_nothing_beats() -> None:
    found = advise(cpu_footprint(), total_steps=1e6, acquisition="rent")

    def figures(each: Candidate) -> tuple[float, float, float]:
        known = (each.time_to_finish_s, each.cost_usd, each.energy_kwh)
        time_s, cost, energy = (float("inf") if value is None else value.mid for value in known)
        return time_s, cost, energy

    points = [(each.pareto, figures(each)) for each in found.candidates]
    for pareto, point in points:
        beaten = any(
            all(a <= b + 1e-9 for a, b in zip(other, point, strict=True)) and other != point for _, other in points
        )
        if pareto:
            assert not any(all(a < b - 1e-9 for a, b in zip(other, point, strict=True)) for _, other in points)
        else:
            assert beaten


def test_reasons_are_sentences_and_not_repeated() -> None:
    found = advise(cpu_footprint(), total_steps=1e6, deadline_s=48 * HOUR)
    assert len(found.assumptions) == len(set(found.assumptions))
    assert all(entry.reason.endswith(".") for entry in found.rejected)


# What would be surer


def test_a_run_on_the_card_itself_is_the_surest() -> None:
    found = advise(cpu_footprint(), total_steps=1e6)
    first = found.would_be_surer[0]
    assert first.input == "time"
    assert first.width_now is not None
    assert first.width_then is not None
    assert first.width_then < first.width_now
    assert "itself" in first.action


def test_where_nothing_is_known_a_run_is_asked_for() -> None:
    found = advise(estimate(7 * B, "fp16", "training", "adamw"))
    assert any("Run 50 steps" in each.sentence for each in found.would_be_surer)


def test_old_prices_are_to_be_looked_up() -> None:
    assert any(each.input == "price" for each in advise(cpu_footprint(), total_steps=1e6).would_be_surer)


# Asking again


def test_an_advisor_says_the_same_as_asking_once() -> None:
    advisor = Advisor(cpu_footprint(), shipped(), today=TODAY)
    for limits in (Constraints(total_steps=1e6), Constraints(total_steps=1e6, budget_usd=50), Constraints()):
        once = Advisor(cpu_footprint(), shipped(), today=TODAY).recommend(limits)
        assert to_json(advisor.recommend(limits)) == to_json(once)


def test_asking_again_is_much_faster() -> None:
    advisor = Advisor(cpu_footprint(), shipped(), today=TODAY)
    started = time.process_time()
    advisor.recommend(Constraints(total_steps=1e6))
    first = time.process_time() - started
    again = []
    for budget in (1e3, 2e3, 3e3):
        started = time.process_time()
        advisor.recommend(Constraints(total_steps=1e6, budget_usd=budget))
        again.append(time.process_time() - started)
    assert min(again) < first / 2


def test_dominated_offer_of_the_same_card_never_shows() -> None:
    catalogue = Catalogue((gpu(),), offers=(offer(price=1.0), offer(price=2.0, provider="beta")))
    found = advise(cpu_footprint(), catalogue, total_steps=1e6, acquisition="rent")
    assert [each.offer.provider for each in found.candidates if each.offer] == ["alpha"]
