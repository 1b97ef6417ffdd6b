"""The work of a training step of a transformer in a layout, from its dimensions: FLOPs, bytes, and their time.

A layer's forward pass multiplies by the matrices of attention (query, key, value; output) and of the feed-forward part,
2 FLOPs for each weight and token; the backward pass takes twice that; with activation checkpointing the forward pass
runs twice. Fused attention takes 4·s·width FLOPs a token, half of it with a causal mask, and 2.5 times that backward
(FlashAttention). Norms, residuals and activations move bytes and compute next to nothing. Matrices that tensor
parallelism makes narrow, and few tokens, leave a GPU partly idle: n/(n + n₀).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuscope.advisor.job.architecture import cached_tokens, count_parameters, head_size
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.table import LayoutTable
from gpuscope.domain.architecture import Architecture

FORWARD_BACKWARD = 3.0
"""Matrix work of both passes over that of the forward pass."""
ATTENTION_BACKWARD = 2.5
"""Of fused attention's forward pass: scores are computed again (FlashAttention-2, arXiv 2307.08691)."""
_CAUSAL = 0.5
# Bytes for each token, in 16 bits, that unfused operators of a forward pass read and write: two norms (4 + 4), two
# residual sums (6 + 6), two dropouts or biases (4 + 4) of the hidden width; four copies (8) of the attention width.
_HIDDEN_BYTES = 28.0
_ATTENTION_BYTES = 8.0
# Scores of unfused attention, for each head and pair of tokens: written, softmax, dropout with its mask, read again.
_SCORE_BYTES = 13.0
# Logits in 16 and 32 bits, forward and backward, for each token and word.
_LOGIT_BYTES = 16.0
# Of a fused Adam update with FP32 state, for each parameter: state and master copy read and written (24), gradient
# read (4), 16-bit parameter written (2).
_UPDATE_BYTES = 30.0
_USUAL_FEED_FORWARD = 4.0


class Shape(NamedTuple):
    """Dimensions of a transformer with nothing left open."""

    layers: int
    hidden: int
    attention: float
    """Heads × head size."""
    key_value: float
    """Heads of keys × head size."""
    heads: int
    key_value_heads: int
    feed_forward: float
    matrices: int
    """Of the feed-forward part: 2, or 3 with a gate."""
    vocabulary: int
    experts: int
    """1: dense."""
    experts_per_token: int
    window: float
    """Tokens that a token looks back at most, on average over the layers."""
    sequence: float
    parameters: float
    expert_parameters: float = 0.0
    """Of them, weights that expert parallelism can spread; 0 for a dense model."""
    fused_attention: bool = True
    sequence_parallel: bool = True
    """Tensor parallelism shares out norms and residuals, too."""

    @property
    def dense_parameters(self) -> float:
        """All weights but the experts'."""
        return self.parameters - self.expert_parameters


class Work(NamedTuple):
    """What one micro batch has to do on the slowest pipeline stage, forward and backward; an entry for each layout."""

    matrix_flops: Any
    """Of matrix products, more where they are narrow or the tokens few: as many as take as long at the full rate."""
    expert_wait_flops: Any
    """What narrow experts take on top of that with products in 8 bits; 0 for a dense model."""
    attention_flops: Any
    attention_bytes: Any
    """Of scores that are written to memory; 0 where attention is fused."""
    elementwise_bytes: Any
    logits_flops: Any
    logits_bytes: Any
    host_s: Any
    """What the host takes to start all that, and the messages; where it takes longer, the device waits."""
    update_bytes: Any
    """Of the optimizer's update, once a step."""


class MicroTime(NamedTuple):
    """Seconds of one micro batch on the slowest pipeline stage, forward and backward; an entry for each layout."""

    device_s: Any
    """All that the device does, one after the other."""
    attention_s: Any
    """Of that."""
    update_s: Any
    """Of the optimizer, once a step."""


class MatrixDevice(NamedTuple):
    """What a GPU sustains."""

    flops_per_s: float
    """Of large matrix products in the wanted precision."""
    bytes_per_s: float
    element_bytes: float
    """2 in 16 bits, 4 in 32."""
    attention_share: float
    """Of `flops_per_s`, in fused attention."""
    expert_wait: float
    """Part of `Work.expert_wait_flops` that counts: a slower unit loses as much time on an expert, so fewer FLOPs."""
    how: str


def shape_of(
    architecture: Architecture, sequence: float, parameters: float | None = None, *, fused_attention: bool = True
) -> Shape:
    """Fill in what an architecture leaves open with what is usual; count its parameters where they are not given."""
    hidden, head = architecture.hidden_size, head_size(architecture)
    heads = architecture.attention_heads or max(1, round(hidden / head))
    key_value_heads = architecture.key_value_heads or heads
    experts = architecture.experts or 1
    counted = count_parameters(architecture)
    total = parameters or float(counted.total)
    return Shape(
        layers=architecture.layers,
        hidden=hidden,
        attention=heads * head,
        key_value=key_value_heads * head,
        heads=heads,
        key_value_heads=key_value_heads,
        feed_forward=float(architecture.feed_forward_size or _USUAL_FEED_FORWARD * hidden),
        matrices=3 if architecture.gated_feed_forward else 2,
        vocabulary=architecture.vocabulary_size or 0,
        experts=experts,
        experts_per_token=min(experts, architecture.experts_per_token or experts),
        window=cached_tokens(architecture, sequence),
        sequence=sequence,
        parameters=total,
        expert_parameters=min(float(counted.feed_forward), total) if experts > 1 else 0.0,
        fused_attention=fused_attention,
    )


def work_of(shape: Shape, table: LayoutTable, rates: ParallelRates, element_bytes: Any) -> Work:
    """Work of one micro batch on the slowest stage: forward, backward, and once more forward with checkpointing."""
    import numpy as np

    tokens = table.micro * shape.sequence / table.context
    layers = np.ceil(shape.layers / table.pipeline)
    again = table.checkpointing * rates.recompute_share
    passes = FORWARD_BACKWARD + again
    width = element_bytes / 2
    moved = tokens * width * _elementwise_bytes(shape, table.tensor) * rates.elementwise_bytes
    logits = tokens * shape.vocabulary / table.tensor
    scores_flops, scores_bytes = _attention(shape, table, tokens, rates)
    experts_here = np.where(np.asarray(shape.experts) > 1, shape.experts / table.expert, 0.0)
    host_us = rates.host_us_per_layer + rates.host_us_per_expert * experts_here
    products, expert_wait = _matrix_flops(shape, table, tokens, rates)
    return Work(
        matrix_flops=layers * passes * products / rates.matrix_share,
        expert_wait_flops=layers * passes * expert_wait / rates.matrix_share,
        attention_flops=layers * scores_flops,
        attention_bytes=layers * scores_bytes * width,
        elementwise_bytes=layers * passes * moved,
        logits_flops=FORWARD_BACKWARD * 2 * shape.hidden * logits / rates.matrix_share,
        logits_bytes=_LOGIT_BYTES * logits,
        host_s=layers * host_us * 1e-6 * (1 + again / FORWARD_BACKWARD),
        update_bytes=_UPDATE_BYTES
        * local_parameters(shape, table)
        / np.where(table.zero >= 1, table.replicas_of_weights, 1.0),
    )


def micro_time(work: Work, device: MatrixDevice) -> MicroTime:
    """Time of that work on a device."""
    attention = work.attention_flops / (device.flops_per_s * device.attention_share)
    attention = attention + work.attention_bytes / device.bytes_per_s
    moved = (work.elementwise_bytes + work.logits_bytes) / device.bytes_per_s
    products = work.matrix_flops + work.expert_wait_flops * device.expert_wait
    computed = (products + work.logits_flops) / device.flops_per_s
    return MicroTime(computed + moved + attention, attention, work.update_bytes / device.bytes_per_s)


def local_parameters(shape: Shape, table: LayoutTable) -> Any:
    """Parameters of one GPU before any sharding by ZeRO."""
    return (shape.dense_parameters + shape.expert_parameters / table.expert) / table.model


def _matrix_flops(shape: Shape, table: LayoutTable, tokens: Any, rates: ParallelRates) -> tuple[Any, Any]:
    """Forward pass of one layer's matrix products, and what narrow experts lose besides: half of their rate at a width
    of `expert_half_width`."""
    import numpy as np

    split = table.tensor
    expert_tokens = tokens * shape.experts_per_token
    each_expert = expert_tokens * table.expert / shape.experts
    wait = np.where(np.asarray(shape.experts) > 1, rates.expert_half_width / shape.feed_forward, 0.0)
    products = (
        ((shape.attention + 2 * shape.key_value) / split, shape.hidden, tokens, tokens, 0.0),
        (shape.hidden, shape.attention / split, tokens, tokens, 0.0),
        ((shape.matrices - 1) * shape.feed_forward / split, shape.hidden, expert_tokens, each_expert, wait),
        (shape.hidden, shape.feed_forward / split, expert_tokens, each_expert, wait),
    )
    flops: Any = 0.0
    waiting: Any = 0.0
    for width, depth, rows, rows_at_once, lost in products:
        filled = _filled(width, rates.half_width) * _filled(depth, rates.half_width)
        each = 2 * rows * width * depth / (filled * _filled(rows_at_once, rates.half_tokens))
        flops, waiting = flops + each, waiting + each * lost
    return flops, waiting


def _attention(shape: Shape, table: LayoutTable, tokens: Any, rates: ParallelRates) -> tuple[Any, Any]:
    """FLOPs of both passes of one layer's attention scores, and in 16 bits their bytes where it is not fused."""
    import numpy as np

    reach = np.minimum(shape.sequence, shape.window)
    flops = 4 * tokens * reach * shape.attention / table.tensor
    if shape.fused_attention:
        return flops * _CAUSAL * (1 + ATTENTION_BACKWARD + table.checkpointing), 0.0
    passes = FORWARD_BACKWARD + table.checkpointing * rates.recompute_share
    return passes * flops, passes * _SCORE_BYTES * tokens * reach * shape.heads / table.tensor


def _elementwise_bytes(shape: Shape, split: Any) -> Any:
    """For each token, in 16 bits, forward. Sequence parallelism shares out what tensor parallelism leaves whole."""
    activation = 2.0 * shape.matrices * shape.feed_forward * shape.experts_per_token
    hidden = _HIDDEN_BYTES * shape.hidden / (split if shape.sequence_parallel else 1.0)
    return hidden + (_ATTENTION_BYTES * shape.attention + activation) / split


def _filled(width: Any, half: float) -> Any:
    return width / (width + half)
