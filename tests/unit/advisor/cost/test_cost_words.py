"""Sentences and trees about owning and renting; services with replicas that come and go; spot machines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.advisor.cost.configuration import Use
from gpuscope.advisor.cost.explanation import ownership_tree, sentence
from gpuscope.advisor.cost.prices import is_stale
from gpuscope.advisor.cost.rent import lost_share, spot_factor
from gpuscope.advisor.cost.service import use_of_service, working_share
from gpuscope.advisor.cost.terms import settle
from gpuscope.domain.economics import Economics
from gpuscope.domain.recommendation import Explanation
from gpuscope.domain.serving import Serving
from tests.unit.advisor.advisor_jobs import TODAY, gpu, offer
from tests.unit.advisor.cost.test_years import eight, outcome


def parts(tree: Explanation) -> Iterator[Explanation]:
    yield tree
    for each in tree.inputs:
        yield from parts(each)


def test_own_or_rent_in_a_sentence() -> None:
    assert sentence(outcome()) == (
        "Over 3 years owning costs $194,820, renting $262,800: owning is cheaper; owning pays from 70% of all hours, "
        "here it works 100%."
    )
    assert sentence(outcome(offers=(offer(count=8, price=1.0),))).endswith("renting is cheaper, whatever the use.")
    assert "nobody is known to rent it out" in sentence(outcome(offers=()))


def test_a_missing_price_in_a_sentence() -> None:
    assert sentence(outcome(eight(None))).startswith("It needs a quote; a purchase is worth it below $1")
    assert "at no price" in sentence(outcome(eight(None), offers=(offer(count=8, price=0.1),)))
    assert "nothing to compare it with" in sentence(outcome(eight(None), offers=()))


def test_the_tree_has_every_part_with_its_formula_and_source() -> None:
    tree = ownership_tree(outcome(electricity_usd_per_kwh=None, use_spot=True, reserved_discount_share=0.3))
    found = {each.name: each for each in parts(tree)}
    for name in ("Purchase with the machine", "Electricity", "Hosting", "Support", "Interest", "Tax", "Sale at the end",
                 "Renting on demand for 3 years", "Renting reserved for 3 years", "Owning pays from"):  # fmt: skip
        assert found[name].formula, name
        assert found[name].provenance, name
    assert "tariff assumed" in found["Electricity"].provenance
    assert "PUE given" in found["Electricity"].provenance
    assert "launch price" in found["Purchase with the machine"].provenance
    assert found["Staff"].value == "not counted"


def test_the_tree_is_in_the_persons_currency() -> None:
    tree = ownership_tree(outcome(currency="EUR", currency_per_usd=0.5))
    assert {each.name: each.value for each in parts(tree)}["Purchase with the machine"] == "€60,000"


def test_an_unknown_price_is_said_in_the_tree() -> None:
    values = {each.name: each.value for each in parts(ownership_tree(outcome(eight(None), power=None)))}
    assert values["Owning for 3 years"] == "needs a quote"
    assert values["Electricity and hosting"] == "unknown"


# Spot


def test_what_interruptions_lose() -> None:
    terms = settle(Economics(spot_interruptions_per_day=4.0, checkpoint_interval_s=3600.0, spot_restart_s=600.0), gpu())
    assert lost_share(4.0, terms) == pytest.approx(4 * 2400 / 86_400)
    assert spot_factor(terms).mid == pytest.approx(1 / (1 - 1 / 9))


@given(rate=st.floats(0, 1440), more=st.floats(0, 1440), interval=st.floats(1, 1e6), restart=st.floats(0, 1e6))
def test_more_interruptions_never_cost_less(rate: float, more: float, interval: float, restart: float) -> None:
    terms = settle(Economics(checkpoint_interval_s=interval, spot_restart_s=restart), gpu())
    assert 0 <= lost_share(rate, terms) <= lost_share(rate + more, terms) < 1


def test_unknown_interruptions_make_a_range() -> None:
    factor = spot_factor(settle(Economics(), gpu()))
    assert 1 < factor.low < factor.mid < factor.high < 1.2


def test_spot_counts_only_when_it_is_allowed() -> None:
    offers = (offer(count=8, price=10.0, spot_usd_per_hour=4.0),)
    assert outcome(offers=offers).costs.rent[0].spot_usd is None
    spot = outcome(offers=offers, use_spot=True)
    assert spot.costs.rent[0].spot_usd is not None
    assert spot.costs.compared_rent.startswith("spot from alpha")


def test_spot_prices_are_old_after_a_day() -> None:
    assert not is_stale("2026-11-29", TODAY, spot=True)
    assert is_stale("2026-11-28", TODAY, spot=True)
    assert not is_stale("2026-10-31", TODAY)
    assert is_stale("2026-10-30", TODAY)
    assert is_stale(None, TODAY)


# Services


def test_replicas_work_in_the_hours_in_which_autoscaling_runs_them() -> None:
    serving = Serving(replicas=4, replica_hours_per_day=48.0)
    assert working_share(serving) == pytest.approx(0.5)
    assert use_of_service(serving, Economics()).hours(1) == pytest.approx(4380)


def test_without_a_load_curve_all_replicas_run_all_day() -> None:
    assert use_of_service(Serving(replicas=4), Economics()).hours(1) == pytest.approx(8760)
    assert use_of_service(Serving(replicas=4), Economics(hours_per_month=10.0)) == Use(hours_per_month=10.0)
