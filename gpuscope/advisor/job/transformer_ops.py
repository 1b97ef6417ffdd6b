"""The operators of a transformer's step from its dimensions, as an eager framework runs them.

A layer multiplies each token by the matrices of attention and of the feed-forward part (2 FLOPs for each weight and
token); scores and their use take 4 × sequence × width FLOPs a token. Norms, softmax, activations and residual sums move
bytes. The backward pass takes twice the matrix work and about twice the bytes of the forward pass. Attention is written
out (products, scale, mask, softmax) as eager attention does, unless it is fused. An optimizer is not part of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuscope.advisor.job.architecture import head_size, key_value_width
from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX, dtype_bytes

_BACKWARD = 2.0
"""Work of the backward pass over that of the forward pass: gradients of the input and of the weights."""
_USUAL_FEED_FORWARD = 4
_NORMS = 2
"""In a layer."""
_SCORE_PASSES = 2
"""Elementwise operators on the scores: scale and mask, each reads and writes them."""
_RESIDUAL_TENSORS = 6
"""Of the width of the model: two sums, each of two tensors into one."""
_BIAS_TENSORS = 2
"""An output of a matrix with bias is written by the product itself; the activation reads it and writes its result."""


def transformer_ops(
    architecture: Architecture,
    batch: float,
    sequence_length: int,
    *,
    training: bool,
    dtype: str = "float32",
    fused_attention: bool = False,
) -> tuple[Op, ...]:
    """Operators of one step, each class of equal width once with the work of all layers.

    Args:
        architecture: dimensions; a feed-forward size that is not given is four times the width.
        batch: sequences in a step.
        sequence_length: tokens of each.
        training: forward and backward; else forward alone.
        dtype: of everything.
        fused_attention: scores are never written to memory.
    """
    forward = list(_forward(architecture, batch, sequence_length, dtype, fused_attention=fused_attention))
    return (*forward, *(_backward(op) for op in forward)) if training else tuple(forward)


def _forward(
    architecture: Architecture, batch: float, sequence: int, dtype: str, *, fused_attention: bool
) -> Iterator[Op]:
    size = float(dtype_bytes(dtype) or 4)
    tokens, hidden, layers = batch * sequence, architecture.hidden_size, architecture.layers
    heads = architecture.attention_heads or max(1, round(hidden / head_size(architecture)))
    query = round(heads * head_size(architecture))
    inner = architecture.feed_forward_size or _USUAL_FEED_FORWARD * hidden
    gates = 2 if architecture.gated_feed_forward else 1
    active = architecture.experts_per_token or 1
    yield _product(dtype, size, tokens, query + round(key_value_width(architecture)), hidden, layers)
    yield _product(dtype, size, tokens, hidden, query, layers)
    yield _product(dtype, size, tokens * active, inner * gates, hidden, layers, _experts_used(architecture, tokens))
    yield _product(dtype, size, tokens * active, hidden, inner, layers, _experts_used(architecture, tokens))
    yield from _attention(dtype, size, (batch, heads, sequence), query, layers, fused=fused_attention)
    yield _moving("layer_norm", "normalization", dtype, 2 * _NORMS * tokens * hidden * size * layers, layers * _NORMS)
    between = _RESIDUAL_TENSORS * hidden + _BIAS_TENSORS * active * inner * gates
    yield _moving("elementwise", "elementwise", dtype, tokens * between * size * layers, 3 * layers)
    if architecture.vocabulary_size:
        yield _product(dtype, size, tokens, architecture.vocabulary_size, hidden, 1)
        yield _moving("embedding", "embedding", dtype, 2 * tokens * hidden * size, 1)


def _attention(
    dtype: str, size: float, shape: tuple[float, int, int], width: int, layers: int, *, fused: bool
) -> Iterator[Op]:
    batch, heads, sequence = shape
    tokens, head = batch * sequence, max(1, width // heads)
    flops = 2.0 * tokens * sequence * width * layers
    if fused:
        yield Op(
            kind="attention", class_="attention", dtype=dtype, flops=2 * flops, kernels=float(layers),
            bytes_read=3 * tokens * width * size * layers, bytes_written=tokens * width * size * layers,
        )  # fmt: skip
        return
    scores = tokens * sequence * heads * size * layers
    values = tokens * width * size * layers
    for read, written, n, k in (
        (2 * values, scores, sequence, head),
        (scores + values, values, head, sequence),
    ):
        yield Op(
            kind="gemm", class_="gemm", dtype=dtype, flops=flops, bytes_read=read, bytes_written=written,
            kernels=float(layers), n=n, k=k,
        )  # fmt: skip
    yield _moving("elementwise", "elementwise", dtype, 2 * _SCORE_PASSES * scores, _SCORE_PASSES * layers)
    yield _moving("softmax", "reduction", dtype, 2 * scores, layers)


def _product(dtype: str, size: float, tokens: float, n: int, k: int, layers: int, experts: float = 1.0) -> Op:
    """A linear layer of each layer; with experts, each of them reads its own weights."""
    return Op(
        kind="gemm", class_="gemm", dtype=dtype, flops=2.0 * tokens * n * k * layers,
        bytes_read=(tokens * k + experts * n * k) * size * layers, bytes_written=tokens * n * size * layers,
        kernels=experts * layers, n=n, k=k,
    )  # fmt: skip


def _moving(kind: str, class_: str, dtype: str, moved_bytes: float, kernels: float) -> Op:
    """An operator that reads as much as it writes and computes next to nothing."""
    return Op(
        kind=kind, class_=class_, dtype=dtype, bytes_read=moved_bytes / 2, bytes_written=moved_bytes / 2,
        kernels=float(kernels),
    )  # fmt: skip


def _experts_used(architecture: Architecture, tokens: float) -> float:
    return float(min(architecture.experts or 1, max(1.0, tokens * (architecture.experts_per_token or 1))))


def _backward(op: Op) -> Op:
    return msgspec.structs.replace(
        op,
        kind=op.kind + BACKWARD_SUFFIX,
        flops=None if op.flops is None else op.flops * _BACKWARD,
        bytes_read=(op.bytes_read or 0.0) * _BACKWARD,
        bytes_written=(op.bytes_written or 0.0) * _BACKWARD,
        kernels=(op.kernels or 0.0) * _BACKWARD,
    )
