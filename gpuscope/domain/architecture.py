"""The dimensions of a transformer, from which its caches, messages and work can be counted."""

from __future__ import annotations

from gpuscope.domain.base import Value


class Architecture(Value, frozen=True, kw_only=True):
    """Dimensions of a transformer, as its configuration file names them; null is unknown."""

    layers: int
    hidden_size: int
    attention_heads: int | None = None
    key_value_heads: int | None = None
    """Fewer than `attention_heads` with grouped-query attention; null: as many."""
    head_size: int | None = None
    """Null: hidden size / attention heads."""
    feed_forward_size: int | None = None
    gated_feed_forward: bool | None = None
    """Three matrices (SwiGLU) instead of two."""
    vocabulary_size: int | None = None
    tied_embeddings: bool | None = None
    experts: int | None = None
    """Of a mixture of experts; null: dense."""
    experts_per_token: int | None = None
    sliding_window: int | None = None
    """Tokens that a layer with a window looks back; null: all."""
    full_attention_layers: int | None = None
    """Layers without that window; null: none."""
    key_value_latent_size: int | None = None
    """Of multi-head latent attention: what the cache holds for a token and layer instead of keys and values."""
