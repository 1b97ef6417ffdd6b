"""What a model needs, from its number of parameters or its dimensions alone: formulas, no run.

Inference holds the weights and the KV cache of the requests in work; training holds weights, gradients, the optimizer's
state, and for a moment the temporary of the optimizer's update. Activations depend on the model's shape and the batch:
they are added where a batch is given, from the given dimensions or those of published language models of that size.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.job.architecture import (
    USUAL_SEQUENCE,
    WIDTH_OVER_LAYERS,
    active_parameters,
    assumed_architecture,
    cached_tokens,
    check_architecture,
    count_parameters,
    key_value_width,
    width_of,
)
from gpuscope.advisor.job.estimate_provenance import estimate_provenance
from gpuscope.advisor.job.number_formats import NumberFormat, number_format
from gpuscope.advisor.job.optimizers import OptimizerState, optimizer_state
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import (
    Batch,
    Breakdown,
    Footprint,
    FootprintSource,
    Framework,
    Memory,
    Op,
    Precision,
    Workload,
)
from gpuscope.errors import UsageError

MOST_PARAMETERS = 10**15
"""A thousand times the largest models; more is a slip of the unit."""
_BYTES_16_BIT = 34.0
"""Of activations for each token and unit of width (arXiv 2205.05198, with fused attention)."""
_ACTIVATION_RANGE = Range(low=0.8, mid=1.0, high=1.5)
"""Gathered, cached and short-lived tensors besides the formula's: half as much again (assumed)."""
_LEAST_CACHE_BYTES = 2.0
"""Of a cached value: engines keep caches in 16 bits where weights are quantised."""


class Requests(NamedTuple):
    """What a served model has in work at the same time."""

    prompt_tokens: float
    output_tokens: float
    concurrent: float = 1.0


class _Model(NamedTuple):
    parameters: int
    active: float
    """Parameters that a token passes through."""
    width: float
    layers: float
    format: NumberFormat


def estimate(
    parameters: int | None,
    dtype: str,
    stage: str,
    optimizer: str = "adamw",
    *,
    batch: float | None = None,
    sequence_length: int | None = None,
    architecture: Architecture | None = None,
    requests: Requests | None = None,
    engine: str | None = None,
) -> Footprint:
    """A footprint from formulas.

    Args:
        parameters: how many the model has; None: as many as its dimensions make.
        dtype: fp32, fp16, bf16, fp8, int8 or int4; the last three for inference only.
        stage: training or inference.
        optimizer: for training; see `optimizers.OPTIMIZERS`.
        batch: sequences in a step. Without it activations are not counted in the middle of the range.
        sequence_length: tokens of a sequence; `USUAL_SEQUENCE` where only the batch is given.
        architecture: dimensions of the transformer; None: where they are needed, those of published models.
        requests: for inference: their KV cache is counted.
        engine: what serves the model, such as vllm or llama.cpp.

    Raises:
        UsageError: a value makes no sense or a name is not known.
    """
    parameters = _parameters(parameters, architecture)
    _check(parameters, stage, batch, sequence_length, requests)
    format_ = number_format(dtype)
    training = stage == "training"
    if training and not format_.trainable:
        raise UsageError(f"{format_.label} weights cannot be trained as they are: use fp32, fp16 or bf16.")
    known = optimizer_state(optimizer)  # a name that is not known is told for inference, too
    state = known if training else None
    if batch is not None and sequence_length is None:
        sequence_length = USUAL_SEQUENCE
    if sequence_length is not None and batch is None:
        batch = 1.0
    model = _model(parameters, format_, architecture)
    cache = None if requests is None else _cache_bytes(model, architecture, requests)
    breakdown, peak = _memory(model, state, batch, sequence_length, cache)
    return Footprint(
        source=FootprintSource(kind="estimated"),
        workload=Workload(
            stage=stage,
            framework=None if engine is None else Framework(name=engine),
            architecture=architecture,
            parameters=parameters,
            trainable_parameters=parameters if training else 0,
            precision=Precision(compute=format_.name, parameters=format_.name),
            optimizer=state.name if state is not None else None,
            batch=Batch(per_device=batch, global_=batch, unit="samples" if batch is not None else None),
            sequence_length=sequence_length,
        ),
        memory=Memory(peak_allocated_bytes=peak, breakdown=breakdown),
        ops=_ops(model, batch, sequence_length, training=training),
        provenance=estimate_provenance(format_, state, batch, architecture, cached=cache is not None),
    )


def _parameters(parameters: int | None, architecture: Architecture | None) -> int:
    if architecture is not None:
        check_architecture(architecture)
    if parameters is not None:
        return parameters
    if architecture is None:
        raise UsageError("Give the number of parameters, like 7B, or the model's dimensions with its vocabulary.")
    if architecture.vocabulary_size is None:
        raise UsageError("Without the vocabulary the parameters cannot be counted: give it, or their number.")
    return count_parameters(architecture).total


def _check(
    parameters: int, stage: str, batch: float | None, sequence_length: int | None, requests: Requests | None
) -> None:
    if parameters < 1:
        raise UsageError("The number of parameters must be 1 or more, like 7B or 350M.")
    if parameters > MOST_PARAMETERS:
        raise UsageError(
            f"{parameters:.3g} parameters are more than any machine holds: check the unit, like 7B or 350M."
        )
    if stage not in {"training", "inference"}:
        raise UsageError(f"Stage {stage!r} is not known: use training or inference.")
    if batch is not None and not batch > 0:
        raise UsageError("The batch size must be above zero.")
    if sequence_length is not None and sequence_length < 1:
        raise UsageError("The sequence length must be 1 token or more.")
    if requests is None:
        return
    if stage != "inference":
        raise UsageError("Prompts and answers belong to inference: leave them out, or choose that stage.")
    if not min(requests) > 0:
        raise UsageError("Tokens of prompt and answer and the requests in work must be above zero.")


def _model(parameters: int, format_: NumberFormat, architecture: Architecture | None) -> _Model:
    if architecture is None:
        width = width_of(parameters)
        return _Model(parameters, float(parameters), width, max(1.0, width / WIDTH_OVER_LAYERS), format_)
    active = active_parameters(architecture, parameters)
    return _Model(parameters, active, float(architecture.hidden_size), float(architecture.layers), format_)


def _cache_bytes(model: _Model, architecture: Architecture | None, requests: Requests) -> float:
    """Keys and values of all layers for the tokens of all requests in work, at their ends."""
    shape = architecture or assumed_architecture(model.parameters).architecture
    tokens = cached_tokens(shape, requests.prompt_tokens + requests.output_tokens)
    each = key_value_width(shape) * shape.layers * max(_LEAST_CACHE_BYTES, model.format.bytes)
    return requests.concurrent * tokens * each


def _memory(
    model: _Model, state: OptimizerState | None, batch: float | None, sequence: int | None, cache: float | None
) -> tuple[Breakdown, Range]:
    weights = round(model.parameters * model.format.bytes)
    tokens = (batch or 1.0) * (sequence or USUAL_SEQUENCE)
    activations = _activation_bytes(model, tokens, training=state is not None)
    counted = activations.mid if batch is not None else 0.0
    least = activations.low if batch is not None else 0.0
    if state is None:
        return _serving_memory(model, weights, activations, counted, least, batch, cache)
    state_bytes = round(model.parameters * state.tensors * (state.bytes_each or model.format.bytes))
    held = 2 * weights + state_bytes
    temporary = weights if state.tensors else 0
    breakdown = Breakdown(
        parameters_bytes=weights,
        gradients_bytes=weights,
        optimizer_state_bytes=state_bytes,
        temporaries_bytes=temporary,
        activations_bytes=round(counted) if batch is not None else None,
    )
    # The update's temporary comes after the backward pass has freed the activations: the larger one makes the peak.
    mid = held + max(temporary, counted)
    return breakdown, Range(low=held + least, mid=mid, high=max(mid, held + temporary + activations.high))


def _serving_memory(
    model: _Model,
    weights: int,
    activations: Range,
    counted: float,
    least: float,
    batch: float | None,
    cache: float | None,
) -> tuple[Breakdown, Range]:
    breakdown = Breakdown(
        parameters_bytes=weights,
        activations_bytes=round(counted) if batch is not None else None,
        kv_cache_bytes=None if cache is None else round(cache),
    )
    held = weights + (cache or 0.0)
    scales = model.parameters * ((model.format.most_bytes or model.format.bytes) - model.format.bytes)
    return breakdown, Range(low=held + least, mid=held + counted, high=held + scales + activations.high)


def _activation_bytes(model: _Model, tokens: float, *, training: bool) -> Range:
    # Inference frees a layer's tensors when the next one has read them.
    kept_layers = model.layers if training else 1.0
    value = tokens * model.width * _BYTES_16_BIT * kept_layers * max(1.0, model.format.bytes / 2)
    return _ACTIVATION_RANGE.scaled(value)


def _ops(model: _Model, batch: float | None, sequence: int | None, *, training: bool) -> tuple[Op, ...]:
    """Work of a language model: two FLOPs for each active parameter and token forward and twice that backward, and the
    activations read and written between the products."""
    if batch is None or sequence is None:
        return ()
    tokens = batch * sequence
    weights = model.parameters * model.format.bytes
    moved = _activation_bytes(model, tokens, training=True).mid
    forward = (
        _gemm("gemm", model, 2.0 * model.active * tokens, weights),
        _elementwise("elementwise", model.format, moved, moved),
    )
    if not training:
        return forward
    return (
        *forward,
        _gemm("gemm_backward", model, 4.0 * model.active * tokens, 3 * weights),
        _elementwise("elementwise_backward", model.format, 2 * moved, moved),
    )


def _gemm(kind: str, model: _Model, flops: float, weight_bytes: float) -> Op:
    width = round(model.width)
    return Op(
        kind=kind, class_="gemm", dtype=model.format.name, flops=flops, bytes_read=weight_bytes, bytes_written=0.0,
        kernels=0.0, n=width, k=width,
    )  # fmt: skip


def _elementwise(kind: str, format_: NumberFormat, read: float, written: float) -> Op:
    return Op(
        kind=kind, class_="elementwise", dtype=format_.name, bytes_read=read, bytes_written=written, kernels=0.0
    )  # fmt: skip
