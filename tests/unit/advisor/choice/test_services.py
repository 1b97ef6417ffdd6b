"""Services: as many machines as the load needs, targets that are met or named, costs over years."""

from __future__ import annotations

from typing import Any

import pytest

from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.recommendation import Recommendation, Verdict
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import advise, best, gpu_footprint

B = 10**9
CHAT = ServingTarget(prompt_tokens=512, output_tokens=128, time_to_first_token_s=0.5, inter_token_latency_s=0.05)


def serve(target: ServingTarget = CHAT, parameters: float = 7 * B, **limits: Any) -> Recommendation:
    return advise(estimate(int(parameters), "fp16", "inference"), serving=target, **limits)


def loaded(requests: float) -> ServingTarget:
    return ServingTarget(
        prompt_tokens=512, output_tokens=128, time_to_first_token_s=0.5, inter_token_latency_s=0.05,
        requests_per_second=requests,
    )  # fmt: skip


def test_every_candidate_meets_the_targets() -> None:
    found = serve(loaded(5))
    assert found.candidates
    for each in found.candidates:
        assert each.serving is not None
        assert each.serving.time_to_first_token_s is not None
        assert each.serving.inter_token_latency_s is not None
        assert each.serving.time_to_first_token_s.mid <= 0.5
        assert each.serving.inter_token_latency_s.mid <= 0.05


def test_more_load_needs_more_machines_and_more_money() -> None:
    limits: dict[str, Any] = {"gpus": ("l40s",), "acquisition": "rent", "counts": (1,)}
    little, much = best(serve(loaded(2), **limits)), best(serve(loaded(60), **limits))
    assert much.count > little.count
    assert much.cost_usd_per_hour is not None
    assert little.cost_usd_per_hour is not None
    assert much.cost_usd_per_hour.mid > little.cost_usd_per_hour.mid
    assert much.serving is not None
    assert little.serving is not None
    assert much.serving.replicas > little.serving.replicas


def test_a_night_without_load_makes_rents_cheaper() -> None:
    day = ServingTarget(
        prompt_tokens=512, output_tokens=128, inter_token_latency_s=0.05, requests_per_second=60,
        hourly_load=(0.1,) * 12 + (1.0,) * 12,
    )  # fmt: skip
    found = serve(day, gpus=("l40s",), acquisition="rent", counts=(1,))
    assert best(found).serving is not None
    assert (best(found).serving.autoscaling_saving_share or 0) > 0.2  # type: ignore[union-attr]  # asserted above


def test_impossible_latency_says_what_would_be_possible() -> None:
    target = ServingTarget(prompt_tokens=512, output_tokens=128, inter_token_latency_s=1e-5)
    found = serve(target, 70 * B)
    assert found.verdict is Verdict.IMPOSSIBLE
    assert "a time between tokens of" in found.sentence


def test_cost_over_years_is_there_for_what_is_owned_and_rented() -> None:
    found = serve(loaded(5))
    bought = next(each for each in found.candidates if each.acquisition == "buy")
    assert bought.cost_over_years is not None
    assert [cost.years for cost in bought.cost_over_years.own] == [1, 3, 5]
    rents = {found.candidates[index].acquisition for index in found.alternates} | {best(found).acquisition}
    assert {"rent", "buy"} <= rents


def test_explanation_unfolds_the_service() -> None:
    tree = best(serve(loaded(5))).explanation
    assert tree is not None
    names = {part.name for part in tree.inputs}
    assert "Cost" in names
    assert "Memory of one GPU" in names
    assert any("erv" in name or "opies" in name for name in names)


def test_a_typed_in_model_is_served_without_targets() -> None:
    chosen = best(advise(estimate(7 * B, "fp16", "inference")))
    assert chosen.serving is not None


@pytest.mark.parametrize("load", [(1.0,) * 23, (-1.0,) * 24, (0.0,) * 24])
def test_load_that_is_no_day_is_refused(load: tuple[float, ...]) -> None:
    with pytest.raises(Exception, match="24 figures"):
        serve(ServingTarget(hourly_load=load))


def test_a_rented_slice_has_its_own_memory() -> None:
    slices = [
        each
        for each in serve(gpus=("rtx-pro-6000-server",), acquisition="rent").candidates
        if each.serving is not None and each.offer is not None and each.offer.instance_type == "g4-standard-12"
    ]
    assert slices  # a quarter of a card of 96 GB
    assert slices[0].memory.available_bytes == pytest.approx(24e9, rel=0.01)


def test_a_load_beyond_all_cpu_machines_is_not_served_by_some_of_them() -> None:
    found = advise(
        estimate(7 * B, "fp16", "inference"), serving=ServingTarget(concurrent_users=1e9), acquisition="rent"
    )
    assert all(each.gpu is not None for each in found.candidates)


def test_a_service_has_no_deadline() -> None:
    with pytest.raises(UsageError, match="requests a second instead"):
        advise(estimate(7 * B, "fp16", "inference"), deadline_s=3600.0, total_steps=10.0)


def test_a_service_of_unknown_speed_asks_for_a_run() -> None:
    found = advise(gpu_footprint("t4"), stage="inference", serving=ServingTarget(latency_s=0.05))
    assert found.verdict is Verdict.IMPOSSIBLE
    assert "Run the job once under gpuscope" in found.sentence
