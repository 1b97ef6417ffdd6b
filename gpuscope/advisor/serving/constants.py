"""Constants of the serving model as one value that is passed around, to be fitted anew with rows held out.

    decode step = √(weights² + products²) + cache + layers × latency + messages
    weights = bytes read / (bandwidth × share),  products = FLOPs / (sustained matrix rate × share)

Fitted on the rows of `resources/calibration/published/decoding.csv` by the study `decoding`.
"""

from __future__ import annotations

from gpuscope.domain.base import Value


class ServingConstants(Value, frozen=True, kw_only=True):
    """What an inference engine reaches of a GPU."""

    bandwidth_share: float = 0.90
    """Of the specified memory bandwidth, for weights in 16 bits and for the KV cache."""
    packed_share: float = 0.80
    """On top, for weights of four bits, which are unpacked on the way."""
    layer_latency_s: float = 75e-6
    """Of a layer in every step, whatever its size: starts and ends of its kernels."""
    products_share: float = 0.75
    """Of the GPU's sustained matrix rate, in prefill and in large batches."""
    float8_share: float = 0.80
    """On top, where products run in eight bits at their higher peak."""
    message_latency_s: float = 15e-6
    """Of an all-reduce between GPUs of one machine, of any size, by the engines' own kernels."""
    spread: float = 1.35
    """Factor within which 90% of measured latencies and throughputs lie."""
    most_concurrent: int = 256
    """Requests that an engine takes into one batch; vLLM's usual limit."""
    memory_share: float = 0.92
    """Of a GPU's memory that an engine takes for weights, working memory and cache: vLLM's default is 0.9, and
    TensorRT-LLM takes 0.9 of what weights leave."""
    cpu_bandwidth_share: float = 0.6
    """Of a CPU's memory bandwidth (STREAM runs reach 60-80%)."""


PUBLISHED = ServingConstants()
"""Fitted on all published rows."""
