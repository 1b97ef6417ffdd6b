"""What a model needs, from its number of parameters alone: formulas, no run.

Inference holds the weights; training holds weights, gradients, the optimizer's state, and for a moment the temporary
of the optimizer's update. Activations depend on the model's shape and the batch: they are added where a batch is given,
from the shape that published language models of that size have.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuscope.advisor.job.optimizers import OptimizerState, optimizer_state
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import (
    Batch,
    Breakdown,
    Footprint,
    FootprintSource,
    Memory,
    Op,
    Precision,
    Provenance,
    Workload,
)
from gpuscope.domain.units import GB, GIB, format_count
from gpuscope.errors import UsageError


class NumberFormat(NamedTuple):
    """How the parameters are held."""

    name: str
    """As in a footprint."""
    label: str
    """As people say it."""
    bytes: float
    trainable: bool = True


_FORMATS = {
    "fp32": NumberFormat("float32", "FP32", 4),
    "fp16": NumberFormat("float16", "FP16", 2),
    "bf16": NumberFormat("bfloat16", "BF16", 2),
    "fp8": NumberFormat("float8_e4m3fn", "FP8", 1, trainable=False),
    "int8": NumberFormat("int8", "INT8", 1, trainable=False),
    "int4": NumberFormat("int4", "INT4", 0.5, trainable=False),
}
_ALIASES = {
    "float32": "fp32", "float": "fp32", "32": "fp32", "tf32": "fp32", "float16": "fp16", "half": "fp16", "16": "fp16",
    "bfloat16": "bf16", "float8": "fp8", "8bit": "int8", "4bit": "int4",
}  # fmt: skip

DTYPES = tuple(_FORMATS)

MOST_PARAMETERS = 10**15
"""A thousand times the largest models; more is a slip of the unit."""
_FORMULAS = "published memory formulas of PyTorch training (weights, gradients, optimizer state)"
_ACTIVATIONS = "arXiv 2205.05198, s·b·h·34 bytes a layer in 16 bits with fused attention"

# Width of a layer over the number of layers: 128 in 7B Llama (4096 / 32) and in GPT-3 175B (12288 / 96). With about
# 12 × width² parameters a layer, the width follows from the parameters alone.
_WIDTH_OVER_LAYERS = 128.0
_PARAMETERS_PER_LAYER = 12.0
_BYTES_16_BIT = 34.0
_USUAL_SEQUENCE = 2048
# Gathered, cached and short-lived tensors besides the formula's: half as much again (assumed).
_ACTIVATION_RANGE = Range(low=0.8, mid=1.0, high=1.5)


def number_format(dtype: str) -> NumberFormat:
    """The number format that a person calls `dtype`.

    Raises:
        UsageError: it is not known; the text lists those that are.
    """
    key = dtype.strip().lower()
    found = _FORMATS.get(_ALIASES.get(key, key))
    if found is None:
        raise UsageError(f"Number format {dtype!r} is not known: use one of {', '.join(DTYPES)}.")
    return found


def estimate(
    parameters: int,
    dtype: str,
    stage: str,
    optimizer: str = "adamw",
    *,
    batch: float | None = None,
    sequence_length: int | None = None,
) -> Footprint:
    """A footprint from formulas.

    Args:
        parameters: how many the model has.
        dtype: fp32, fp16, bf16, fp8, int8 or int4; the last three for inference only.
        stage: training or inference.
        optimizer: for training; see `optimizers.OPTIMIZERS`.
        batch: sequences in a step. Without it activations are not counted in the middle of the range.
        sequence_length: tokens of a sequence; 2048 where only the batch is given.

    Raises:
        UsageError: a value makes no sense or a name is not known.
    """
    _check(parameters, stage, batch, sequence_length)
    format_ = number_format(dtype)
    training = stage == "training"
    if training and not format_.trainable:
        raise UsageError(f"{format_.label} weights cannot be trained as they are: use fp32, fp16 or bf16.")
    known = optimizer_state(optimizer)  # a name that is not known is told for inference, too
    state = known if training else None
    if batch is not None and sequence_length is None:
        sequence_length = _USUAL_SEQUENCE
    if sequence_length is not None and batch is None:
        batch = 1.0
    breakdown, peak = _memory(parameters, format_, state, batch, sequence_length)
    return Footprint(
        source=FootprintSource(kind="estimated"),
        workload=Workload(
            stage=stage,
            parameters=parameters,
            trainable_parameters=parameters if training else 0,
            precision=Precision(compute=format_.name, parameters=format_.name),
            optimizer=state.name if state is not None else None,
            batch=Batch(per_device=batch, global_=batch, unit="samples" if batch is not None else None),
            sequence_length=sequence_length,
        ),
        memory=Memory(peak_allocated_bytes=peak, breakdown=breakdown),
        ops=_ops(parameters, format_, batch, sequence_length, training=training),
        provenance=_provenance(format_, state, batch),
    )


def estimate_sentence(footprint: Footprint) -> str:
    """The answer of `estimate` in plain words: what holding it takes, and what training it takes at the peak."""
    workload, memory = footprint.workload, footprint.memory
    weights, peak = memory.breakdown.parameters_bytes, memory.peak_allocated_bytes
    if weights is None or peak is None or workload.parameters is None:
        return "This footprint does not hold an estimate."
    format_ = number_format(_short_name(workload.precision.parameters))
    count = format_count(workload.parameters)
    holding = f"{count} parameters in {format_.label}: {_gigabytes(weights)} of weights"
    batch = "" if workload.batch.per_device is None else (
        f" with {workload.batch.per_device:g} sequences of {workload.sequence_length} tokens"
    )  # fmt: skip
    if workload.stage == "inference":
        return f"{holding}; inference takes {_range_words(peak)}{batch}, before its KV cache."
    without = "" if batch else ", before activations"
    return f"{holding}; training with {workload.optimizer} takes {_range_words(peak)} at the peak{batch}{without}."


def _check(parameters: int, stage: str, batch: float | None, sequence_length: int | None) -> None:
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


def _memory(
    parameters: int, format_: NumberFormat, state: OptimizerState | None, batch: float | None, sequence: int | None
) -> tuple[Breakdown, Range]:
    weights = round(parameters * format_.bytes)
    tokens = (batch or 1.0) * (sequence or _USUAL_SEQUENCE)
    activations = _activation_bytes(parameters, format_, tokens, training=state is not None)
    counted = activations.mid if batch is not None else 0.0
    if state is None:
        breakdown = Breakdown(parameters_bytes=weights, activations_bytes=round(counted) if batch is not None else None)
        low = weights + (activations.low if batch is not None else 0.0)
        return breakdown, Range(low=low, mid=weights + counted, high=weights + activations.high)
    state_bytes = round(parameters * state.tensors * (state.bytes_each or format_.bytes))
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
    low = held + (activations.low if batch is not None else 0.0)
    mid = held + max(temporary, counted)
    return breakdown, Range(low=low, mid=mid, high=max(mid, held + temporary + activations.high))


def _width(parameters: int) -> float:
    """Width of a layer of a language model with so many parameters."""
    return math.cbrt(parameters * _WIDTH_OVER_LAYERS / _PARAMETERS_PER_LAYER)


def _activation_bytes(parameters: int, format_: NumberFormat, tokens: float, *, training: bool) -> Range:
    width = _width(parameters)
    layers = max(1.0, width / _WIDTH_OVER_LAYERS)
    # Inference frees a layer's tensors when the next one has read them.
    kept_layers = layers if training else 1.0
    value = tokens * width * _BYTES_16_BIT * kept_layers * max(1.0, format_.bytes / 2)
    return Range(
        low=value * _ACTIVATION_RANGE.low, mid=value * _ACTIVATION_RANGE.mid, high=value * _ACTIVATION_RANGE.high
    )


def _ops(
    parameters: int, format_: NumberFormat, batch: float | None, sequence: int | None, *, training: bool
) -> tuple[Op, ...]:
    """Work of a dense language model: two FLOPs for each parameter and token forward and twice that backward, and the
    activations read and written between the products."""
    if batch is None or sequence is None:
        return ()
    tokens = batch * sequence
    width = round(_width(parameters))
    weights = parameters * format_.bytes
    moved = _activation_bytes(parameters, format_, tokens, training=True).mid
    forward = (
        _gemm("gemm", format_, 2.0 * parameters * tokens, weights, width),
        _elementwise("elementwise", format_, moved, moved),
    )
    if not training:
        return forward
    return (
        *forward,
        _gemm("gemm_backward", format_, 4.0 * parameters * tokens, 3 * weights, width),
        _elementwise("elementwise_backward", format_, 2 * moved, moved),
    )


def _gemm(kind: str, format_: NumberFormat, flops: float, weight_bytes: float, width: int) -> Op:
    return Op(
        kind=kind, class_="gemm", dtype=format_.name, flops=flops, bytes_read=weight_bytes, bytes_written=0.0,
        kernels=0.0, n=width, k=width,
    )  # fmt: skip


def _elementwise(kind: str, format_: NumberFormat, read: float, written: float) -> Op:
    return Op(
        kind=kind, class_="elementwise", dtype=format_.name, bytes_read=read, bytes_written=written, kernels=0.0
    )  # fmt: skip


def _provenance(format_: NumberFormat, state: OptimizerState | None, batch: float | None) -> dict[str, Provenance]:
    def derived(how: str, source: str = _FORMULAS) -> Provenance:
        return Provenance(kind="derived", how=how, source=source)

    pointers = {
        "/workload/parameters": Provenance(kind="assumed", how="given by the person"),
        "/memory/breakdown/parameters_bytes": derived(f"parameters × {format_.bytes:g} bytes"),
    }
    total = "weights"
    if state is not None:
        pointers["/memory/breakdown/gradients_bytes"] = derived(f"parameters × {format_.bytes:g} bytes")
        each = state.bytes_each or format_.bytes
        pointers["/memory/breakdown/optimizer_state_bytes"] = derived(
            f"{state.name}: {state.formula}, parameters × {state.tensors} × {each:g} bytes"
        )
        pointers["/memory/breakdown/temporaries_bytes"] = derived(
            "multi-tensor update: one temporary as large as the parameters; fused updates have none"
        )
        total = "weights + gradients + optimizer state + the larger of temporary and activations"
    if batch is not None:
        how = "layer width from the parameters, as in published language models"
        pointers["/memory/breakdown/activations_bytes"] = Provenance(kind="assumed", how=how, source=_ACTIVATIONS)
        pointers["/ops"] = derived("2 FLOPs for each parameter and token forward, 4 backward", "common approximation")
    else:
        total += f"; activations of one sequence of {_USUAL_SEQUENCE} tokens only in the high end"
    pointers["/memory/peak_allocated_bytes"] = derived(total)
    return pointers


def _short_name(dtype: str | None) -> str:
    return next((key for key, value in _FORMATS.items() if value.name == dtype), dtype or "")


def _gigabytes(value: float) -> str:
    """In vendors' decimal units, three figures, with the binary ones beside them."""
    if value < GB:
        return f"{_three(value / 1e6)} MB"
    return f"{_three(value / GB)} GB ({_three(value / GIB)} GiB)"


def _three(value: float) -> str:
    """Three significant figures, thousands in full: `26.1`, `1,400`."""
    return f"{float(f'{value:.3g}'):,g}" if value < 1e6 else f"{value:,.0f}"


def _range_words(value: Range) -> str:
    unit, size = ("GB", GB) if value.mid >= GB else ("MB", 10**6)
    low, mid, high = (_three(end / size) for end in (value.low, value.mid, value.high))
    return _gigabytes(value.mid) if low == high else f"about {mid} {unit} ({low}–{high} {unit})"
