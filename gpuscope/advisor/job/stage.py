"""Turn the operators of a training step into those of inference, and back."""

from __future__ import annotations

import msgspec

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.timing.class_constants import OTHER, factor, known_kind, layout_variant
from gpuscope.domain.base import scaled
from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX

_KERNELS_FACTOR = 3.0
"""Kernels of a training step for each of inference: forward, and about two backward."""


def to_stage(
    ops: tuple[Op, ...], source: str, target: str, calibration: Calibration = EMPTY
) -> tuple[tuple[Op, ...], str]:
    """Operators of the wanted stage, and a sentence on how they were come by ("" when nothing had to be done).

    Args:
        ops: of one step, in the stage `source`.
        source: training or inference.
        target: the same.
        calibration: how much more of each kind of work training is.
    """
    if source == target or not ops:
        return ops, ""
    if target == "inference":
        forward = tuple(op for op in ops if not op.kind.endswith(BACKWARD_SUFFIX) and op.class_ != "optimizer")
        return forward, "Inference is the forward part of the training step that ran, at the same batch size."
    return tuple(_trained(op, calibration) for op in ops), (
        "Training is predicted from an inference run by factors for each kind of operator (2 to 8 times), fitted to "
        "published image models."
    )


def _trained(op: Op, calibration: Calibration) -> Op:
    """Forward and backward work as one class of the forward kind."""
    variant = layout_variant(op)
    times = factor(calibration, "training", known_kind(op), variant) or factor(calibration, "training", OTHER) or 1.0
    return msgspec.structs.replace(
        op,
        flops=scaled(op.flops, times),
        bytes_read=scaled(op.bytes_read, times),
        bytes_written=scaled(op.bytes_written, times),
        kernels=scaled(op.kernels, _KERNELS_FACTOR),
        time_s=scaled(op.time_s, times),
    )
