"""A step's operators in another precision: what PyTorch's autocast computes and keeps in 16 bits, and what it casts.

Matrix work, pooling and batch norm take 16-bit tensors; layer and group norm, softmax and losses stay in float32
(torch.amp's list of operators), and so does much of the elementwise work between them in models that have them.
"""

from __future__ import annotations

import msgspec

from gpuscope.advisor.job.precision import halves_activations
from gpuscope.domain.base import scaled
from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX

_HALVED = frozenset({"conv_1x1", "conv_kxk", "grouped", "depthwise", "gemm", "rnn", "attention", "batch_norm"})
_FOLLOWS = frozenset({"elementwise", "copy", "pooling", "reduction", "other"})
_FLOAT32_NORMS = frozenset({"layer_norm", "group_norm"})
_CAST_WEIGHTS = frozenset({"conv_1x1", "conv_kxk", "grouped", "depthwise", "gemm", "rnn"})

# Bytes of elementwise work and copies in 16 bits, where norms give float32 to some of it: between a half and all.
_MIXED_BYTES = 0.75
_FLOAT32_BYTES = 4.0
_HALF_BYTES = 2.0


def in_precision(ops: tuple[Op, ...], source: str, target: str, parameters: float | None) -> tuple[Op, ...]:
    """Operators as they are in another precision.

    Args:
        ops: of one step, in `source`.
        source: compute precision that they were recorded in.
        target: compute precision that is wanted.
        parameters: parameters of the model, which autocast casts once a step; None: unknown, taken to be few.
    """
    if not ops or halves_activations(source) == halves_activations(target):
        return ops
    mixed = any(_base(op) in _FLOAT32_NORMS for op in ops)
    if halves_activations(target):
        scaled = [_scaled(op, _share(op, mixed=mixed)) for op in ops]
        return (*scaled, _casts(ops, parameters or 0.0))
    return tuple(_scaled(op, 1 / _share(op, mixed=mixed)) for op in ops)


def _share(op: Op, *, mixed: bool) -> float:
    kind = _base(op)
    if kind in _HALVED:
        return 0.5
    if kind in _FOLLOWS:
        return _MIXED_BYTES if mixed else 0.5
    return 1.0


def _casts(ops: tuple[Op, ...], parameters: float) -> Op:
    """What autocast converts: every parameter, and what norms in float32 give to matrix work."""
    normed = sum(op.bytes_written or 0.0 for op in ops if _base(op) in _FLOAT32_NORMS)
    return Op(
        kind="copy",
        class_="copy",
        dtype="float16",
        bytes_read=parameters * _FLOAT32_BYTES + normed,
        bytes_written=parameters * _HALF_BYTES + normed / 2,
        kernels=sum(op.kernels or 0.0 for op in ops if op.kind in _CAST_WEIGHTS),
    )


def _scaled(op: Op, share: float) -> Op:
    if share == 1.0:
        return op
    return msgspec.structs.replace(
        op, bytes_read=scaled(op.bytes_read, share), bytes_written=scaled(op.bytes_written, share)
    )


def _base(op: Op) -> str:
    return op.kind.removesuffix(BACKWARD_SUFFIX)
