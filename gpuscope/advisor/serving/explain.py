"""The figures of a service unfolded into their parts."""

from __future__ import annotations

from gpuscope.advisor.serving.engine import Point, StepParts
from gpuscope.advisor.serving.generative import Option
from gpuscope.advisor.serving.load import Load, load_trees
from gpuscope.domain.recommendation import Explanation
from gpuscope.domain.serving import Serving
from gpuscope.domain.units import format_bytes, format_duration

_FITTED = "derived: shares and latencies fitted to published inference rates (study decoding)"


def explanation_of(best: Option, serving: Serving, load: Load, busiest: Point) -> Explanation:
    """The tree of one service; `busiest`: how a copy runs in the busiest hour."""
    full = best.full
    inputs = [
        _batch(best),
        _first_token(busiest),
        _inter_token(busiest),
        _throughput(full, serving),
        _point("One request alone", best.alone),
        _point("A full batch", full),
        _model(best),
        Explanation(name="Sustained rates", value=f"of {_gpus(best)}", formula=best.device.how, provenance=_FITTED),
    ]
    inputs += load_trees(load)
    copies_words = "copy" if serving.replicas == 1 else "copies"
    return Explanation(
        name="Serving",
        value=f"{serving.replicas} {copies_words}, {full.batch:.0f} requests in a batch",
        formula="ranges: as far as 90% of published rows lie from what the model says of them",
        provenance="derived",
        inputs=tuple(inputs),
    )


def _batch(best: Option) -> Explanation:
    limits = (
        Explanation(name="Memory takes", value=f"{best.memory_batch} requests", formula="free memory ÷ cache of one"),
    )
    return Explanation(
        name="Batch",
        value=f"{best.full.batch:.0f} requests",
        formula="the most with which the memory is enough and every latency target holds, up to the engine's limit",
        provenance="derived",
        inputs=limits,
    )


def _first_token(point: Point) -> Explanation:
    inputs = (
        *_parts(point.prefill),
        Explanation(
            name="Waiting",
            value=format_duration(point.waiting_s),
            formula="half a decode step + ρ/(2(1−ρ)) × prefill, ρ the share of time spent on prompts",
            provenance="derived: queue with fixed service times (Pollaczek-Khinchine)",
        ),
        Explanation(
            name="Outside the device",
            value=format_duration(point.first_token_s - point.prefill.seconds - point.waiting_s),
            formula="server, tokenizer and scheduler",
            provenance=_FITTED,
        ),
    )
    return Explanation(
        name="Time to first token",
        value=format_duration(point.first_token_s),
        formula="prefill + waiting + outside the device; prefill = √(weights² + products²) + starts + messages",
        provenance=_FITTED,
        inputs=inputs,
    )


def _gpus(best: Option) -> str:
    return "one device" if best.split.gpus == 1 else f"each of {best.split.gpus} GPUs"


def _inter_token(point: Point) -> Explanation:
    others = Explanation(
        name="Prompts of others",
        value=format_duration(max(0.0, point.inter_token_s - point.step.seconds)),
        formula="(batch − 1) × prefill ÷ output tokens",
    )
    return Explanation(
        name="Inter-token latency",
        value=format_duration(point.inter_token_s),
        formula="√(weights² + products²) + cache + starts + messages + prompts of others, "
        f"with {point.batch:.3g} requests in work",
        provenance=_FITTED,
        inputs=(*_parts(point.step), others),
    )


def _parts(step: StepParts) -> tuple[Explanation, ...]:
    rows = (
        ("Weights", step.weights_s, "bytes read ÷ GPUs ÷ sustained bandwidth"),
        ("Products", step.products_s, "2 FLOPs × active weights × tokens (and attention) ÷ GPUs ÷ sustained rate"),
        ("Cache", step.cache_s, "batch × keys and values of a sequence ÷ sustained bandwidth"),
        ("Starts", step.starts_s, "layers × fixed time of a layer"),
        ("Messages", step.messages_s, "2 all-reduces a layer"),
    )
    return tuple(
        Explanation(name=name, value=format_duration(seconds), formula=formula)
        for name, seconds, formula in rows
        if seconds
    )


def _throughput(point: Point, serving: Serving) -> Explanation:
    return Explanation(
        name="Throughput",
        value=f"{point.requests_per_s * serving.replicas:.3g} requests/s",
        formula="copies × batch ÷ (prefill + output steps + prompts of others)",
        provenance="derived",
    )


def _point(name: str, point: Point) -> Explanation:
    return Explanation(
        name=name,
        value=f"{format_duration(point.inter_token_s)} a token",
        formula=f"first token after {format_duration(point.first_token_s)}, "
        f"all after {format_duration(point.latency_s)}",
        provenance=_FITTED,
    )


def _model(best: Option) -> Explanation:
    model = best.model
    cache = Explanation(
        name="Cache of a token",
        value=format_bytes(model.cache_bytes_per_token),
        formula="layers × (keys + values of the key-value heads, or the latent) × bytes of a value",
        provenance="assumed" if model.assumed else "given",
    )
    return Explanation(
        name="Weights",
        value=format_bytes(model.weights_bytes),
        formula=model.format.how,
        provenance=model.how,
        inputs=(cache,),
    )
