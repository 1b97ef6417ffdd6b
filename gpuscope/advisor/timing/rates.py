"""What the time model takes for granted where no calibration says otherwise, each with where it comes from.

Sources, by letter:
  A  Fit of √(compute² + bandwidth²) to published image-model inference (timm results, RTX 3090 and 4090, AMP, NCHW).
  B  Best measured 16-bit matrix products against the dense peak, stas00/ml-engineering (2025-2026).
  C  Assumption, no published figure behind it; its range is wide for that reason.
"""

from __future__ import annotations

GEFORCE_SHARE = 1.12
"""Sustained share of the specified matrix peak on a GeForce, whose real clocks are above the specified one (A, B)."""

SUSTAINED_SHARE: dict[str, float] = {  # B
    "Ampere": 0.87,
    "Hopper": 0.80,
    "Blackwell": 0.775,
    "Blackwell Ultra": 0.786,
    "CDNA3": 0.55,
    "CDNA4": 0.68,
    "Gaudi 2": 0.97,
    "Gaudi 3": 0.74,
}
DEFAULT_SUSTAINED_SHARE = 0.78
"""Where none was published: between Hopper's and Blackwell's (B)."""

KERNEL_LATENCY_S = 3e-6
"""Fixed time of a kernel on the device (A)."""

HOST_S_PER_KERNEL = (4e-6, 10e-6, 20e-6)
"""Time in which Python and the framework launch one eager operator: low, usual, high (C)."""

# Bytes moved for each parameter by one update, FP32 state, in units of 4 bytes: the passes of PyTorch's multi-tensor
# (foreach) implementations, the default on CUDA, added up; the fused ones move about a third of Adam's.
OPTIMIZER_PASSES: dict[str, int] = {
    # decay 2, first moment 3, second 2 + 3, root 2, division 2, epsilon 2, update 4
    "adamw": 20,
    "adam": 18,
    "sgd": 3,
    "momentum": 8,
    "rmsprop": 14,
    "adagrad": 13,
    "lion": 12,
}
OPTIMIZER_KERNELS = 15
"""Multi-tensor kernels of one foreach update; more for very many tensors, and still hidden by the update itself (C)."""
