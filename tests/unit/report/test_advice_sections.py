"""The report's parts about the advice in detail, and reports that no session stands behind."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from gpuscope.domain.base import Range
from gpuscope.domain.economics import CostOverYears, Economics, OwnershipCost, RentalCost
from gpuscope.domain.footprint import Footprint, FootprintSource, Workload
from gpuscope.domain.mix import JobOnMachine, MixCost, MixJob, MixMachine, MixOption, MixRecommendation
from gpuscope.domain.recommendation import Constraints, Improvement, Recommendation, Verdict
from gpuscope.domain.serving import Serving, ServingTarget
from gpuscope.report.build_without_session import build_estimate_report, build_mix_report
from gpuscope.report.json_file import json_bytes
from gpuscope.report.model import Report
from gpuscope.report.pdf import pdf_bytes
from tests.builders import build_candidate, build_recommendation
from tests.unit.report.conftest import NOW, pdf_text

MakeReport = Callable[..., Report]

COSTS = CostOverYears(
    own=(
        OwnershipCost(years=1, purchase_usd=40_000, energy_usd=Range(low=900, mid=1000, high=1100),
                      residual_usd=8_000, total_usd=Range(low=33_000, mid=34_000, high=35_000)),
        OwnershipCost(years=3, purchase_usd=40_000),
    ),
    rent=(RentalCost(years=1, on_demand_usd=21_000, hours=8_760),),
    break_even_utilization=0.58, worth_below_usd=31_500, compared_rent="aws, on demand",
)  # fmt: skip
SERVING = Serving(
    replicas=3, time_to_first_token_s=Range(low=0.2, mid=0.25, high=0.3), replicas_by_hour=(1, 1, 3, 3),
    autoscaling_saving_share=0.4, weights_bytes=7_000_000_000, weight_dtype="int8",
)  # fmt: skip


def recommended(constraints: Constraints | None = None) -> Recommendation:
    """As `build_recommendation`, with everything that the advice may hold for the first candidate."""
    plain = build_recommendation()
    index = plain.recommended or 0
    first = msgspec.structs.replace(plain.candidates[index], cost_over_years=COSTS, serving=SERVING)
    candidates = tuple(first if number == index else each for number, each in enumerate(plain.candidates))
    surer = Improvement(
        input="time", action="run 50 steps in bfloat16", sentence="Run 50 steps in bfloat16.", width_now=1.25,
        width_then=1.08,
    )  # fmt: skip
    return msgspec.structs.replace(
        plain, candidates=candidates, would_be_surer=(surer,), constraints=constraints or plain.constraints
    )


def mix() -> MixRecommendation:
    machine = MixMachine(
        gpu="l40s", gpu_name="L40S", count=4, acquisition="buy", machines=2, utilization=0.61,
        jobs=(JobOnMachine(job=0, hours_per_run=Range.exact(3)), JobOnMachine(job=1)),
    )  # fmt: skip
    return MixRecommendation(
        sentence="Buy 2 machines with 4 × L40S for both jobs.",
        constraints=Constraints(budget_usd=200_000),
        jobs=(MixJob(name="train.py", runs_per_month=40), MixJob(name="evaluate.py", runs_per_month=4.5)),
        growth_per_year=0.2,
        recommended=0,
        options=(
            MixOption(kind="shared", machines=(machine,), costs=(MixCost(years=3, usd=Range.exact(130_000)),),
                      reason="They leave each other room."),
            MixOption(kind="rented", machines=(machine,), costs=(MixCost(years=3),)),
        ),
        assumptions=("Each run is like the one that was measured.",),
    )  # fmt: skip


def test_owning_and_renting_over_the_years(make_report: MakeReport) -> None:
    text = pdf_text(pdf_bytes(make_report(recommendation=recommended())))
    assert "Own or rent over the years" in text
    assert "Purchase $40,000 $40,000" in text
    assert "Sells for -$8,000 –" in text
    assert "Owning is cheaper than renting from 58% of all hours on (against aws, on demand)." in text
    assert "A purchase below $31,500" in text
    assert "Renting reserved" not in text, "nobody knows it"


def test_a_service(make_report: MakeReport) -> None:
    target = ServingTarget(prompt_tokens=1000, time_to_first_token_s=0.5)
    limits = Constraints(serving=target, economics=Economics(electricity_usd_per_kwh=0.3, tax_share=0.19))
    text = pdf_text(pdf_bytes(make_report(recommendation=recommended(limits))))
    assert "Copies from midnight on, hour by hour: 1 1 3 3." in text
    assert "saves 40% of the cost" in text
    assert "Prompt, tokens 1,000" in text
    assert "First token within 500 ms" in text
    assert "Tax 19%" in text


def test_what_would_make_it_surer(make_report: MakeReport) -> None:
    report = make_report(recommendation=recommended())
    assert report.would_be_surer[0].width_then == 1.08
    text = pdf_text(pdf_bytes(report))
    assert "Run 50 steps in bfloat16. time: the ends of the range go from 1.25 to 1.08 times the middle" in text


def test_the_explanation_is_in_the_appendix(make_report: MakeReport) -> None:
    text = pdf_text(pdf_bytes(make_report(recommendation=recommended())))
    assert text.index("Appendix: how the figures come about") > text.index("Sources")


def test_alternates_say_what_is_different_not_the_same_again(make_report: MakeReport) -> None:
    report = make_report(recommendation=recommended())
    text = pdf_text(pdf_bytes(report))
    alternates = [ranked for ranked in report.candidates if ranked.role == "alternate"]
    assert alternates
    for ranked in alternates:
        assert f"Row {ranked.rank}: {ranked.name}" in text
        # All candidates share this sentence: it stands in the table and under the recommended configuration.
        assert text.count(ranked.candidate.reason) == 2
    assert " instead of " in text


def test_a_recording_without_a_recommendation_has_no_decision_page(make_report: MakeReport) -> None:
    nothing = Recommendation(verdict=Verdict.IMPOSSIBLE, sentence="Nothing is known.", constraints=Constraints())
    text = pdf_text(pdf_bytes(make_report(recording=True, recommendation=nothing)))
    assert "Recording of a machine" in text
    for absent in ("Approval", "Not possible", "Requirement", "Candidates"):
        assert absent not in text
    run = pdf_text(pdf_bytes(make_report(recommendation=nothing)))
    assert "Approval" in run, "of a run the decision is that nothing is possible"


def test_a_model_that_was_typed_in_has_a_report() -> None:
    footprint = Footprint(source=FootprintSource(kind="estimated"), workload=Workload(parameters=7_000_000_000))
    report = build_estimate_report(footprint, recommended(), now=NOW)
    assert report.session.session_id == ""
    assert all(any(figure.value is not None for figure in group.figures) for group in report.evidence.groups)
    text = pdf_text(pdf_bytes(report))
    assert "for a model of 7B parameters that was typed in" in text
    assert "Approval" in text
    assert "SHA-256" not in text
    assert "The figures are estimated from formulas" in text


def test_several_jobs_have_a_report() -> None:
    report = build_mix_report(mix(), now=NOW)
    assert report.decision.verdict == "buy"
    text = pdf_text(pdf_bytes(report))
    assert "for train.py, evaluate.py" in text
    assert "share machines of one kind 2 × (4 × L40S) 61% $130,000" in text
    assert "evaluate.py 4.5" in text
    assert "20% more runs" in text
    assert "Budget in all $200,000" in text
    assert b'"runs_per_month": 40' in json_bytes(report)


@pytest.mark.parametrize("kind", ["rented", "unheard of"])
def test_another_way_to_serve_the_jobs(kind: str) -> None:
    options = (msgspec.structs.replace(mix().options[0], kind=kind),)
    report = build_mix_report(msgspec.structs.replace(mix(), options=options), now=NOW)
    assert report.decision.verdict == ("rent" if kind == "rented" else "buy")
    assert pdf_bytes(report)


def test_jobs_that_nothing_serves() -> None:
    report = build_mix_report(msgspec.structs.replace(mix(), options=(), recommended=None), now=NOW)
    assert report.decision.verdict == "impossible"
    assert pdf_bytes(report)


def test_an_alternate_without_a_price_needs_a_quote(make_report: MakeReport) -> None:
    plain = recommended()
    unpriced = msgspec.structs.replace(
        build_candidate(), cost_usd=None, cost_usd_per_hour=None, offer=None, acquisition="buy"
    )
    answer = msgspec.structs.replace(plain, candidates=(plain.candidates[0], unpriced), recommended=0, alternates=(1,))
    assert "; needs a quote." in pdf_text(pdf_bytes(make_report(recommendation=answer)))
