"""The fitted and measured figures that the models are given: values that are passed in, never globals.

Whoever holds rows out of a fit builds another `Calibration` and passes that.
"""

from __future__ import annotations

from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.serving.constants import Engines
from gpuscope.domain.base import Value

MEASURED, PUBLISHED, FITTED = "measured", "published", "fitted"
KINDS = (MEASURED, PUBLISHED, FITTED)
"""Of a figure: measured by the user; measured and published by others; a share fitted to published rows."""


class Figure(Value, frozen=True, kw_only=True):
    """One figure with where it comes from."""

    value: float
    kind: str
    """One of `KINDS`."""
    source: str


class SustainedRates(Value, frozen=True, kw_only=True):
    """What one GPU was seen to sustain. What is missing follows from its specifications × a fitted share."""

    matmul_flops_per_s: dict[str, Figure] = {}
    """Of one large matrix product, by compute precision."""
    convolution_flops_per_s: dict[str, Figure] = {}
    """Of a large 3×3 convolution, by compute precision."""
    vector_bytes_per_s: Figure | None = None
    """Read and written by a large elementwise operator."""
    kernel_latency_s: Figure | None = None
    """Fixed time of a small kernel on the device."""


class ClassRate(Value, frozen=True, kw_only=True):
    """How much of a GPU's peak and bandwidth one kind of operator reaches."""

    compute: float
    """Share of the matrix peak."""
    bandwidth: float
    """Share of the memory bandwidth."""
    half_n: float = 0.0
    """Width of the result at which half of the compute share is reached."""
    half_k: float = 0.0
    """Depth of the sum at which half of the compute share is reached."""


class Mix(Value, frozen=True, kw_only=True):
    """What a kind of model does for each byte that an FP32 step moves: for steps of which only the time is known."""

    flops_per_byte: float
    spread: float
    """Models of the kind lie between `flops_per_byte` ÷ and × this."""
    half_bytes: float
    """Bytes that are left of one in 16 bits: casts and layers that stay in FP32 keep it above a half."""
    fixed_s_per_byte: float
    """Time that no faster GPU shortens: launching kernels, the host, messages."""
    source: str


class Bias(Value, frozen=True, kw_only=True):
    """What runs on a card said about the predictions for it."""

    factor: float
    """Predictions for the card are multiplied by this."""
    spread: float
    """Factor within which 90% of the corrected predictions lie."""
    runs: int
    """How many runs said so."""


class Interval(Value, frozen=True, kw_only=True):
    """Width of one kind of prediction's range."""

    factor: float
    """True values lie within prediction ÷ and × this, nominally in 90% of cases."""
    rows: int
    """Published measurements that it was found on."""
    source: str


class Calibration(Value, frozen=True, kw_only=True):
    """Everything that was measured or fitted. Empty parts leave the models to specifications and wide ranges."""

    rates: dict[str, SustainedRates] = {}
    """By catalogue id of the GPU."""
    shares: dict[str, Figure] = {}
    """Sustained share of a specification, for GPUs without rates; keys as in `share_key`."""
    class_rates: dict[str, ClassRate] = {}
    """By kind of operator, or `kind/layout` where the memory layout matters; see `timing.class_constants`."""
    factors: dict[str, float] = {}
    """Fitted factors of the time model by name, such as `training/conv_kxk`; see `timing.class_constants`."""
    mixes: dict[str, Mix] = {}
    """By kind of model; see `timing.whole_step`."""
    bias: dict[str, Bias] = {}
    """By catalogue id of the GPU."""
    intervals: dict[str, Interval] = {}
    """By code of the doubt (`timing.uncertainty`)."""
    parallel: ParallelRates = ParallelRates()
    """Links between GPUs, and transformers on many of them."""
    engines: Engines = Engines()
    """What inference engines reach."""


EMPTY = Calibration()
"""Nothing was measured: specifications alone."""


def share_key(figure: str, group: str, segment: str = "") -> str:
    """Key of a fitted share: which figure, of which group of GPUs or memories, and of which market segment."""
    return "/".join(part for part in (figure, group, segment) if part)
