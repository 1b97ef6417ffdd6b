"""Constants of the serving model as one value that is passed around, to be fitted anew with rows held out.

    step = √(weights² + products²) + cache + layers × cycles / clock + messages
    weights = bytes read / (bandwidth × share),  products = FLOPs / (sustained matrix rate × share)

Fitted on the rows of `resources/calibration/published/decoding.csv` by `validation.decoding_fit`, for two kinds of
engines: those that start a whole step at once (CUDA graphs: vLLM, TensorRT-LLM, gpt-fast), and llama.cpp, which starts
every kernel by itself.
"""

from __future__ import annotations

from gpuscope.domain.base import Value


class ServingConstants(Value, frozen=True, kw_only=True):
    """What an inference engine reaches of a GPU."""

    bandwidth_share: float = 0.90
    """Of the specified memory bandwidth, for weights in 16 bits."""
    hbm_share: float = 1.0
    """On top, where the memory is HBM: kernels that read weights for a few tokens do not keep it busy."""
    packed_share: float = 0.90
    """On top, for weights that are unpacked on the way."""
    cache_share: float = 0.80
    """Of the specified memory bandwidth, for the KV cache."""
    layer_cycles: float = 100e3
    """Clock cycles of a layer in every step, whatever its size: starts, ends and dependencies of its kernels. On
    different GPUs they take as many cycles, not as many seconds."""
    prompt_cycles: float = 150e3
    """The same when a prompt is read, which engines do without graphs."""
    products_share: float = 0.80
    """Of the GPU's sustained matrix rate, in prefill and in large batches."""
    float8_share: float = 0.85
    """On top, where products run in eight bits."""
    mixture_share: float = 0.75
    """On top, for the small products of a mixture's experts."""
    message_latency_s: float = 15e-6
    """Of an all-reduce between GPUs of one machine, of any size, by the engines' own kernels."""
    request_s: float = 8e-3
    """Of a request outside the GPU: server, tokenizer, scheduler."""
    spread: float = 1.35
    """Factor within which 90% of measured latencies and throughputs lie."""
    most_concurrent: int = 256
    """Requests that an engine takes into one batch; vLLM's usual limit."""
    memory_share: float = 0.92
    """Of a GPU's memory that an engine takes for weights, working memory and cache: vLLM's default is 0.9, and
    TensorRT-LLM takes 0.9 of what weights leave."""
    cpu_bandwidth_share: float = 0.6
    """Of a CPU's memory bandwidth (STREAM runs reach 60-80%)."""


ENGINES = ServingConstants()
"""Fitted on all published rows of engines that start a whole step at once."""
LLAMA_CPP = ServingConstants(layer_cycles=220e3, prompt_cycles=220e3)
"""Fitted on all published rows of llama.cpp."""


def constants_for(framework: str | None) -> ServingConstants:
    """Those of the engine that a footprint names; of engines with graphs where it names none."""
    name = (framework or "").lower()
    return LLAMA_CPP if "llama.cpp" in name or "llama_cpp" in name or "ollama" in name else ENGINES
