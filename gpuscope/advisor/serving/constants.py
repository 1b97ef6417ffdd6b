"""Constants of the serving model as one value that is passed around, to be fitted anew with rows held out.

    step = √(weights² + products²) + cache + layers × cycles / clock + messages
    weights = bytes read / (bandwidth × share),  products = FLOPs / (sustained matrix rate × share)

For two kinds of engines: those that start a whole step at once (CUDA graphs), and llama.cpp, which starts every kernel
by itself. The values here are rounded; `resources/calibration/engines.csv` holds those that `validation.decoding_fit`
fitted to the rows of `published/decoding.csv`.
"""

from __future__ import annotations

from gpuscope.domain.base import Value


class ServingConstants(Value, frozen=True, kw_only=True):
    """What an inference engine reaches of a GPU."""

    bandwidth_share: float = 0.91
    """Of the specified memory bandwidth, for weights in 16 bits."""
    hbm_share: float = 0.91
    """On top, where the memory is HBM: kernels that read weights for a few tokens do not keep it busy."""
    packed_share: float = 0.90
    """On top, for weights that are unpacked on the way."""
    cache_share: float = 0.80
    """Of the specified memory bandwidth, for the KV cache."""
    layer_cycles: float = 130e3
    """Clock cycles of a layer in every step, whatever its size: starts, ends and dependencies of its kernels. On
    different GPUs they take as many cycles, not as many seconds."""
    prompt_cycles: float = 200e3
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
    first_token_spread: float = 1.4
    """Factor within which 90% of measured times to the first token lie."""
    token_spread: float = 1.35
    """The same of times of a token."""
    throughput_spread: float = 1.4
    """The same of throughputs in full batches."""
    most_concurrent: int = 256
    """Requests that an engine takes into one batch; vLLM's usual limit."""
    memory_share: float = 0.92
    """Of a GPU's memory that an engine takes for weights, working memory and cache: vLLM's default is 0.9, and
    TensorRT-LLM takes 0.9 of what weights leave."""
    cpu_bandwidth_share: float = 0.6
    """Of a CPU's memory bandwidth (published for llama.cpp: 68% on an i9-13900K with DDR5-6400, ggml-org/llama.cpp
    issue 34; assumed for others)."""


class Engines(Value, frozen=True, kw_only=True):
    """Constants by kind of engine."""

    graphs: ServingConstants = ServingConstants()
    """Engines that start a whole step at once: vLLM, TensorRT-LLM, SGLang, gpt-fast."""
    llama_cpp: ServingConstants = ServingConstants(hbm_share=0.75, layer_cycles=165e3, prompt_cycles=220e3)
    """llama.cpp, which starts every kernel by itself."""

    def of(self, framework: str | None) -> ServingConstants:
        """Those of the engine that a footprint names; of engines with graphs where it names none."""
        return self.llama_cpp if is_llama_cpp(framework) else self.graphs


_WITH_GRAPHS = ("vllm", "tensorrt", "trt-llm", "sglang", "gpt-fast", "lmdeploy", "text-generation-inference", "tgi")


def names_engine(framework: str | None) -> bool:
    """Whether a framework is an inference engine, rather than what the model was trained with."""
    name = (framework or "").lower()
    return is_llama_cpp(framework) or any(word in name for word in _WITH_GRAPHS)


def is_llama_cpp(framework: str | None) -> bool:
    """Whether a framework is llama.cpp or built on it."""
    name = (framework or "").lower().replace("_", ".")
    return any(word in name for word in ("llama.cpp", "ollama", "llamacpp"))
