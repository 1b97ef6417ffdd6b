"""Whatever the person allows: an answer in a sentence, or a refusal in one."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.job.estimate import estimate
from gpuscope.domain.base import to_json
from gpuscope.domain.economics import Economics, Quote
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import TODAY, cpu_footprint, gpu_footprint, ops, shipped

_CHAT = ServingTarget(
    prompt_tokens=512.0, output_tokens=100.0, inter_token_latency_s=0.02, requests_per_second=50.0,
    hourly_load=(1.0,) * 12 + (0.1,) * 12,
)  # fmt: skip
_LIMITS: dict[str, list[Any]] = {
    "stage": ["training", "inference"],
    "deadline_s": [60.0, 1e5],
    "budget_usd": [1.0, 1e5],
    "budget_usd_per_hour": [0.1, 5.0],
    "acquisition": ["rent", "buy"],
    "regions": [("japan",)],
    "gpus": [("l4",), ("h100-sxm5-80gb", "t4")],
    "counts": [(1,), (16, 64)],
    "power_limit_w": [50.0, 700.0],
    "precision": ["bf16", "fp8", "tf32"],
    "precisions": [("bf16", "fp16")],
    "compiled": [True],
    "keep_global_batch": [True],
    "max_nodes": [1, 8],
    "minimum_memory_bytes": [10**10, 10**12],
    "minimum_throughput": [1.0, 1e7],
    "interconnects": [("nvswitch",)],
    "networks": [("infiniband",)],
    "form_factors": [("PCIe",), ("SXM",)],
    "rack_power_w": [300.0],
    "ecc": [True],
    "residency": [("eu", "us")],
    "datacenter_licence": [True],
    "total_steps": [1e6],
    "serving": [ServingTarget(latency_s=0.01), _CHAT],
    "economics": [
        Economics(hours_per_month=300),
        Economics(use_spot=True, tax_share=0.1, reserved_discount_share=0.4),
        Economics(quotes=(Quote(gpu="l4", price=3000.0), Quote(gpu="t4", kind="rent", price=0.1))),
    ],
}


@cache
def _advisors() -> tuple[Advisor, ...]:
    ids = {"l4", "t4", "h100-sxm5-80gb", "mi300x", "rtx-5090"}
    gpus = tuple(each for each in shipped().gpus if each.id in ids)
    offers = tuple(each for each in shipped().offers if each.gpu_id is None or each.gpu_id in ids)
    systems = tuple(each for each in shipped().systems if each.gpu_id in ids)
    few = Catalogue(gpus, shipped().cpus, offers, systems)
    footprints = (
        cpu_footprint(),
        gpu_footprint("l4", 0.2, count=4, ops=ops()),
        estimate(7 * 10**9, "fp16", "inference"),
        estimate(70 * 10**9, "fp16", "training", "adamw", batch=1, sequence_length=2048),
    )
    return tuple(Advisor(footprint, few, today=TODAY) for footprint in footprints)


@st.composite
def _constraints(draw: st.DrawFn) -> Constraints:
    names = draw(st.sets(st.sampled_from(sorted(_LIMITS)), max_size=6))
    return Constraints(**{name: draw(st.sampled_from(_LIMITS[name])) for name in sorted(names)})


@settings(deadline=None, max_examples=120)
@given(which=st.integers(0, 3), limits=_constraints())
@example(which=2, limits=Constraints(budget_usd=1.0, serving=_CHAT))  # no machine has eight, eight machines would do
def test_there_is_an_answer_or_a_sentence(which: int, limits: Constraints) -> None:
    refusal = ""
    try:
        found = _advisors()[which].recommend(limits)
    except UsageError as error:
        refusal = str(error)
    if refusal:
        assert refusal.endswith((".", "?"))
        return
    assert to_json(found)
    assert found.sentence.endswith(".")
    entries = [(entry.gpu, entry.count) for entry in found.rejected]
    assert len(entries) == len(set(entries))
    if found.recommended is not None:
        picked = [found.candidates[index] for index in (found.recommended, *found.alternates)]
        ways = {(each.gpu or each.cpu, each.count, each.acquisition) for each in picked}
        assert len(ways) == len(picked)
