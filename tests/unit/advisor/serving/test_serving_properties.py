"""What must hold for any model, GPU and target."""

from __future__ import annotations

import math

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.advisor.memory.memory_model import job_memory
from gpuscope.advisor.parallel.topology import topology_at_counts
from gpuscope.advisor.serving.load_curve import over_the_day
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.replicas import demand
from gpuscope.advisor.serving.serve import serve
from gpuscope.domain.serving import ServingTarget
from tests.unit.advisor.advisor_jobs import shipped
from tests.unit.advisor.serving.serving_jobs import language_model, plan

_GPUS = ("l4", "rtx-4090", "a100-sxm4-80gb", "h200-sxm5-141gb", "mi300x")
_MODELS = (1_100_000_000, 6_738_000_000, 13_016_000_000)
_ORDER = {False: 0, None: 1, True: 2}


def _with_memory(gigabytes: float, parameters: int) -> ServingPlan:
    gpu = shipped().gpu("l4")
    assert gpu is not None
    job = language_model(parameters)
    cut = msgspec.structs.replace(gpu, memory_gb=gigabytes)
    target = ServingTarget(prompt_tokens=500.0, output_tokens=200.0)
    return serve(job, job_memory(job), cut, topology_at_counts(cut, 1), target)


@settings(max_examples=40, deadline=None)
@given(st.floats(2, 80), st.floats(0.1, 1.0), st.sampled_from(_MODELS))
def test_less_memory_never_makes_a_model_fit_nor_takes_more_requests(
    more: float, share: float, parameters: int
) -> None:
    roomy, tight = _with_memory(more, parameters), _with_memory(more * share, parameters)
    assert _ORDER[tight.fits] <= _ORDER[roomy.fits]
    if tight.serving is not None and roomy.serving is not None:
        assert (tight.serving.concurrent_per_replica or 0) <= (roomy.serving.concurrent_per_replica or 0)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(_GPUS), st.sampled_from(_MODELS), st.floats(0.005, 0.2), st.floats(1.0, 5.0))
def test_a_looser_latency_never_lowers_the_throughput(
    gpu_id: str, parameters: int, strict_s: float, looser: float
) -> None:
    job = language_model(parameters)
    strict = plan(job, gpu_id, inter_token_latency_s=strict_s)
    loose = plan(job, gpu_id, inter_token_latency_s=strict_s * looser)
    if strict.serving is None:
        return
    assert loose.serving is not None
    assert strict.serving.requests_per_second is not None
    assert loose.serving.requests_per_second is not None
    assert loose.serving.requests_per_second.mid >= strict.serving.requests_per_second.mid * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 1e4), st.floats(1.0, 3.0), st.integers(1, 512), st.floats(0.01, 60))
def test_more_users_never_need_fewer_copies(users: float, more: float, batch: int, latency_s: float) -> None:
    few = demand(ServingTarget(concurrent_users=users), batch, latency_s)
    many = demand(ServingTarget(concurrent_users=users * more), batch, latency_s)
    assert few is not None
    assert many is not None
    assert many.replicas >= few.replicas
    faster = demand(ServingTarget(requests_per_second=users), batch, latency_s)
    slower = demand(ServingTarget(requests_per_second=users), batch, latency_s * more)
    assert faster is not None
    assert slower is not None
    assert slower.replicas >= faster.replicas
    assert faster.slots >= users * latency_s


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(_GPUS), st.floats(1, 2000), st.floats(1.0, 3.0))
def test_more_users_never_need_fewer_gpus(gpu_id: str, users: float, more: float) -> None:
    job = language_model()
    few = plan(job, gpu_id, 8, concurrent_users=users, inter_token_latency_s=0.1)
    many = plan(job, gpu_id, 8, concurrent_users=users * more, inter_token_latency_s=0.1)
    assert many.gpus_needed >= few.gpus_needed


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 100), min_size=24, max_size=24).filter(lambda loads: max(loads) > 0))
def test_switching_copies_never_costs_more_than_all_day(loads: list[float]) -> None:
    curve = over_the_day(loads, lambda share: math.ceil(20 * share))
    assert curve is not None
    most = max(curve.replicas_by_hour)
    assert most == 20
    assert 24 <= curve.replica_hours <= 24 * most
    assert 0 <= curve.saving_share < 1
