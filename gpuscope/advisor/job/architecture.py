"""The dimensions of a transformer: as given, or as published language models of that size have them."""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec

from gpuscope.domain.architecture import Architecture
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.units import format_count
from gpuscope.errors import UsageError


class KnownArchitecture(NamedTuple):
    """An architecture and where it comes from."""

    architecture: Architecture
    assumed: bool
    how: str


class ParameterCount(NamedTuple):
    """Weights of a transformer by what they are for."""

    attention: int
    """Of all layers."""
    feed_forward: int
    """Of all layers; of a mixture, all experts."""
    one_expert: int
    """One expert in all layers; 0 for a dense model."""
    embeddings: int
    """Table and output head."""

    @property
    def total(self) -> int:
        """All weights; norms and biases, under 0.1%, are left out."""
        return self.attention + self.feed_forward + self.embeddings


def _shape(
    layers: int,
    hidden: int,
    heads: int,
    feed_forward: int,
    vocabulary: int,
    *,
    key_value_heads: int | None = None,
    gated: bool = True,
    tied: bool = False,
) -> Architecture:
    return Architecture(
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        key_value_heads=key_value_heads,
        feed_forward_size=feed_forward,
        gated_feed_forward=gated,
        vocabulary_size=vocabulary,
        tied_embeddings=tied,
    )


# Published shapes (configuration files and papers of the models): GPT-2, Pythia, OPT, LLaMA 1 to 3, GPT-3.
_PUBLISHED: tuple[tuple[str, float, Architecture], ...] = (
    ("GPT-2 small", 0.124e9, _shape(12, 768, 12, 3072, 50257, gated=False, tied=True)),
    ("GPT-2 medium", 0.355e9, _shape(24, 1024, 16, 4096, 50257, gated=False, tied=True)),
    ("GPT-2 large", 0.774e9, _shape(36, 1280, 20, 5120, 50257, gated=False, tied=True)),
    ("TinyLlama 1.1B", 1.1e9, _shape(22, 2048, 32, 5632, 32000, key_value_heads=4)),
    ("GPT-2 XL", 1.558e9, _shape(48, 1600, 25, 6400, 50257, gated=False, tied=True)),
    ("Pythia 2.8B", 2.775e9, _shape(32, 2560, 32, 10240, 50304, gated=False)),
    ("LLaMA 7B", 6.738e9, _shape(32, 4096, 32, 11008, 32000)),
    ("LLaMA 3 8B", 8.03e9, _shape(32, 4096, 32, 14336, 128256, key_value_heads=8)),
    ("LLaMA 13B", 13.016e9, _shape(40, 5120, 40, 13824, 32000)),
    ("LLaMA 30B", 32.5e9, _shape(60, 6656, 52, 17920, 32000)),
    ("LLaMA 65B", 65.2e9, _shape(80, 8192, 64, 22016, 32000)),
    ("LLaMA 2 70B", 69.0e9, _shape(80, 8192, 64, 28672, 32000, key_value_heads=8)),
    ("GPT-3 175B", 174.6e9, _shape(96, 12288, 96, 49152, 50257, gated=False, tied=True)),
    ("LLaMA 3 405B", 405.9e9, _shape(126, 16384, 128, 53248, 128256, key_value_heads=8)),
)
_SAME_SIZE = 0.06
"""Relative difference up to which a model is taken for one of the published ones."""

# Width of a layer over the number of layers: 128 in LLaMA 7B (4096 / 32) and in GPT-3 175B (12288 / 96). With about
# 12 × width² parameters a layer, the width follows from the parameters alone.
WIDTH_OVER_LAYERS = 128.0
PARAMETERS_PER_LAYER = 12.0
_USUAL_HEAD_SIZE = 128
_USUAL_VOCABULARY = 32000
USUAL_SEQUENCE = 2048
"""Tokens of a sequence where nothing says how many: the context of GPT-3, OPT and LLaMA."""


def architecture_of(footprint: Footprint, *, language_model: bool = False) -> KnownArchitecture | None:
    """The architecture of a job's model; None when nothing says that it is a language model.

    Args:
        footprint: of the job. Its own architecture counts first.
        language_model: the person says that it generates text, even if the footprint does not show it.

    Returns:
        The given architecture, or the shape of a published language model with as many parameters, marked as assumed.
    """
    workload = footprint.workload
    if workload.architecture is not None:
        return KnownArchitecture(workload.architecture, assumed=False, how="given")
    text = language_model or workload.sequence_length is not None or workload.batch.unit == "tokens"
    text = text or footprint.source.kind == "estimated"
    if not text or not workload.parameters:
        return None
    return assumed_architecture(workload.parameters)


def with_counted_parameters(footprint: Footprint) -> Footprint:
    """A footprint in which the dimensions of the model, where they are given with its vocabulary, tell the parameters
    that nobody counted.

    Raises:
        UsageError: the dimensions make no sense.
    """
    workload = footprint.workload
    if workload.architecture is None:
        return footprint
    check_architecture(workload.architecture)
    if workload.parameters is not None or workload.architecture.vocabulary_size is None:
        return footprint
    counted = count_parameters(workload.architecture).total
    return msgspec.structs.replace(footprint, workload=msgspec.structs.replace(workload, parameters=counted))


def assumed_architecture(parameters: int) -> KnownArchitecture:
    """The shape that published language models of that size have.

    Within 6% of a published model it is that model's; else its width follows from 12 × width² parameters a layer and
    128 of width for each layer, with as many key-value heads as heads (the largest cache).
    """
    name, size, shape = min(_PUBLISHED, key=lambda entry: abs(math.log(entry[1] / parameters)))
    if abs(size / parameters - 1) <= _SAME_SIZE:
        return KnownArchitecture(shape, assumed=True, how=f"assumed: the shape of {name}")
    width = width_of(parameters)
    layers = max(1, round(width / WIDTH_OVER_LAYERS))
    heads = max(1, round(width / _USUAL_HEAD_SIZE))
    hidden = heads * _USUAL_HEAD_SIZE if width >= _USUAL_HEAD_SIZE else max(1, round(width))
    architecture = Architecture(
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        feed_forward_size=4 * hidden,
        gated_feed_forward=False,
        vocabulary_size=min(_USUAL_VOCABULARY, max(1, parameters // (2 * hidden))),
        tied_embeddings=True,
    )
    how = (
        f"assumed from {format_count(parameters)} parameters: {layers} layers of width {hidden}, as wide over deep as "
        "LLaMA and GPT-3, without grouped-query attention"
    )
    return KnownArchitecture(architecture, assumed=True, how=how)


def width_of(parameters: int) -> float:
    """Width of a layer of a language model with so many parameters."""
    return math.cbrt(parameters * WIDTH_OVER_LAYERS / PARAMETERS_PER_LAYER)


def check_architecture(architecture: Architecture) -> None:
    """Refuse dimensions that no model has.

    Raises:
        UsageError: a number is below one, or heads do not divide.
    """
    for name in architecture.__struct_fields__:
        value = getattr(architecture, name)
        if value is not None and not isinstance(value, bool) and value < 1:
            raise UsageError(f"The {name.replace('_', ' ')} of a model must be 1 or more, not {value}.")
    heads, shared = architecture.attention_heads, architecture.key_value_heads
    if shared is not None and heads is None:
        raise UsageError("Key-value heads mean something only with the number of attention heads: give both.")
    if heads is not None and shared is not None and (shared > heads or heads % shared):
        raise UsageError(f"{heads} attention heads cannot share {shared} key-value heads: one must divide the other.")
    experts, active = architecture.experts, architecture.experts_per_token
    if active is not None and (experts is None or active > experts):
        raise UsageError("Experts for each token must not be more than the experts: give both.")


def head_size(architecture: Architecture) -> float:
    """Width of one attention head."""
    if architecture.head_size is not None:
        return float(architecture.head_size)
    if architecture.attention_heads is None:
        return float(min(_USUAL_HEAD_SIZE, architecture.hidden_size))
    return architecture.hidden_size / architecture.attention_heads


def key_value_width(architecture: Architecture) -> float:
    """Values that a layer's cache holds for one token: keys and values of all key-value heads, or the latent of MLA."""
    if architecture.key_value_latent_size is not None:
        return float(architecture.key_value_latent_size)
    heads = architecture.key_value_heads or architecture.attention_heads
    if heads is None:
        return 2.0 * architecture.hidden_size
    return 2.0 * heads * head_size(architecture)


def cached_tokens(architecture: Architecture, tokens: float) -> float:
    """Tokens whose keys and values are kept, of a sequence so long, on average over the layers."""
    window = architecture.sliding_window
    if window is None or tokens <= window:
        return tokens
    full = min(1.0, (architecture.full_attention_layers or 0) / architecture.layers)
    return full * tokens + (1 - full) * window


def count_parameters(architecture: Architecture) -> ParameterCount:
    """Weights from the dimensions: projections of attention, feed-forward matrices of all experts, embeddings.

    A feed-forward size that is not given is taken to be four times the width.
    """
    hidden, layers = architecture.hidden_size, architecture.layers
    query = (architecture.attention_heads or 1) * head_size(architecture)
    if architecture.attention_heads is None:
        query = float(hidden)
    attention = 2 * hidden * query + hidden * key_value_width(architecture)
    inner = architecture.feed_forward_size or 4 * hidden
    one = (3 if architecture.gated_feed_forward else 2) * hidden * inner * layers
    experts = architecture.experts or 1
    tables = 1 if architecture.tied_embeddings else 2
    return ParameterCount(
        attention=round(attention * layers),
        feed_forward=one * experts,
        one_expert=one if architecture.experts else 0,
        embeddings=tables * hidden * (architecture.vocabulary_size or 0),
    )


def active_parameters(architecture: Architecture, parameters: int) -> float:
    """Parameters that a token passes through: of a mixture, those of its own experts and all others."""
    experts = architecture.experts
    if experts is None:
        return float(parameters)
    one = min(float(count_parameters(architecture).one_expert), parameters / experts)
    return parameters - one * (experts - (architecture.experts_per_token or 1))
