"""From the best option of a language model to the plan: figures of all copies as ranges, the day, and the reasons."""

from __future__ import annotations

from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.explain import explanation_of
from gpuscope.advisor.serving.generative import Option
from gpuscope.advisor.serving.load_curve import LoadCurve, over_the_day
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.replicas import demand
from gpuscope.advisor.serving.slices import Slice
from gpuscope.advisor.serving.uncertainty import spread_of
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout
from gpuscope.domain.serving import Serving, ServingTarget


def plan_of(
    best: Option,
    topology: Topology,
    target: ServingTarget,
    constants: ServingConstants,
    part: Slice | None,
    note: str,
    vendor: str | None,
) -> ServingPlan:
    """The plan of an option that fits, or may fit."""
    here = max(1, topology.gpus // best.tensor_parallel)
    replicas = best.demand.replicas if best.demand is not None else here
    missed = list(best.missed)
    if replicas > here and part is None:
        assert best.demand is not None
        missed.append(f"the load needs {replicas} copies and there is room for {here}: {best.demand.how}")
    curve = _curve(best, target)

    def spread(published: float) -> float:
        return spread_of(published, vendor, assumed=best.model.assumed, fits=best.fits)

    token, throughput = spread(constants.token_spread), spread(constants.throughput_spread)
    full = best.full
    output_tokens = full.tokens_per_request
    serving = Serving(
        replicas=replicas,
        concurrent_per_replica=full.batch,
        time_to_first_token_s=around(full.first_token_s, spread(constants.first_token_spread)),
        inter_token_latency_s=around(full.inter_token_s, token),
        latency_s=around(full.latency_s, token),
        requests_per_second=around(replicas * full.requests_per_s, throughput),
        tokens_per_second=around(replicas * full.requests_per_s * output_tokens, throughput),
        weight_dtype=best.model.format.name,
        weights_bytes=round(best.model.weights_bytes),
        cache_bytes_per_token=best.model.cache_bytes_per_token,
        gpu_share=None if part is None else part.compute_share,
        replica_hours_per_day=None if curve is None else curve.replica_hours,
        replicas_by_hour=() if curve is None else curve.replicas_by_hour,
        autoscaling_saving_share=None if curve is None else curve.saving_share,
    )
    gpus = replicas * best.tensor_parallel
    assumptions = [sentence for sentence in (note, _architecture_note(best)) if sentence]
    return ServingPlan(
        serving=serving,
        layout=Layout(data_parallel=here, tensor_parallel=best.tensor_parallel),
        need=best.need,
        fits=best.fits,
        missed=tuple(missed),
        gpus_needed=gpus if part is None else gpus * part.compute_share,
        explanation=explanation_of(best, serving, curve),
        assumptions=tuple(assumptions),
        utilisation=_utilisation(best, replicas),
    )


def around(value: float, spread: float) -> Range:
    """A range of a factor below and above."""
    return Range(low=value / spread, mid=value, high=value * spread)


def _curve(best: Option, target: ServingTarget) -> LoadCurve | None:
    if best.demand is None:
        return None

    def replicas_at(load_share: float) -> int:
        wanted = demand(target, best.full.batch, best.full.latency_s, load_share)
        return 1 if wanted is None else wanted.replicas

    return over_the_day(target.hourly_load, replicas_at)


def _utilisation(best: Option, replicas: int) -> float | None:
    if best.demand is None:
        return None
    return min(1.0, best.demand.slots / (replicas * best.full.batch))


def _architecture_note(best: Option) -> str:
    return f"The model's dimensions are {best.model.how}." if best.model.assumed else ""
