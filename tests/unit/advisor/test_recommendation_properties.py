"""Properties of recommendations: what holds for any job, offer and order of the catalogue."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.job.estimate import estimate
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.memory.memory_model import job_memory
from gpuscope.advisor.parallel.search import plan
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.domain.base import Range, to_json
from gpuscope.domain.footprint import (
    Breakdown,
    Footprint,
    FootprintDevice,
    FootprintHost,
    FootprintSource,
    Memory,
    Steps,
    StepTime,
    TimePerStep,
    Workload,
)
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from tests.unit.advisor.advisor_jobs import (
    advise,
    best,
    cpu_footprint,
    gpu,
    gpu_footprint,
    offer,
    ops,
    shipped,
    usd,
)

HOUR = 3600.0


_sizes = st.one_of(st.none(), st.integers(0, 10**14))
_times = st.one_of(st.none(), st.floats(0, 10))


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.tuples(_sizes, _sizes, _sizes, _sizes),
    times=st.tuples(st.one_of(st.none(), st.floats(1e-9, 10)), _times, _times),
    on=st.sampled_from([None, "l4", "mystery"]),
    work=st.sampled_from([None, 0.0, 1e-3, 1e6]),
    limits=st.sampled_from([{}, {"total_steps": 1e6}, {"stage": "inference"}, {"precision": "bf16", "counts": (2,)}]),
)
def test_odd_footprints_get_an_answer(
    sizes: tuple[Any, ...], times: tuple[Any, ...], on: str | None, work: float | None, limits: dict[str, Any]
) -> None:
    parameters, state, resident, peak = sizes
    footprint = Footprint(
        source=FootprintSource(kind="measured"),
        workload=Workload(parameters=parameters),
        devices=() if on is None else (FootprintDevice(gpu=on, name=on),),
        host=FootprintHost(cpu="xeon-8259cl", cores=1),
        steps=Steps(time_s=StepTime(p50=times[0], low=times[1])),
        time_per_step_s=TimePerStep(data_loader=times[2]),
        memory=Memory(
            breakdown=Breakdown(optimizer_state_bytes=state),
            host_rss_bytes=resident,
            peak_allocated_bytes=None if peak is None else Range.exact(float(peak)),
        ),
        ops=() if work is None else tuple(msgspec.structs.replace(op, kernels=0.0) for op in ops(work)),
    )
    l4 = shipped().gpu("l4")
    assert l4 is not None
    if on == "l4" and max(state or 0, peak or 0) > 10 * l4.memory_bytes:
        with pytest.raises(UsageError, match="many times that of the GPUs that it ran on"):
            advise(footprint, _few(), **limits)
        return
    found = advise(footprint, _few(), **limits)
    assert found.sentence.endswith(".")
    unknown = parameters is None and peak is None and times[0] is None and work is None
    assert len(found.candidates) + len(found.rejected) >= (0 if unknown else len(_few().gpus))


@cache
def _few() -> Catalogue:
    """A part of the catalogue, so that many odd footprints can be tried."""
    gpus = tuple(each for each in shipped().gpus if each.id in {"l4", "t4", "h100-sxm5-80gb", "mi300x", "rtx-5090"})
    ids = {each.id for each in gpus}
    offers = tuple(each for each in shipped().offers if each.gpu_id is None or each.gpu_id in ids)
    return Catalogue(gpus, shipped().cpus, offers)


@settings(deadline=None, max_examples=60)
@given(small=st.floats(1, 200), more=st.floats(0, 200), count=st.sampled_from([1, 2, 8]), scale=st.floats(0.01, 40))
def test_less_memory_never_makes_a_job_fit(small: float, more: float, count: int, scale: float) -> None:
    footprint = gpu_footprint()
    memory = msgspec.structs.replace(footprint.memory, peak_allocated_bytes=Range.exact(6e9 * scale))
    job = prepare(msgspec.structs.replace(footprint, memory=memory), Constraints(), shipped())
    parts = job_memory(job)
    order = {False: 0, None: 1, True: 2}
    plans = []
    for size in (small, small + more):
        spec = gpu(memory_gb=size)
        plans.append(plan(job, parts, spec, topology_at_counts(spec, count), step_on_gpu(job, spec)))
    less, enough = plans
    assert order[less.fits] <= order[enough.fits]


@settings(deadline=None, max_examples=30)
@given(slower=st.floats(1.01, 4), dearer=st.floats(1.01, 4), name=st.sampled_from(["aaa", "zzz"]), total=st.booleans())
def test_dominated_offer_never_wins(slower: float, dearer: float, name: str, total: bool) -> None:
    good = gpu("mmm")
    bad = gpu(name, fp32_tflops=30 / slower, tf32_tensor_tflops=60 / slower, memory_bandwidth_gbs=600 / slower)
    catalogue = Catalogue((good, bad), offers=(offer("mmm", price=1.0), offer(name, price=dearer)))
    limits: dict[str, Any] = {"total_steps": 1e7} if total else {}
    assert best(advise(cpu_footprint(), catalogue, acquisition="rent", **limits)).gpu == "mmm"


@settings(deadline=None, max_examples=20)
@given(hours=st.floats(1, 500), looser=st.floats(1, 10), budget=st.floats(5, 500))
def test_looser_constraints_never_worsen_the_best(hours: float, looser: float, budget: float) -> None:
    def outcome(deadline_s: float, budget_usd: float) -> tuple[bool, int, float]:
        found = advise(
            cpu_footprint(), acquisition="rent", total_steps=1e6, deadline_s=deadline_s, budget_usd=budget_usd
        )
        if found.recommended is None:
            return (True, 2, float("inf"))
        chosen = best(found)
        assert chosen.time_to_finish_s is not None
        assert chosen.cost_usd is not None
        doubts = (chosen.time_to_finish_s.high > deadline_s) + (chosen.cost_usd.high > budget_usd)
        return (False, doubts, usd(chosen))

    tight = outcome(hours * HOUR, budget)
    assert outcome(hours * HOUR * looser, budget) <= tight
    assert outcome(hours * HOUR, budget * looser) <= tight


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_order_of_catalogue_rows_does_not_matter(seed: int) -> None:
    catalogue, shuffle = shipped(), random.Random(seed)
    parts = [list(part) for part in (catalogue.gpus, catalogue.cpus, catalogue.offers, catalogue.systems)]
    for part in parts:
        shuffle.shuffle(part)
    shuffled = Catalogue(*(tuple(part) for part in parts))  # type: ignore[arg-type]  # four lists of four types
    limits: dict[str, Any] = {"total_steps": 1e6, "deadline_s": 100 * HOUR}
    assert to_json(advise(cpu_footprint(), shuffled, **limits)) == to_json(advise(cpu_footprint(), **limits))


_LOOSER: dict[str, tuple[Any, Any]] = {
    "minimum_memory_bytes": (40 * 10**9, 16 * 10**9),
    "minimum_throughput": (800.0, 200.0),
    "form_factors": (("SXM",), ("SXM", "PCIe")),
    "residency": (("japan",), ("japan", "us", "eu")),
    "ecc": (True, False),
    "power_limit_w": (300.0, 3000.0),
    "budget_usd_per_hour": (1.0, 10.0),
    "vendors": (("AMD",), ("AMD", "NVIDIA")),
    "precisions": ((), ("bf16", "fp16")),
}
"""A constraint → a tight and a loose value."""


@settings(deadline=None, max_examples=25)
@given(
    loosened=st.sampled_from(sorted(_LOOSER)),
    others=st.sets(st.sampled_from(sorted(_LOOSER)), max_size=2),
    steps=st.sampled_from([1e5, 1e7]),
)
def test_a_looser_constraint_of_any_kind_never_worsens_the_best(loosened: str, others: set[str], steps: float) -> None:
    kept = {name: _LOOSER[name][0] for name in others if name != loosened}

    def outcome(value: Any) -> tuple[bool, int, float]:
        limits = {**kept, loosened: value, "total_steps": steps, "acquisition": "rent"}
        found = advise(cpu_footprint(), _few(), **limits)
        if found.recommended is None or best(found).cost_usd is None:
            return (True, 9, float("inf"))
        chosen = best(found)
        reached = chosen.throughput.low if chosen.throughput is not None else 0.0
        doubts = (chosen.fits is None) + (reached < (limits.get("minimum_throughput") or 0.0))
        return (False, doubts, usd(chosen))

    tight, loose = _LOOSER[loosened]
    assert outcome(loose) <= outcome(tight)


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_order_of_rows_does_not_matter_for_services(seed: int) -> None:
    shuffle, few = random.Random(seed), _few()
    parts = [list(part) for part in (few.gpus, few.cpus, few.offers, few.systems)]
    for part in parts:
        shuffle.shuffle(part)
    shuffled = Catalogue(*(tuple(part) for part in parts))  # type: ignore[arg-type]  # four lists of four types
    target = ServingTarget(prompt_tokens=512, output_tokens=128, inter_token_latency_s=0.05, requests_per_second=3)
    footprint = estimate(7 * 10**9, "fp16", "inference")
    assert to_json(advise(footprint, shuffled, serving=target)) == to_json(advise(footprint, few, serving=target))
