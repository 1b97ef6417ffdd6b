"""Serving requests: what is wanted, and what a configuration is predicted to do."""

from __future__ import annotations

from gpuscope.domain.base import Range, Value

HOURS_OF_A_DAY = 24


class ServingTarget(Value, frozen=True, kw_only=True):
    """What a service has to do; null is "not asked for"."""

    prompt_tokens: float | None = None
    """Of a usual request; null with models that are not generative."""
    output_tokens: float | None = None
    time_to_first_token_s: float | None = None
    inter_token_latency_s: float | None = None
    latency_s: float | None = None
    """Of a whole request; of a batch for models that are not generative."""
    requests_per_second: float | None = None
    """At the busiest hour."""
    concurrent_users: float | None = None
    """Requests that are in work at the same time."""
    hourly_load: tuple[float, ...] = ()
    """24 figures, relative: the load of each hour of the day; empty: the same all day."""
    weight_dtypes: tuple[str, ...] = ()
    """Formats of the weights that are allowed: float16, bfloat16, float8, int8, int4, float4; empty: as in the
    footprint."""
    cache_dtype: str | None = None
    """Format of the KV cache; null: that of the computation."""


class Serving(Value, frozen=True, kw_only=True):
    """What one configuration does as a service."""

    replicas: int
    """Copies of the model, each on the GPUs of one layout."""
    concurrent_per_replica: float | None = None
    """Requests in one batch."""
    time_to_first_token_s: Range | None = None
    inter_token_latency_s: Range | None = None
    latency_s: Range | None = None
    requests_per_second: Range | None = None
    """Of all replicas."""
    tokens_per_second: Range | None = None
    """Output tokens of all replicas."""
    weight_dtype: str | None = None
    weights_bytes: int | None = None
    """Of one replica."""
    cache_bytes_per_token: float | None = None
    gpu_share: float | None = None
    """Below 1: a slice of a GPU (MIG, or shared) is enough."""
    replica_hours_per_day: float | None = None
    """With autoscaling over the load curve; null: no curve was given."""
    replicas_by_hour: tuple[int, ...] = ()
    """From midnight on, with autoscaling over the load curve; empty: no curve was given."""
    autoscaling_saving_share: float | None = None
    """Of the cost of running all replicas all day."""
