"""Picks, regrets and rules on made-up choices; the shipped rows give decisions of every kind."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gpuscope.advisor.validation.decision_data import rents_by_gpu
from gpuscope.advisor.validation.decisions import Option, Score, Situation, scores
from gpuscope.advisor.validation.tables import Tables


def option(gpu: str, predicted_s: float, measured_s: float, **changes: float | None) -> Option:
    values = {"peak_tflops": 100.0, "rent_usd_per_hour": 1.0, "purchase_usd": 1000.0} | changes
    return Option(gpu, predicted_s, measured_s, **values)  # type: ignore[arg-type]  # a peak is never None here


def scored(*choices: Iterable[Option]) -> dict[tuple[str, str], Score]:
    made = scores(Situation("made up", str(number), tuple(choice)) for number, choice in enumerate(choices))
    return {(score.aim, score.rule): score for score in made}


def test_a_right_pick_has_no_regret() -> None:
    score = scored([option("a", 1.0, 1.2), option("b", 2.0, 1.9)])["fastest", "gpuscope"]
    assert (score.decisions, score.right, score.mean_regret) == (1, 1.0, 0.0)


def test_a_wrong_pick_costs_what_it_takes_longer() -> None:
    score = scored([option("a", 1.0, 1.5), option("b", 1.1, 1.2)])["fastest", "gpuscope"]
    assert score.right == 0.0
    assert score.mean_regret == pytest.approx(0.25)


def test_mean_and_worst_regret_are_over_all_decisions() -> None:
    right = [option("a", 1.0, 1.0), option("b", 2.0, 2.0)]
    wrong = [option("a", 1.0, 3.0), option("b", 2.0, 2.0)]
    score = scored(right, wrong)["fastest", "gpuscope"]
    assert (score.right, score.mean_regret, score.worst_regret) == (0.5, pytest.approx(0.25), pytest.approx(0.5))


def test_the_cheapest_is_that_of_time_and_price() -> None:
    slow = option("slow", 3.0, 3.0, rent_usd_per_hour=1.0, peak_tflops=50.0)
    fast = option("fast", 1.0, 1.0, rent_usd_per_hour=2.0, peak_tflops=100.0)
    found = scored([slow, fast])
    assert found["cheapest to rent", "gpuscope"].right == 1.0
    assert found["cheapest to rent", "lowest price"].mean_regret == pytest.approx(0.5)
    assert found["cheapest to rent", "TFLOPS for the price"].decisions == 1


def test_without_prices_there_is_no_cheapest() -> None:
    free = [option("a", 1.0, 1.0, rent_usd_per_hour=None), option("b", 2.0, 2.0)]
    aims = {aim for aim, _ in scored(free)}
    assert aims == {"fastest", "cheapest to buy"}


def test_equal_promises_are_settled_by_name_not_by_order() -> None:
    a, b = option("a", 1.0, 1.0), option("b", 1.0, 2.0)
    assert scored([a, b]) == scored([b, a])


def test_the_lowest_rent_is_of_a_whole_gpu(tables: Tables) -> None:
    rents = rents_by_gpu(tables.catalogue)
    offers = [
        offer for offer in tables.catalogue.offers if offer.gpu_id == "h100-sxm5-80gb" and offer.on_demand_usd_per_hour
    ]
    assert rents["h100-sxm5-80gb"] == min((o.on_demand_usd_per_hour or 0) / o.gpu_count for o in offers)


def test_a_rule_that_lacks_a_price_does_not_decide() -> None:
    found = scored([option("a", 1.0, 1.0, rent_usd_per_hour=None), option("b", 2.0, 2.0)])
    assert ("fastest", "gpuscope") in found
    assert ("fastest", "highest price an hour") not in found
