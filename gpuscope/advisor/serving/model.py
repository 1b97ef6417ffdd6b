"""A language model as a server sees it: bytes of weights and cache, and the work of a token."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuscope.advisor.job.architecture import (
    KnownArchitecture,
    cached_tokens,
    count_parameters,
    head_size,
    key_value_width,
)
from gpuscope.advisor.serving.weights import WeightFormat
from gpuscope.domain.architecture import Architecture


class ServedModel(NamedTuple):
    """Weights, cache and work; of the whole model, before it is split over GPUs."""

    architecture: Architecture
    how: str
    """Where the architecture comes from."""
    assumed: bool
    format: WeightFormat
    weights_bytes: float
    shared_read_bytes: float
    """Of weights that every step reads."""
    expert_bytes: float
    """Of one expert in all layers; 0: dense."""
    flops_per_token: float
    cache_value_bytes: float

    @property
    def cache_bytes_per_token(self) -> float:
        """Of a token in all layers, before any window."""
        return key_value_width(self.architecture) * self.architecture.layers * self.cache_value_bytes

    def cache_bytes(self, tokens: float) -> float:
        """Of one sequence so long."""
        return cached_tokens(self.architecture, tokens) * self.cache_bytes_per_token

    def read_bytes(self, tokens: float) -> float:
        """Weights that a step with so many tokens reads: of a mixture, the experts that any token is sent to.

        With E experts of which each token picks k at random, E·(1 − (1 − k/E)^tokens) are read.
        """
        experts = self.architecture.experts
        if experts is None:
            return self.shared_read_bytes
        chosen = min(1.0, (self.architecture.experts_per_token or 1) / experts)
        touched = experts * (1.0 - math.pow(1.0 - chosen, tokens))
        return self.shared_read_bytes + self.expert_bytes * touched

    def attention_flops(self, prompt: float) -> float:
        """Of scores and their product with the values in all layers for a prompt so long; a token sees half of it."""
        architecture = self.architecture
        heads = architecture.attention_heads
        width = architecture.hidden_size if heads is None else heads * head_size(architecture)
        return 2 * 2 * prompt * cached_tokens(architecture, prompt) / 2 * width * architecture.layers


def served_model(
    known: KnownArchitecture, parameters: int | None, format_: WeightFormat, cache_value_bytes: float
) -> ServedModel:
    """Count a model.

    Args:
        known: its architecture.
        parameters: how many it has; None: as the architecture says.
        format_: of its weights.
        cache_value_bytes: of one value in the cache.
    """
    architecture = known.architecture
    counted = count_parameters(architecture)
    total = float(parameters or counted.total)
    embeddings = min(float(counted.embeddings), total)
    rest = total - embeddings
    experts = architecture.experts or 0
    one_expert = min(float(counted.one_expert), rest / experts) if experts else 0.0
    each = format_.bits / 8
    table_bytes = format_.table_bytes if format_.quantised else each
    # The input table is looked up, not read; a tied one is read as the output head.
    head = embeddings if architecture.tied_embeddings else embeddings / 2
    active = rest - one_expert * (experts - (architecture.experts_per_token or 1)) if experts else rest
    return ServedModel(
        architecture=architecture,
        how=known.how,
        assumed=known.assumed,
        format=format_,
        weights_bytes=rest * each + embeddings * table_bytes,
        shared_read_bytes=(rest - one_expert * experts) * each + head * table_bytes,
        expert_bytes=one_expert * each,
        flops_per_token=2.0 * (active + head),
        cache_value_bytes=cache_value_bytes,
    )


def cache_split(model: ServedModel, tensor_parallel: int) -> int:
    """Parts into which a request's cache is cut: a key-value head cannot be, nor the latent of MLA."""
    architecture = model.architecture
    if architecture.key_value_latent_size is not None:
        return 1
    heads = architecture.key_value_heads or architecture.attention_heads or tensor_parallel
    return min(tensor_parallel, heads)
