"""Turn the operators of a training step into those of inference, and back."""

from __future__ import annotations

import msgspec

from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX

# Device time of a training step relative to inference at the same batch, by kind of operator (fit to published
# image-model inference and training on one GPU, NCHW).
_TRAINING_FACTOR = {
    "conv_1x1": 2.1, "conv_kxk": 2.9, "gemm": 2.8, "attention": 2.9, "depthwise": 5.1, "grouped": 3.9,
    "batch_norm": 6.2, "layer_norm": 3.4, "elementwise": 4.3, "softmax": 2.6,
}  # fmt: skip
_USUAL_FACTOR = 3.0
"""Other kinds: forward, and about twice that backward."""


def to_stage(ops: tuple[Op, ...], source: str, target: str) -> tuple[tuple[Op, ...], str]:
    """Operators of the wanted stage, and a sentence on how they were come by ("" when nothing had to be done)."""
    if source == target or not ops:
        return ops, ""
    if target == "inference":
        forward = tuple(op for op in ops if not op.kind.endswith(BACKWARD_SUFFIX) and op.class_ != "optimizer")
        return forward, "Inference is the forward part of the training step that ran, at the same batch size."
    return tuple(_trained(op) for op in ops), (
        "Training is predicted from an inference run by published factors for each kind of operator (2 to 6 times)."
    )


def _trained(op: Op) -> Op:
    factor = _TRAINING_FACTOR.get(op.kind, _USUAL_FACTOR)
    return msgspec.structs.replace(
        op,
        flops=_times(op.flops, factor),
        bytes_read=_times(op.bytes_read, factor),
        bytes_written=_times(op.bytes_written, factor),
        kernels=_times(op.kernels, _USUAL_FACTOR),
        time_s=_times(op.time_s, factor),
    )


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
