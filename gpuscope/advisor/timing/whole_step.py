"""By what factor a step of which only the time is known changes on another GPU or in another precision.

    t = flops_per_byte / compute rate + bytes left of one / vector rate + fixed time

for each byte that the step would move in FP32. The kind of model sets the mix (`Calibration.mixes`): how many FLOPs go
with a byte, how many bytes 16 bits leave, how much no GPU shortens. Each GPU's rates are those of `timing.sustained`,
so the same mix is bound by computing on a V100 in FP32 and by memory on an A100 in 16 bits. Nobody measured the mix of
this very model, so the answer is a range over the mixes of its kind.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuscope.advisor.calibration.model import Calibration, Mix
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import halves_activations
from gpuscope.advisor.timing.sustained import Sustained, sustained
from gpuscope.domain.footprint import Footprint

CONVOLUTIONAL, TRANSFORMER, RECURRENT, LOOKUP, ANY = "convolutional", "transformer", "recurrent", "lookup", "any"
KINDS = (CONVOLUTIONAL, TRANSFORMER, RECURRENT, LOOKUP, ANY)

# Before anything was fitted: an image model's layers do some tens of FLOPs a byte, a transformer's some hundreds.
_STARTING = {
    CONVOLUTIONAL: Mix(flops_per_byte=30, spread=3, half_bytes=0.65, fixed_s_per_byte=1e-13, source="assumed"),
    TRANSFORMER: Mix(flops_per_byte=100, spread=3, half_bytes=0.65, fixed_s_per_byte=1e-13, source="assumed"),
    RECURRENT: Mix(flops_per_byte=60, spread=4, half_bytes=0.65, fixed_s_per_byte=2e-13, source="assumed"),
    LOOKUP: Mix(flops_per_byte=15, spread=4, half_bytes=0.65, fixed_s_per_byte=2e-13, source="assumed"),
    ANY: Mix(flops_per_byte=50, spread=5, half_bytes=0.65, fixed_s_per_byte=1e-13, source="assumed"),
}

# Words in names of models (and of what people call their runs) by kind; the first that is found counts.
_NAMES = (
    (RECURRENT, r"lstm|gru\b|rnn|gnmt|tacotron|seq2seq|deepspeech"),
    (
        TRANSFORMER,
        r"bert|gpt|llama|transformer|opt\b|\bt5|bart|\bvit|swin|deit|beit|mistral|mixtral|qwen|gemma|wav2vec|whisper|former",
    ),
    (LOOKUP, r"dlrm|ncf|recommend|wide.?and.?deep|deepfm|embedding"),
    (
        CONVOLUTIONAL,
        r"resn|rn50|vgg|efficientn|efficientd|mobilen|densen|ssd|yolo|cnn|unet|vnet|regnet|conv|jasper|quartz|waveglow|gan",
    ),
)


class Ratio(NamedTuple):
    """How much longer a step takes on the target."""

    low: float
    mid: float
    high: float
    kind: str
    """Of model, as in `KINDS`."""
    how: str

    @property
    def factor(self) -> float:
        """How far the mixes of the kind lie from the middle one, at most."""
        return max(self.high / self.mid, self.mid / self.low)


def kind_of(footprint: Footprint) -> str:
    """What kind of model it is: by its architecture, its operators, else by its name; `ANY` when nothing says so."""
    workload = footprint.workload
    if workload.architecture is not None:
        return TRANSFORMER
    if footprint.ops:
        return _kind_of_ops(footprint)
    return kind_of_name(workload.model or "")


def kind_of_name(model: str) -> str:
    """What kind of model a name belongs to; `ANY` when it says nothing."""
    name = model.lower()
    return next((kind for kind, words in _NAMES if re.search(words, name)), ANY)


def whole_step_ratio(
    kind: str, source: tuple[GpuSpec, str], target: tuple[GpuSpec, str], calibration: Calibration
) -> Ratio | None:
    """Time on the target relative to the source, each a GPU and a compute precision; None: rates are not known.

    The range spans the mixes of the kind; what the model itself may be wrong by comes on top (`gpu_to_gpu_whole`).
    """
    rates = [sustained(gpu, precision, calibration) for gpu, precision in (source, target)]
    if rates[0] is None or rates[1] is None:
        return None
    mix = mix_of(kind, calibration)
    before, after = (rates[0], source[1]), (rates[1], target[1])
    mid = _ratio(mix.flops_per_byte, mix, kind, before, after)
    ends = [_ratio(mix.flops_per_byte * by, mix, kind, before, after) for by in (1 / mix.spread, mix.spread)]
    how = (
        f"{mid:.2g} for a {kind} model of {mix.flops_per_byte:.0f} FLOPs a byte"
        if kind != ANY
        else f"{mid:.2g} for a model of which the kind is not known"
    )
    return Ratio(min(mid, *ends), mid, max(mid, *ends), kind, how)


def mix_of(kind: str, calibration: Calibration) -> Mix:
    """The mix of a kind of model, fitted where the calibration has it."""
    return calibration.mixes.get(kind, _STARTING[kind])


def seconds_per_byte(flops_per_byte: float, mix: Mix, kind: str, rates: Sustained, precision: str) -> float:
    """Time for each byte that the step would move in FP32."""
    compute = rates.convolution_flops_per_s if kind == CONVOLUTIONAL else rates.matmul_flops_per_s
    left = mix.half_bytes if halves_activations(precision) else 1.0
    return flops_per_byte / compute.value + left / rates.vector_bytes_per_s.value + mix.fixed_s_per_byte


def _ratio(
    flops_per_byte: float, mix: Mix, kind: str, before: tuple[Sustained, str], after: tuple[Sustained, str]
) -> float:
    return seconds_per_byte(flops_per_byte, mix, kind, *after) / seconds_per_byte(flops_per_byte, mix, kind, *before)


def _kind_of_ops(footprint: Footprint) -> str:
    flops: dict[str, float] = {}
    for op in footprint.ops:
        kind = op.kind.split("_")[0]
        group = {"rnn": RECURRENT, "attention": TRANSFORMER}.get(kind, op.class_)
        flops[group] = flops.get(group, 0.0) + (op.flops or 0.0)
    if flops.get(TRANSFORMER):
        return TRANSFORMER
    if flops.get(RECURRENT):
        return RECURRENT
    convolution = flops.get("convolution", 0.0) + flops.get("depthwise_convolution", 0.0)
    return CONVOLUTIONAL if convolution > flops.get("gemm", 0.0) else ANY
