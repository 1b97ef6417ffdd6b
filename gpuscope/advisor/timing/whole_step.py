"""By what factor a step of which only the time is known changes on another GPU or in another precision.

    t = flops_per_byte / compute rate + bytes left of one / vector rate + fixed time

for each byte that the step would move in FP32. The kind of model sets the mix (`Calibration.mixes`): how many FLOPs go
with a byte, how many bytes 16 bits leave, how much no GPU shortens. Each GPU's rates are those of `timing.sustained`,
so the same mix is bound by computing on a V100 in FP32 and by memory on an A100 in 16 bits. Nobody measured the mix of
this very model, so the answer is a range over the mixes of its kind. Where the FLOPs of the step are known, what the
run reached of the source's rate says how many go with a byte.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.calibration.model import Calibration, Mix
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import halves_activations
from gpuscope.advisor.timing.model_kind import (
    ANY,
    CONVOLUTIONAL,
    CONVOLUTIONS,
    LOOKUP,
    RECURRENT,
    SEPARABLE,
    TRANSFORMER,
)
from gpuscope.advisor.timing.sustained import Sustained, sustained

STARTING = {
    CONVOLUTIONAL: Mix(flops_per_byte=30, spread=3, half_bytes=0.65, fixed_s_per_byte=1e-13, source="assumed"),
    SEPARABLE: Mix(flops_per_byte=15, spread=3, half_bytes=0.65, fixed_s_per_byte=1e-13, source="assumed"),
    TRANSFORMER: Mix(flops_per_byte=100, spread=3, half_bytes=0.65, fixed_s_per_byte=1e-13, source="assumed"),
    RECURRENT: Mix(flops_per_byte=60, spread=4, half_bytes=0.65, fixed_s_per_byte=2e-13, source="assumed"),
    LOOKUP: Mix(flops_per_byte=15, spread=4, half_bytes=0.65, fixed_s_per_byte=2e-13, source="assumed"),
    ANY: Mix(flops_per_byte=50, spread=5, half_bytes=0.65, fixed_s_per_byte=1e-13, source="assumed"),
}
"""By kind of model, before anything was fitted: the layers of an image model do some tens of FLOPs a byte, those of a
transformer about a hundred."""

# Matrix products of a real model against the best product of a GPU: published training of language models reaches 50
# to 75% of it where nothing else holds it up.
_SLOWER_THAN_BEST = 1.4
_MOST_COMPUTING = 0.85
"""Share of a step that can be computing, whatever the count of FLOPs says."""
_KNOWN_SPREAD = 2.0
_FURTHEST = 5.0
"""From the kind's usual FLOPs a byte: further off, the count is not believed."""


class Ratio(NamedTuple):
    """How much longer a step takes on the target."""

    low: float
    mid: float
    high: float
    how: str


class _Side(NamedTuple):
    """One GPU in one precision."""

    rates: Sustained
    precision: str


def whole_step_ratio(
    kind: str,
    source: tuple[GpuSpec, str],
    target: tuple[GpuSpec, str],
    calibration: Calibration,
    reached_flops_per_s: float | None = None,
) -> Ratio | None:
    """Time on the target relative to the source; None when their rates are not known.

    The range spans the mixes of the kind; what the model itself may be wrong by comes on top (`gpu_to_gpu_whole`).

    Args:
        kind: of model, one of `model_kind.KINDS`.
        source: a GPU and a compute precision.
        target: the same.
        calibration: rates and mixes.
        reached_flops_per_s: what the run computed a second on the source; None: its FLOPs are not known.
    """
    before_rates, after_rates = (sustained(gpu, precision, calibration) for gpu, precision in (source, target))
    if before_rates is None or after_rates is None:
        return None
    before, after = _Side(before_rates, source[1]), _Side(after_rates, target[1])
    mix = calibration.mixes.get(kind, STARTING[kind])
    intensity, spread = mix.flops_per_byte, mix.spread
    if reached_flops_per_s is not None:
        intensity, spread = _intensity_of_run(kind, mix, before, reached_flops_per_s), min(spread, _KNOWN_SPREAD)
    ratios = [_ratio(intensity * by, mix, kind, before, after) for by in (1 / spread, 1.0, spread)]
    what = "a model of which the kind is not known" if kind == ANY else f"a {kind} model"
    how = f"{ratios[1]:.2g} for {what}, at {intensity:.0f} FLOPs for a byte"
    return Ratio(min(ratios), ratios[1], max(ratios), how)


def seconds_per_byte(flops_per_byte: float, mix: Mix, kind: str, rates: Sustained, precision: str) -> float:
    """Time for each byte that the step would move in FP32."""
    return flops_per_byte / _compute_rate(kind, rates) + _seconds_besides(mix, rates, precision)


def _ratio(flops_per_byte: float, mix: Mix, kind: str, before: _Side, after: _Side) -> float:
    return seconds_per_byte(flops_per_byte, mix, kind, *after) / seconds_per_byte(flops_per_byte, mix, kind, *before)


def _intensity_of_run(kind: str, mix: Mix, source: _Side, reached_flops_per_s: float) -> float:
    """FLOPs a byte at which computing takes the share of the step that the run's FLOPs take at the source's rate."""
    rate = _compute_rate(kind, source.rates)
    share = min(_MOST_COMPUTING, reached_flops_per_s * _SLOWER_THAN_BEST / rate)
    intensity = share / (1 - share) * _seconds_besides(mix, source.rates, source.precision) * rate
    return min(max(intensity, mix.flops_per_byte / _FURTHEST), mix.flops_per_byte * _FURTHEST)


def _seconds_besides(mix: Mix, rates: Sustained, precision: str) -> float:
    """What is not computing, for each byte of the step in FP32."""
    left = mix.half_bytes if halves_activations(precision) else 1.0
    return left / rates.vector_bytes_per_s.value + mix.fixed_s_per_byte


def _compute_rate(kind: str, rates: Sustained) -> float:
    figure = rates.convolution_flops_per_s if kind in CONVOLUTIONS else rates.matmul_flops_per_s
    return figure.value
