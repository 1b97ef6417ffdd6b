"""Footprints that a person wrote: what may be left out, and what is said about slips."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpuscope.advisor.calibration.model import EMPTY
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.domain.base import from_json, to_json
from gpuscope.domain.economics import Economics
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints, Recommendation, Verdict
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import TODAY, shipped

SEVEN_B = {
    "layers": 32, "hidden_size": 4096, "attention_heads": 32, "feed_forward_size": 11008, "gated_feed_forward": True,
    "vocabulary_size": 32000, "tied_embeddings": False,
}  # fmt: skip


def advised(document: dict[str, Any], **limits: Any) -> Recommendation:
    footprint = from_json(to_json(document), Footprint)
    return Advisor(footprint, shipped(), today=TODAY, calibration=EMPTY).recommend(Constraints(**limits))


def test_where_it_comes_from_may_be_left_out() -> None:
    found = advised({"devices": [{"gpu": "t4"}], "steps": {"time_s": {"p50": 0.2}}})
    assert found.recommended is not None
    assert found.candidates[0].step_time_s is not None


@pytest.mark.parametrize("stage", ["inference", "training"])
def test_dimensions_tell_the_parameters(stage: str) -> None:
    workload = {
        "stage": stage, "architecture": SEVEN_B, "sequence_length": 2048, "batch": {"per_device": 1},
        "precision": {"compute": "float16", "parameters": "float16"},
    }  # fmt: skip
    found = advised({"workload": workload}, gpus=("h100-sxm5-80gb",), counts=(8,))
    assert found.verdict is not Verdict.IMPOSSIBLE
    needed = found.candidates[0].memory.needed_bytes
    assert needed is not None
    # 6.74e9 parameters in 16 bits, on each GPU or in eight parts.
    assert needed.mid > 2 * 6.74e9 / 8


def test_dimensions_that_no_model_has_are_refused() -> None:
    with pytest.raises(UsageError, match="layers of a model must be 1 or more, not 0"):
        advised({"workload": {"architecture": {**SEVEN_B, "layers": 0}}})


def test_a_gpu_that_the_catalogue_lacks_is_named() -> None:
    found = advised({"devices": [{"gpu": "rtx-9999"}], "steps": {"time_s": {"p50": 0.2}}})
    assert any("(rtx-9999)" in sentence for sentence in found.assumptions)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": {"time_s": {"p50": 1e-300}}}, "step time of 1e-300 s"),
        ({"devices": [{"gpu": "t4", "memory_bytes": 0}]}, "GPU with 0 bytes"),
        ({"workload": {"sequence_length": -3}}, "sequence length of -3"),
        ({"workload": {"batch": {"per_device": 1, "gradient_accumulation": 0}}}, "gradient accumulation of 0"),
        ({"communication": [{"collective": "all_reduce", "bytes": -1, "count": 1}]}, "communication .*all_reduce"),
    ],
)
def test_figures_that_no_job_has_are_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        advised({"devices": [{"gpu": "t4"}], "steps": {"time_s": {"p50": 0.2}}} | change)


def test_formats_of_weights_are_checked_where_no_weights_are_counted() -> None:
    with pytest.raises(UsageError, match="Weight format 'foo' is not known"):
        advised({"ops": [], "steps": {"time_s": {"p50": 0.2}}}, serving=ServingTarget(weight_dtypes=("foo",)))


def test_the_machine_at_hand_keeps_the_power_limit() -> None:
    found = advised({"devices": [{"gpu": "a100-sxm4-80gb"}], "steps": {"time_s": {"p50": 0.2}}}, power_limit_w=300.0)
    assert all(each.acquisition != "keep" for each in found.candidates)


def test_sentences_are_in_the_currency_of_the_person() -> None:
    job = {"devices": [{"gpu": "a100-sxm4-80gb"}], "steps": {"time_s": {"p50": 0.2}}}
    yen = Economics(currency="JPY", currency_per_usd=150.0)
    found = advised(job, economics=yen, total_steps=2e5, acquisition="rent")
    reasons = [each.reason for each in found.candidates]
    assert all("$" not in text for text in (found.sentence, *reasons))
    assert "¥" in found.sentence
    refused = advised(job, economics=yen, total_steps=2e5, acquisition="rent", budget_usd=1 / 150)
    suggested = re.search(r"a budget of ¥([\d,]+) instead of ¥1:", refused.sentence)
    assert suggested is not None
    enough = float(suggested[1].replace(",", "")) / 150
    assert advised(job, economics=yen, total_steps=2e5, acquisition="rent", budget_usd=enough).recommended is not None
