"""What kind of model a job has, and how much a step of it computes, as far as its footprint tells without operators."""

from __future__ import annotations

import re

from gpuscope.domain.footprint import Footprint

CONVOLUTIONAL, TRANSFORMER, RECURRENT, LOOKUP, ANY = "convolutional", "transformer", "recurrent", "lookup", "any"
SEPARABLE = "separable"
"""Convolutions that are split into depthwise and 1×1 ones, which are bound by memory."""
KINDS = (CONVOLUTIONAL, SEPARABLE, TRANSFORMER, RECURRENT, LOOKUP, ANY)
CONVOLUTIONS = frozenset({CONVOLUTIONAL, SEPARABLE})

# Words in names of models (and of what people call their runs) by kind; the first that is found counts.
_NAMES = (
    (RECURRENT, r"lstm|gru\b|rnn|gnmt|tacotron|seq2seq|deepspeech"),
    (LOOKUP, r"\bse3|graph|\bgnn|\bgcn"),  # Messages along a graph's edges are gathered.
    (
        TRANSFORMER,
        r"bert|gpt|llama|transformer|opt\b|\bt5|bart|\bvit|swin|deit|beit|mistral|mixtral|qwen|gemma|wav2vec|whisper|former",
    ),
    (LOOKUP, r"dlrm|ncf|recommend|wide.?and.?deep|deepfm|embedding"),
    (SEPARABLE, r"efficientn|efficientd|mobilen|mnasn|xception|shufflen|ghostn|quartz"),
    (CONVOLUTIONAL, r"resn|rn50|vgg|densen|ssd|yolo|cnn|unet|vnet|regnet|conv|jasper|waveglow|gan"),
)

_TRAINING_FLOPS = 6.0
_INFERENCE_FLOPS = 2.0
"""For each parameter and token: a multiply-add forward, and two more backward (arXiv 2001.08361)."""


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


def step_flops(footprint: Footprint) -> float | None:
    """FLOPs of a step of a transformer on one device from its parameters and tokens; None: it is none, or unknown.

    Counts every parameter once a token, so that large tables of a small model make it too much.
    """
    workload = footprint.workload
    batch = workload.batch.per_device
    tokens = 1 if workload.batch.unit == "tokens" else workload.sequence_length
    if kind_of(footprint) != TRANSFORMER or not workload.parameters or not batch or not tokens:
        return None
    each = _TRAINING_FLOPS if workload.stage == "training" else _INFERENCE_FLOPS
    return each * workload.parameters * batch * tokens


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
