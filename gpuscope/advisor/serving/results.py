"""From the best option of a language model to the plan: figures of all copies as ranges, the day, and the reasons."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.serving.constants import ServingConstants
from gpuscope.advisor.serving.engine import Point, operate, operate_at_rate
from gpuscope.advisor.serving.explain import explanation_of
from gpuscope.advisor.serving.generative import Option
from gpuscope.advisor.serving.load import Load, load_of
from gpuscope.advisor.serving.plan import ServingPlan
from gpuscope.advisor.serving.slices import Slice
from gpuscope.advisor.serving.targets import risks_of
from gpuscope.advisor.serving.uncertainty import spread_of
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout
from gpuscope.domain.serving import Serving, ServingTarget


class Setting(NamedTuple):
    """On what, and with what, an option is run."""

    here: int | None
    """Copies that there is room for; None: as many as the load needs."""
    constants: ServingConstants
    vendor: str | None
    """Of the GPU; None: it is a CPU."""
    part: Slice | None
    notes: tuple[str, ...]
    """Sentences on what was assumed; empty ones are left out."""
    slower: float = 1.0
    """How many times as long a token may take with another engine, where none is named."""


def plan_of(best: Option, target: ServingTarget, setting: Setting) -> ServingPlan:
    """The plan of an option that fits, or may fit."""
    full, constants, part = best.full, setting.constants, setting.part
    load = load_of(target, full.batch, full.latency_s, setting.here)
    missed = [*best.missed, *([load.missed] if load.missed else [])]

    def spread(published: float) -> float:
        return spread_of(published, setting.vendor, assumed=best.model.assumed, fits=best.fits)

    token, throughput = spread(constants.token_spread), spread(constants.throughput_spread)
    busiest = _at_load(best, target, load)
    done = load.replicas * full.requests_per_s
    serving = Serving(
        replicas=load.replicas,
        concurrent_per_replica=full.batch,
        time_to_first_token_s=around(busiest.first_token_s, spread(constants.first_token_spread)),
        inter_token_latency_s=_time(busiest.inter_token_s, token, setting.slower),
        latency_s=_time(busiest.latency_s, token, setting.slower),
        requests_per_second=_rate(done, throughput, setting.slower),
        tokens_per_second=_rate(done * full.tokens_per_request, throughput, setting.slower),
        weight_dtype=best.model.format.name,
        weights_bytes=round(best.model.weights_bytes),
        cache_bytes_per_token=best.model.cache_bytes_per_token,
        gpu_share=None if part is None else part.compute_share,
        replica_hours_per_day=load.replica_hours,
        replicas_by_hour=load.by_hour,
        autoscaling_saving_share=load.saving_share,
    )
    gpus = load.replicas * best.split.gpus
    return ServingPlan(
        serving=serving,
        layout=Layout(
            data_parallel=setting.here or load.replicas,
            tensor_parallel=best.split.tensor,
            pipeline_parallel=best.split.stages,
        ),
        need=best.need,
        fits=best.fits,
        missed=tuple(missed),
        risks=() if missed else risks_of(serving, target),
        gpus_needed=gpus if part is None else gpus * part.compute_share,
        explain=lambda: explanation_of(best, serving, load, busiest),
        assumptions=tuple(sentence for sentence in (*setting.notes, _architecture_note(best)) if sentence),
        utilisation=load.utilisation,
    )


def around(value: float, spread: float) -> Range:
    """A range of a factor below and above."""
    return Range(low=value / spread, mid=value, high=value * spread)


def _time(value: float, spread: float, slower: float) -> Range:
    found = around(value, spread)
    return Range(low=found.low, mid=found.mid, high=max(found.high, value * slower))


def _rate(value: float, spread: float, slower: float) -> Range:
    found = around(value, spread)
    return Range(low=min(found.low, value / slower), mid=found.mid, high=found.high)


def _at_load(best: Option, target: ServingTarget, load: Load) -> Point:
    """How a copy runs in the busiest hour: with its part of the load; in a full batch where none is given."""
    points = []
    if target.requests_per_second is not None:
        rate = target.requests_per_second / load.replicas
        points.append(operate_at_rate(best.model, best.device, rate, best.request, best.full.batch))
    if target.concurrent_users is not None:
        users = max(1.0, target.concurrent_users / load.replicas)
        points.append(operate(best.model, best.device, min(users, best.full.batch), best.request))
    known = [point for point in points if point is not None]
    return max(known, key=lambda point: point.batch, default=best.full)


def _architecture_note(best: Option) -> str:
    return f"The model's dimensions are {best.model.how}." if best.model.assumed else ""
