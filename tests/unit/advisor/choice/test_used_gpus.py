"""A job that kept several GPUs busy, and of which no step was timed: as many GPUs are taken."""

from __future__ import annotations

import msgspec
import pytest

from gpuscope.domain.base import Range
from gpuscope.domain.footprint import (
    Footprint,
    FootprintDevice,
    FootprintSource,
    Memory,
    Spread,
    Utilization,
    Workload,
)
from gpuscope.domain.recommendation import Verdict
from tests.unit.advisor.advisor_jobs import GIB, advise, best, gpu_footprint


def of_a_log(gpu: str, count: int, gib: float) -> Footprint:
    """What a monitor's log of busy GPUs tells: which they are, and how much memory each held."""
    return Footprint(
        source=FootprintSource(kind="imported"),
        workload=Workload(stage="training"),
        devices=tuple(FootprintDevice(gpu=gpu, name=gpu, uuid=f"GPU-{index}") for index in range(count)),
        memory=Memory(peak_device_bytes=Range.exact(gib * GIB)),
    )


@pytest.mark.parametrize(("gpu", "count", "gib"), [("a100-sxm4-40gb", 8, 34), ("h100-sxm5-80gb", 32, 69)])
def test_as_many_gpus_as_were_busy_are_recommended_and_said_to_be_assumed(gpu: str, count: int, gib: float) -> None:
    found = advise(of_a_log(gpu, count, gib))
    assert best(found).count >= count
    assert all(each.count >= count for each in found.candidates)
    assert "speed is not known" in found.sentence
    assert f"the {count} GPUs of the run are assumed" in found.sentence
    assert any(f"used {count} GPUs: as many are taken" in note for note in found.assumptions)


def test_the_price_is_that_of_all_of_them() -> None:
    found = advise(of_a_log("a100-sxm4-40gb", 8, 34), acquisition="rent", gpus=("a100-sxm4-40gb",))
    alone = advise(of_a_log("a100-sxm4-40gb", 1, 34), acquisition="rent", gpus=("a100-sxm4-40gb",))
    eight, one = best(found).cost_usd_per_hour, best(alone).cost_usd_per_hour
    assert eight is not None
    assert one is not None
    assert eight.mid > 4 * one.mid


def test_fewer_are_rejected_for_that_reason() -> None:
    found = advise(of_a_log("a100-sxm4-40gb", 8, 34))
    fewer = [each for each in found.rejected if each.gpu == "l40s" and each.count == 4]
    assert [each.reason_code for each in fewer] == ["fewer_gpus"]


def test_a_number_that_no_machine_has_is_rounded_up_to_one_that_is_for_rent() -> None:
    found = advise(of_a_log("a100-sxm4-40gb", 7, 34), acquisition="rent")
    assert best(found).count == 8


def test_who_asks_for_another_number_gets_it() -> None:
    found = advise(of_a_log("a100-sxm4-40gb", 8, 34), counts=(1,))
    assert best(found).count == 1
    assert "of the run are assumed" not in found.sentence


def test_what_is_bought_is_as_many_with_the_speed_unknown() -> None:
    found = advise(of_a_log("a100-sxm4-40gb", 8, 34), acquisition="buy")
    assert found.verdict in {Verdict.BUY, Verdict.NEEDS_QUOTE}
    assert best(found).count >= 8
    assert "speed is not known" in found.sentence


def test_alternates_have_the_memory_where_there_are_such() -> None:
    found = advise(of_a_log("a100-sxm4-40gb", 1, 34))
    assert all(found.candidates[index].fits for index in found.alternates)


def test_where_steps_were_timed_fewer_gpus_are_candidates() -> None:
    found = advise(gpu_footprint("a100-sxm4-40gb", count=8))
    assert any(each.count == 1 for each in found.candidates)


@pytest.mark.parametrize(("busiest", "count"), [(0.0, 1), (97.0, 8)])
def test_idle_gpus_are_not_needed_again(busiest: float, count: int) -> None:
    spread = Spread(mean=busiest, p50=busiest, p95=busiest)
    footprint = msgspec.structs.replace(of_a_log("a100-sxm4-40gb", 8, 0.1), utilization=Utilization(gpu=spread))
    assert best(advise(footprint, acquisition="rent", gpus=("a100-sxm4-40gb", "l4"))).count == count
