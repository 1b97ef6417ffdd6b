"""How far inputs may move: what is said holds when the input is really moved."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Recommendation
from tests.unit.advisor.advisor_jobs import advise, best, cpu_footprint, gpu, gpu_footprint, offer, shipped

HOUR = 3600.0


def factor_of(found: Recommendation, name: str, word: str) -> float:
    sentence = next(each.sentence for each in found.sensitivity if each.input == name and word in each.sentence)
    match = re.search(r"([\d.]+) times", sentence)
    assert match is not None
    return float(match.group(1))


def two(price: float = 1.0, other: float = 3.0) -> Catalogue:
    """A slow cheap GPU and one that is twice as fast and three times as dear."""
    fast = gpu("fast", fp32_tflops=60, tf32_tensor_tflops=120, memory_bandwidth_gbs=1200)
    offers = (offer("slow", price=price), offer("fast", price=other))
    return Catalogue((gpu("slow"), fast), shipped().cpus, offers)


def chosen(footprint: Footprint, catalogue: Catalogue, **limits: Any) -> str | None:
    return best(advise(footprint, catalogue, acquisition="rent", **limits)).gpu


def test_price_at_which_the_choice_changes_is_where_it_does() -> None:
    footprint = cpu_footprint()
    found = advise(footprint, two(), acquisition="rent", total_steps=1e6)
    assert best(found).gpu == "slow"
    factor = factor_of(found, "price", "rise")
    assert chosen(footprint, two(price=factor * 0.98), total_steps=1e6) == "slow"
    assert chosen(footprint, two(price=factor * 1.02), total_steps=1e6) == "fast"


def test_time_moves_a_rent_as_its_price_does() -> None:
    found = advise(cpu_footprint(), two(), acquisition="rent", total_steps=1e6)
    assert factor_of(found, "time", "as long") == pytest.approx(factor_of(found, "price", "rise"), rel=0.02)
    assert factor_of(found, "efficiency", "as fast") == pytest.approx(factor_of(found, "price", "rise"), rel=0.02)


def test_deadline_at_which_the_choice_changes_is_where_it_does() -> None:
    footprint = cpu_footprint()
    taken = best(advise(footprint, two(), acquisition="rent", total_steps=1e6)).time_to_finish_s
    assert taken is not None
    deadline_s = taken.high * 1.5
    found = advise(footprint, two(), acquisition="rent", total_steps=1e6, deadline_s=deadline_s)
    factor = factor_of(found, "deadline", "shrink")
    assert chosen(footprint, two(), total_steps=1e6, deadline_s=deadline_s * factor * 1.02) == "slow"
    assert chosen(footprint, two(), total_steps=1e6, deadline_s=deadline_s * factor * 0.98) == "fast"


def test_work_at_which_the_machine_at_hand_is_not_enough_any_more() -> None:
    found = advise(gpu_footprint(step_s=0.1), total_steps=1e4)
    assert best(found).acquisition == "keep"
    factor = factor_of(found, "work", "rise")
    assert best(advise(gpu_footprint(step_s=0.1), total_steps=1e4 * factor * 0.98)).acquisition == "keep"
    assert best(advise(gpu_footprint(step_s=0.1), total_steps=1e4 * factor * 1.02)).acquisition != "keep"


def test_what_does_not_change_is_said_to_stay() -> None:
    only = Catalogue((gpu("slow"),), offers=(offer("slow"),))
    found = advise(cpu_footprint(), only, acquisition="rent", total_steps=1e6)
    assert all("stays" in each.sentence for each in found.sensitivity if each.input in {"price", "work"})


def test_other_precisions_of_the_same_hardware_are_no_change() -> None:
    found = advise(cpu_footprint(), two(), acquisition="rent", total_steps=1e6, precisions=("bf16", "fp16"))
    assert best(found).gpu == "slow"
    factor = factor_of(found, "price", "rise")
    limits: dict[str, Any] = {"total_steps": 1e6, "precisions": ("bf16", "fp16")}
    assert chosen(cpu_footprint(), two(price=factor * 0.98), **limits) == "slow"
    assert chosen(cpu_footprint(), two(price=factor * 1.02), **limits) == "fast"


def test_no_sentence_is_said_twice() -> None:
    found = advise(cpu_footprint(), total_steps=1e6, deadline_s=100 * HOUR, precisions=("bf16",))
    sentences = [each.sentence for each in found.sensitivity]
    assert len(sentences) == len(set(sentences)) >= 5
    assert msgspec.to_builtins(found.sensitivity)
