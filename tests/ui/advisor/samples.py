"""Recommendations made by hand for the tests of the Advisor panel: invented figures, real shapes."""

from __future__ import annotations

import msgspec

from gpuscope.domain.base import Range
from gpuscope.domain.economics import CostOverYears, OwnershipCost, RentalCost
from gpuscope.domain.footprint import Footprint, FootprintDevice, FootprintSource, Steps
from gpuscope.domain.mix import JobOnMachine, MixCost, MixJob, MixMachine, MixOption, MixRecommendation
from gpuscope.domain.recommendation import (
    Candidate,
    CandidateMemory,
    Constraints,
    Explanation,
    Improvement,
    Offer,
    Recommendation,
    Rejected,
    Sensitivity,
    Verdict,
)
from gpuscope.domain.serving import Serving, ServingTarget

GIB = 1024**3

FOOTPRINT = Footprint(
    source=FootprintSource(kind="measured", session="train.gpuscope"),
    devices=(FootprintDevice(gpu="h100-sxm5-80gb", name="NVIDIA H100 80GB HBM3"),),
    steps=Steps(count=1240),
)


def spread(mid: float, share: float = 0.2) -> Range:
    return Range(low=mid * (1 - share), mid=mid, high=mid * (1 + share))


def offer(provider: str, instance_type: str, *, stale: bool = False) -> Offer:
    return Offer(
        provider=provider, instance_type=instance_type, region="us-east-1", price_date="2026-11-20", stale=stale,
        source="published price list",
    )  # fmt: skip


def explanation(hours: float) -> Explanation:
    step = Explanation(
        name="Step time",
        value=f"{hours * 3.6:.0f} ms",
        formula="measured step × ratio of the GPUs, by class of operator",
        provenance="derived",
        inputs=(
            Explanation(name="Measured step", value="212 ms", provenance="measured: median of 1,140 steady steps"),
            Explanation(name="Ratio for matrix products", value="0.54", formula="989 / 1830", provenance="catalogue"),
            Explanation(name="Ratio for the rest", value="0.58", formula="3.35 / 5.78", provenance="catalogue"),
        ),
    )
    memory = Explanation(
        name="Memory", value="25.7 GiB", formula="peak + context", provenance="measured",
        inputs=(Explanation(name="Peak", value="24.9 GiB", provenance="measured: allocator"),),
    )  # fmt: skip
    time = Explanation(name="Time for the work", value=f"{hours:.0f} h", formula="steps × step time", inputs=(step,))
    return Explanation(name="Why", value="", inputs=(time, memory))


def rented(name: str, count: int, hours: float, dollars: float, provider: str = "aws", *, memory_gib: float = 48.0,
           stale: bool = False, confidence: str = "specification") -> Candidate:  # fmt: skip
    return Candidate(
        gpu=name.lower().replace(" ", "-"),
        gpu_name=name,
        count=count,
        acquisition="rent",
        offer=offer(provider, f"g6e.{12 * count}xlarge", stale=stale),
        fits=True,
        memory=CandidateMemory(needed_bytes=spread(25.7 * GIB, 0.05), available_bytes=round(memory_gib * GIB)),
        step_time_s=spread(hours * 3.6e-3),
        time_to_finish_s=spread(hours * 3600),
        cost_usd=spread(hours * dollars),
        cost_usd_per_hour=Range.exact(dollars),
        energy_kwh=spread(hours * count * 0.35),
        confidence=confidence,
        reason=f"{count} × {name} finish in time at the lowest cost.",
        pareto=name != "A100 80GB SXM",
        cost_over_years=over_years(count * 9_000.0, dollars),
        explanation=explanation(hours),
    )


def over_years(purchase: float, dollars_per_hour: float) -> CostOverYears:
    hours = 500.0 * 12
    own = tuple(
        OwnershipCost(
            years=years, purchase_usd=purchase, energy_usd=spread(900.0 * years), hosting_usd=600.0 * years,
            support_usd=purchase * 0.05 * years, staff_usd=0.0, finance_usd=purchase * 0.03 * years, tax_usd=0.0,
            residual_usd=purchase * 0.2, total_usd=spread(purchase * (0.8 + 0.08 * years) + 1500.0 * years, 0.06),
        )
        for years in (1, 3, 5)
    )  # fmt: skip
    rent = tuple(
        RentalCost(
            years=years, on_demand_usd=dollars_per_hour * hours * years, reserved_usd=None,
            spot_usd=spread(dollars_per_hour * hours * years * 0.5), hours=hours * years,
        )
        for years in (1, 3, 5)
    )  # fmt: skip
    return CostOverYears(
        own=own, rent=rent, break_even_utilization=0.42, worth_below_usd=21_400.0, compared_rent="aws, on demand"
    )


def bought(name: str, count: int, hours: float, dollars: float) -> Candidate:
    return Candidate(
        gpu=name.lower(), gpu_name=name, count=count, acquisition="buy", fits=True,
        memory=CandidateMemory(needed_bytes=spread(25.7 * GIB, 0.05), available_bytes=32 * GIB),
        step_time_s=spread(hours * 3.6e-3), time_to_finish_s=spread(hours * 3600), cost_usd=Range.exact(dollars),
        energy_kwh=spread(hours * 0.5), reason="Pays off after four such runs.",
        explanation=explanation(hours),
    )  # fmt: skip


UNPRICED = Candidate(
    gpu="b300", gpu_name="NVIDIA RTX PRO 6000 Blackwell Server Edition", count=1, acquisition="buy", fits=None,
    reason="Nobody publishes a price.",
)  # fmt: skip


def recommendation(constraints: Constraints | None = None) -> Recommendation:
    return Recommendation(
        verdict=Verdict.RENT,
        sentence="Rent 2 × L40S from aws (g6e.24xlarge, us-east-1): done in 28–42 h for $63–94, before Friday 18:00.",
        constraints=constraints or Constraints(),
        recommended=0,
        alternates=(1, 3),
        candidates=(
            rented("L40S", 2, 35, 2.24, stale=True),
            rented("H100 SXM", 1, 27.5, 3.29, "lambda", memory_gib=80, confidence="calibrated"),
            rented("A100 80GB SXM", 1, 52, 1.89, "runpod", memory_gib=80),
            bought("RTX 5090", 1, 61, 2399),
            rented("H100 SXM", 8, 4.1, 26.3, "coreweave", memory_gib=80),
            rented("B200", 8, 1.9, 44.0, "nebius", memory_gib=180),
            UNPRICED,
        ),
        rejected=(
            Rejected(gpu="t4", gpu_name="T4", count=1, reason_code="memory", reason="Needs 25.7 GiB, has 14.9 GiB."),
            Rejected(
                gpu="t4", gpu_name="T4", count=2, reason_code="memory", reason="Needs 21 GiB a GPU, has 14.9 GiB."
            ),
            Rejected(
                gpu="l4",
                gpu_name="L4",
                count=1,
                reason_code="deadline",
                reason="Takes 180–260 h; the deadline is in 74 h.",
            ),
        ),
        would_be_surer=(
            Improvement(
                input="time",
                action="run 50 steps in bfloat16",
                sentence="Run 50 steps in bfloat16: the range of the time becomes ±8% instead of ±25%.",
                width_now=1.25,
                width_then=1.08,
            ),
            Improvement(input="price", action="ask for a quote", sentence="Ask for a quote for 2 × L40S."),
        ),
        sensitivity=(Sensitivity(input="deadline", sentence="With 60 h or more, 1 × A100 80GB SXM is cheaper."),),
        assumptions=(
            "The batch on each GPU stays as measured.",
            "Data loading keeps up with a GPU twice as fast.",
        ),
        prices_as_of="2026-07-20 to 2026-11-20",
    )


TARGET = ServingTarget(
    prompt_tokens=1000, output_tokens=250, time_to_first_token_s=0.5, inter_token_latency_s=0.05,
    requests_per_second=12,
    hourly_load=tuple(float(hour) for hour in range(1, 25)),
)  # fmt: skip


def service() -> Recommendation:
    """As `recommendation`, for a service."""
    answer = recommendation(Constraints(stage="inference", serving=TARGET))
    serving = Serving(
        replicas=4, concurrent_per_replica=24, time_to_first_token_s=spread(0.32), inter_token_latency_s=spread(0.031),
        latency_s=spread(8.1), requests_per_second=spread(14.2), tokens_per_second=spread(3550), weight_dtype="int8",
        weights_bytes=7_000_000_000, cache_bytes_per_token=131_072, replica_hours_per_day=53.5,
        replicas_by_hour=tuple(-(-hour // 6) for hour in range(1, 25)), autoscaling_saving_share=0.44,
    )  # fmt: skip
    first = msgspec.structs.replace(answer.candidates[0], serving=serving)
    return msgspec.structs.replace(answer, candidates=(first, *answer.candidates[1:]))


IMPOSSIBLE = Recommendation(
    verdict=Verdict.IMPOSSIBLE,
    sentence="No configuration finishes by the deadline within $5: the cheapest in time costs $63–94.",
    constraints=Constraints(budget_usd=5),
    rejected=(
        Rejected(gpu="l40s", gpu_name="L40S", count=2, reason_code="budget", reason="Costs $63–94, the budget is $5."),
    ),
)


def mix(constraints: Constraints | None = None) -> MixRecommendation:
    """Two jobs, four ways."""

    def on(number: int, hours: float, dollars: float | None = None) -> JobOnMachine:
        return JobOnMachine(
            job=number, hours_per_run=spread(hours), hours_per_month=spread(hours * 40),
            usd_per_run=None if dollars is None else spread(dollars),
        )  # fmt: skip

    def costs(*dollars: float) -> tuple[MixCost, ...]:
        return tuple(MixCost(years=years, usd=spread(usd)) for years, usd in zip((1, 3, 5), dollars, strict=True))

    rented = tuple(
        MixMachine(
            gpu=name.lower(), gpu_name=name, count=1, acquisition="rent", offer=offer("aws", "g6e"),
            jobs=(on(number, 3, 6.5),),
        )
        for number, name in enumerate(("L40S", "H100 SXM"))
    )  # fmt: skip
    shared = MixMachine(
        gpu="l40s", gpu_name="L40S", count=4, acquisition="buy", machines=2, jobs=(on(0, 2), on(1, 5)),
        utilization=0.61, utilization_last_year=0.83, purchase_usd=92_000, worth_below_usd=118_000,
    )  # fmt: skip
    return MixRecommendation(
        sentence="Buy 2 machines with 4 × L40S for both jobs: 61% in use, $104,000–156,000 over 3 years.",
        constraints=constraints or Constraints(),
        jobs=(
            MixJob(name="train.py --config gpt2.yaml", runs_per_month=40, work="5,000 steps"),
            MixJob(name="evaluate.py", runs_per_month=4),
        ),
        growth_per_year=0.2,
        recommended=0,
        alternates=(1,),
        options=(
            MixOption(
                kind="shared", machines=(shared,), costs=costs(110_000, 130_000, 150_000),
                reason="Both jobs leave each other room.",
            ),
            MixOption(kind="rented", machines=rented, costs=costs(60_000, 180_000, 300_000)),
            MixOption(kind="separate", machines=(shared, rented[1]), costs=costs(140_000, 190_000, 260_000)),
            MixOption(kind="mixed", machines=(shared, rented[1]), costs=(MixCost(years=1),)),
        ),
        assumptions=("Each run is like the one that was measured.",),
    )  # fmt: skip
