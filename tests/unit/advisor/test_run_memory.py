"""What a run on a GPU says of the memory that its job needs, where nobody took it apart."""

from __future__ import annotations

from typing import Any

import pytest

from gpuscope.advisor.calibration.model import EMPTY
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.domain.base import from_json, to_json
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Candidate, Constraints, Recommendation
from tests.unit.advisor.advisor_jobs import TODAY, shipped

ON_T4: dict[str, Any] = {"devices": [{"gpu": "t4"}], "steps": {"time_s": {"p50": 0.2}}}


def advised(document: dict[str, Any], **limits: Any) -> Recommendation:
    footprint = from_json(to_json(document), Footprint)
    return Advisor(footprint, shipped(), today=TODAY, calibration=EMPTY).recommend(Constraints(**limits))


def peak(name: str, bytes_: float, **more: Any) -> dict[str, Any]:
    return {**more, "memory": {name: {"low": bytes_, "mid": bytes_, "high": bytes_}}}


def on(found: Recommendation, gpu: str, count: int = 1) -> Candidate | None:
    return next((each for each in found.candidates if (each.gpu, each.count) == (gpu, count)), None)


def fit_on(found: Recommendation, gpu: str, count: int = 1) -> bool | None:
    candidate = on(found, gpu, count)
    assert candidate is not None
    return candidate.fits


@pytest.mark.parametrize("gpu", ["t4", "rtx-5060-ti-16gb", "l4", "rtx-4090", "h100-sxm5-80gb"])
def test_what_ran_on_a_card_fits_one_with_as_much_memory(gpu: str) -> None:
    assert fit_on(advised(ON_T4, gpus=(gpu,)), gpu) is True


def test_it_may_or_may_not_fit_a_smaller_card() -> None:
    assert fit_on(advised(ON_T4, gpus=("rtx-3060-12gb",)), "rtx-3060-12gb") is None


def test_several_cards_need_what_they_talk_through_besides() -> None:
    found = advised(ON_T4, gpus=("t4",), counts=(4,))
    assert fit_on(found, "t4", 4) is None
    on_four = {**ON_T4, "devices": [{"gpu": "t4"}] * 4}
    assert fit_on(advised(on_four, gpus=("t4",), counts=(4,)), "t4", 4) is True


def test_a_run_on_several_cards_says_nothing_of_one() -> None:
    on_four = {**ON_T4, "devices": [{"gpu": "t4"}] * 4}
    assert fit_on(advised(on_four, gpus=("l4",)), "l4") is None


def test_another_precision_or_stage_may_need_more() -> None:
    assert fit_on(advised(ON_T4, gpus=("t4",), precision="float16"), "t4") is None
    inference = {**ON_T4, "workload": {"stage": "inference"}}
    assert fit_on(advised(inference, gpus=("t4",), stage="training"), "t4") is None


def test_a_peak_that_nearly_filled_the_card_fits_it_again() -> None:
    full = peak("peak_allocated_bytes", 15.5e9, **ON_T4, workload={"parameters": 100_000_000})
    assert fit_on(advised(full, gpus=("t4",)), "t4") is True


@pytest.mark.parametrize("name", ["peak_device_bytes", "peak_reserved_bytes"])
def test_what_the_driver_or_the_allocator_showed_is_the_most_that_it_needs(name: str) -> None:
    log = peak(name, 10e9, devices=[{"gpu": "l4"}])
    candidate = on(advised(log, gpus=("t4",)), "t4")
    assert candidate is not None
    assert candidate.fits is True
    needed = candidate.memory.needed_bytes
    assert needed is not None
    assert needed.low < 2e9
    assert 10e9 <= needed.high < 11e9
    assert fit_on(advised(log, gpus=("rtx-5050",)), "rtx-5050") is None


def test_an_allocated_peak_counts_without_the_number_of_parameters() -> None:
    found = advised(peak("peak_allocated_bytes", 10e9, **ON_T4), gpus=("t4", "rtx-5050"))
    assert fit_on(found, "t4") is True
    assert on(found, "rtx-5050") is None
    assert [each.reason_code for each in found.rejected if (each.gpu, each.count) == ("rtx-5050", 1)] == ["memory"]


def test_the_machine_at_hand_is_named_by_its_gpu() -> None:
    kept = next(each for each in advised(ON_T4).candidates if each.acquisition == "keep")
    assert (kept.gpu_name, kept.count) == ("Tesla T4", 1)


def test_inference_needs_no_more_than_the_training_that_was_seen() -> None:
    trained = peak("peak_allocated_bytes", 10e9, **ON_T4, workload={"stage": "training", "parameters": 100_000_000})
    assert fit_on(advised(trained, gpus=("t4",), stage="inference"), "t4") is True
    assert fit_on(advised(trained, gpus=("rtx-5050",), stage="inference"), "rtx-5050") is None
