"""From the best option of a language model to the plan: figures of all copies as ranges, the day, and the reasons."""

from __future__ import annotations

from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.engine import Point, operate_at_rate
from gpuscope.advisor.serving.explain import explanation_of
from gpuscope.advisor.serving.generative import Option
from gpuscope.advisor.serving.load import Load, load_of
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.slices import Slice
from gpuscope.advisor.serving.uncertainty import spread_of
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout
from gpuscope.domain.serving import Serving, ServingTarget


def plan_of(
    best: Option,
    here: int,
    target: ServingTarget,
    constants: ServingConstants,
    part: Slice | None,
    note: str,
    vendor: str | None,
) -> ServingPlan:
    """The plan of an option that fits, or may fit, where there is room for `here` copies."""
    full = best.full
    load = load_of(target, full.batch, full.latency_s, here)
    missed = [*best.missed, *([load.missed] if load.missed else [])]

    def spread(published: float) -> float:
        return spread_of(published, vendor, assumed=best.model.assumed, fits=best.fits)

    token, throughput = spread(constants.token_spread), spread(constants.throughput_spread)
    serving = Serving(
        replicas=load.replicas,
        concurrent_per_replica=full.batch,
        time_to_first_token_s=around(full.first_token_s, spread(constants.first_token_spread)),
        inter_token_latency_s=around(full.inter_token_s, token),
        latency_s=around(full.latency_s, token),
        requests_per_second=around(load.replicas * full.requests_per_s, throughput),
        tokens_per_second=around(load.replicas * full.requests_per_s * full.tokens_per_request, throughput),
        weight_dtype=best.model.format.name,
        weights_bytes=round(best.model.weights_bytes),
        cache_bytes_per_token=best.model.cache_bytes_per_token,
        gpu_share=None if part is None else part.compute_share,
        replica_hours_per_day=load.replica_hours,
        replicas_by_hour=load.by_hour,
        autoscaling_saving_share=load.saving_share,
    )
    gpus = load.replicas * best.tensor_parallel
    return ServingPlan(
        serving=serving,
        layout=Layout(data_parallel=here, tensor_parallel=best.tensor_parallel),
        need=best.need,
        fits=best.fits,
        missed=tuple(missed),
        gpus_needed=gpus if part is None else gpus * part.compute_share,
        explain=lambda: explanation_of(best, serving, load, _at_load(best, target, load)),
        assumptions=tuple(sentence for sentence in (note, _architecture_note(best)) if sentence),
        utilisation=load.utilisation,
    )


def around(value: float, spread: float) -> Range:
    """A range of a factor below and above."""
    return Range(low=value / spread, mid=value, high=value * spread)


def _at_load(best: Option, target: ServingTarget, load: Load) -> Point | None:
    """How a copy runs with its part of the busiest hour's requests; None where their rate is not given."""
    if target.requests_per_second is None:
        return None
    rate = target.requests_per_second / load.replicas
    return operate_at_rate(best.model, best.device, rate, best.request, best.full.batch)


def _architecture_note(best: Option) -> str:
    return f"The model's dimensions are {best.model.how}." if best.model.assumed else ""
