"""How much of a device each kind of operator reaches, before anything was fitted, and where the fitted values are.

Compute shares are of the device's sustained rate of one large matrix product, bandwidth shares of what a large
elementwise operator moves, so that they carry over to other devices. They start from published fits of
√(compute² + bandwidth²) to image-model inference on an RTX 3090 and 4090 in mixed precision, each divided by that
fit's elementwise share (0.87) or by what a GeForce sustains of its specified matrix peak (1.12); depthwise convolutions
by half of it, for they run without tensor cores, which double a GeForce's FP32 peak. These starting values
are the priors of `validation.class_fit`, whose results are resources/calibration/class_rates.csv and factors.csv.
"""

from __future__ import annotations

from gpuscope.advisor.calibration.model import Calibration, ClassRate
from gpuscope.domain.footprint import Op
from gpuscope.domain.ops import BACKWARD_SUFFIX

NHWC, CPU = "nhwc", "cpu"
"""Variants of a kind's rates: channels-last memory on a GPU, and a CPU's kernels."""
OTHER = "other"
# PyTorch splits an operator over threads from 32768 elements on (its grain size); in float32, read and written.
_SMALL_OPERATOR_BYTES = 2 * 4 * 32768
_USUAL_KINDS = {
    "gemm": "gemm",
    "convolution": "conv_kxk",
    "depthwise_convolution": "depthwise",
    "attention": "attention",
    "normalization": "layer_norm",
    "elementwise": "elementwise",
    "reduction": "reduction",
    "embedding": "embedding",
    "optimizer": "optimizer",
    "copy": "copy",
}
_CHANNELS_LAST = frozenset({"nhwc", "channels_last", "ndhwc", "channels_last_3d"})


def _rate(compute: float, bandwidth: float, half_n: float = 0.0, half_k: float = 0.0) -> ClassRate:
    return ClassRate(compute=compute, bandwidth=bandwidth, half_n=half_n, half_k=half_k)


STARTING_RATES: dict[str, ClassRate] = {
    "conv_1x1": _rate(0.84, 0.85, 13, 21),
    "conv_1x1/nhwc": _rate(1.01, 0.91, 13, 21),
    "conv_kxk": _rate(0.86, 0.64, 27, 52),
    "conv_kxk/nhwc": _rate(1.16, 0.71, 27, 52),
    "grouped": _rate(0.52, 0.63, 17, 38),
    "grouped/nhwc": _rate(0.61, 0.63, 17, 38),
    "depthwise": _rate(0.38, 0.69),
    "depthwise/nhwc": _rate(0.44, 0.69),
    "gemm": _rate(1.07, 0.93, 21, 155),
    # Half of a recurrent layer's products wait for the one before and are only as tall as the batch (assumed).
    "rnn": _rate(0.6, 0.93, 21, 155),
    "attention": _rate(0.58, 0.92),
    "batch_norm": _rate(1.0, 0.95),
    "batch_norm/nhwc": _rate(1.0, 1.02),
    "layer_norm": _rate(1.0, 0.87),
    "group_norm": _rate(1.0, 0.80),
    "softmax": _rate(1.0, 0.87),
    "reduction": _rate(1.0, 0.84),
    "pooling": _rate(1.0, 0.57),
    "elementwise": _rate(1.0, 1.0),
    "copy": _rate(1.0, 0.80),
    "embedding": _rate(1.0, 0.80),
    "optimizer": _rate(1.0, 1.0),
    OTHER: _rate(1.0, 0.80),
    # A CPU's, of its derived FP32 peak and its memory bandwidth: about what ResNet-50 and ViT reach in published runs.
    "conv_1x1/cpu": _rate(0.5, 1.0),
    "conv_kxk/cpu": _rate(0.45, 1.0),
    "grouped/cpu": _rate(0.4, 1.0),
    "depthwise/cpu": _rate(0.08, 1.0),
    "gemm/cpu": _rate(0.45, 1.0),
    "rnn/cpu": _rate(0.45, 1.0),
    "attention/cpu": _rate(0.3, 1.0),
    "other/cpu": _rate(1.0, 1.0),
}

STARTING_FACTORS: dict[str, float] = {
    # Work of a training step (forward and backward) relative to inference, by kind: a published fit, NCHW.
    "training/conv_1x1": 2.1,
    "training/conv_kxk": 2.9,
    "training/gemm": 2.8,
    "training/attention": 2.9,
    "training/depthwise": 5.1,
    "training/grouped": 3.9,
    "training/grouped/nhwc": 14.0,
    "training/conv_1x1/nhwc": 2.1,
    "training/conv_kxk/nhwc": 2.9,
    "training/batch_norm": 6.2,
    "training/layer_norm": 3.4,
    "training/elementwise": 4.3,
    "training/softmax": 2.6,
    "training/other": 3.0,
    # Share of the bytes that is left when a compiler joins an operator with its neighbours. Published whole-model
    # spread between eager and compiled: 15% in the middle, 36% at the 90th percentile.
    "compiled/elementwise": 0.3,
    "compiled/normalization": 0.6,
    "compiled/reduction": 0.4,
    "compiled/convolution": 0.7,
    "compiled/kernels": 0.3,
    # Efficiency of backward operators relative to the same kind forward, on the bytes and FLOPs that a profile counts.
    "backward/batch_norm": 0.5,
    "backward/depthwise": 0.4,
    "backward/grouped": 0.5,
    # Both gradients of a product are products of the same size: language models in FP32 take about twice their forward
    # time for the backward pass (sitar-lab/NeuSight: 1.85 in the middle).
    "backward/gemm": 1.0,
    "backward/conv_1x1": 0.9,
    "backward/conv_kxk": 0.9,
    "backward/other": 0.9,
    # Without tensor cores cuDNN multiplies less in 3×3 convolutions (Winograd's transform): in FP32, ResNet-50 trains
    # on a V100 as if they reached all of the peak (NVIDIA/DeepLearningExamples).
    "float32/conv_kxk": 1.3,
    # Of the best FP32 product, timed alone, what those of a model sustain one after the other (fitted, see
    # `validation.float32_fit`).
    "float32/gemm": 1.0,
    # Of their share of the bandwidth in mixed precision; elementwise operators and batch norms in FP32 reach the vector
    # rate, which is theirs, and layer norms read their rows twice (fitted there, too).
    "float32/elementwise": 1.0,
    "float32/batch_norm": 1.0,
    "float32/layer_norm": 0.67,
    # How much of the logarithm by which a run was off the model of its GPU is taken to come back elsewhere, and where
    # the run was not compiled likewise; all of it until it was fitted (`validation.transfer_fit`).
    "transfer/shared": 1.0,
    "transfer/compiled": 1.0,
    # What an operator reads was partly written just before and is still in the level-2 cache: models with tensors of a
    # cache's size are this much faster on a card with a large one (RTX 4090 against 3090).
    "cache/saving": 0.2,
    # A CPU's clock under load over the base clock that its peak is derived from, where its vector units are narrow; the
    # fixed time of matrix work that all cores share (they wait for each other, weights are laid out anew), and that of
    # any other operator.
    "cpu/above_base": 1.5,
    "cpu/s_per_operator": 20e-6,
    "cpu/s_per_light_operator": 5e-6,
}


def class_rate(calibration: Calibration, kind: str, variant: str | None = None) -> ClassRate:
    """Rate of a kind of operator (a kind of the backward pass counts as its forward one).

    Args:
        calibration: its fitted rates count where it has any, else the starting values do.
        kind: as in a footprint's operators.
        variant: `NHWC`, `CPU` or None.
    """
    table = calibration.class_rates or STARTING_RATES
    base = kind.removesuffix(BACKWARD_SUFFIX)
    keys = [f"{base}/{variant}", f"{OTHER}/{variant}"] if variant == CPU else [f"{base}/{variant}", base, OTHER]
    found = next((table[key] for key in keys if key in table), None)
    return found or STARTING_RATES[f"{OTHER}/{CPU}" if variant == CPU else OTHER]


def factor(calibration: Calibration, group: str, kind: str, variant: str | None = None) -> float | None:
    """A fitted factor: the most special one of `group/kind/variant`, `group/kind`; None: there is none."""
    for key in (f"{group}/{kind}/{variant}", f"{group}/{kind}"):
        value = calibration.factors.get(key, STARTING_FACTORS.get(key))
        if value is not None:
            return value
    return None


def known_kind(op: Op) -> str:
    """Forward kind of a class of operators; for a kind that is not known, the usual one of its class."""
    kind = op.kind.removesuffix(BACKWARD_SUFFIX)
    return kind if kind in STARTING_RATES else _USUAL_KINDS.get(op.class_, OTHER)


def is_light(op: Op) -> bool:
    """Whether they cost a CPU no more than their call: no matrix work, or so little that one thread does it."""
    if not op.flops:
        return True
    moved = (op.bytes_read or 0.0) + (op.bytes_written or 0.0)
    return moved < _SMALL_OPERATOR_BYTES * (op.kernels or 0.0)


def layout_variant(op: Op) -> str | None:
    """`NHWC` for channels-last operators; None: PyTorch's usual layout, or unknown."""
    return NHWC if (op.layout or "").lower() in _CHANNELS_LAST else None
