"""What to try against a shortage of memory, in order, for the framework and version that said so."""

from __future__ import annotations

import re

from gpuscope.domain.out_of_memory import OutOfMemoryMessage

_LESS_TRAINING = (
    "Halve the batch size, and double gradient accumulation to keep the global batch.",
    "Compute in 16 bits (autocast to bfloat16, or float16 with a GradScaler).",
    "Turn on activation checkpointing: about a third more computing, far fewer activations.",
)
_SHARD = "Shard parameters and optimizer over several GPUs (FSDP, ZeRO), or use an 8-bit optimizer."

_SMALLER_MODEL = "Take a smaller model or quantisation of it: a Mac has no second GPU to shard over."
_PADDLE_SHARE = re.compile(r"FLAGS_fraction_of_gpu_memory_to_use=(0\.\d{1,9})")
_LOW_SHARE = 0.9
"""Paddle takes 0.92 unless told otherwise (its documentation of the flag)."""
_INTEL_BLOCK = 4 * 1024**3

SMALLER: dict[str, tuple[str, ...]] = {
    "pytorch": (*_LESS_TRAINING, _SHARD),
    "tensorflow": (
        "Halve the batch size.",
        "Turn on mixed precision: tf.keras.mixed_precision.set_global_policy('mixed_float16').",
        "Let memory grow on demand when others share the GPU: tf.config.experimental.set_memory_growth(gpu, True).",
    ),
    "jax": (
        "Halve the batch size, or split it with jax.lax.scan.",
        "Recompute activations with jax.checkpoint.",
        "Compute in bfloat16, and donate arguments that are not used again (donate_argnums).",
    ),
    "paddle": (
        "Halve the batch size.",
        "Turn on automatic mixed precision: paddle.amp.auto_cast.",
        "Free memory that is held but not used: FLAGS_eager_delete_tensor_gb=0.",
    ),
    "mxnet": ("Halve the batch size.", "Compute in float16: net.cast('float16') with amp.init()."),
    "cupy": (
        "Work through the array in pieces, or in float32 instead of float64.",
        "Give unused blocks back: cupy.get_default_memory_pool().free_all_blocks().",
    ),
    "vllm": (
        "Lower max_model_len to what your requests need.",
        "Quantise the weights (FP8, AWQ, GPTQ) or the KV cache (kv_cache_dtype=fp8).",
        "Split the model: tensor_parallel_size over more GPUs.",
    ),
    "llama.cpp": (
        "Offload fewer layers: lower --n-gpu-layers.",
        "Shorten the context (--ctx-size), or quantise its cache (--cache-type-k q8_0 --cache-type-v q8_0).",
        "Take a smaller quantisation of the model, or a smaller --ubatch-size.",
    ),
    "sglang": (
        "Lower --context-length to what your requests need.",
        "Quantise the weights (--quantization fp8) or the KV cache (--kv-cache-dtype fp8_e5m2).",
        "Split the model: --tp-size over more GPUs.",
    ),
    "ollama": (
        "Take a smaller model or quantisation of it.",
        "Shorten the context (num_ctx), or quantise its cache (OLLAMA_KV_CACHE_TYPE=q8_0).",
    ),
    "mlx": (
        "Take a smaller model or quantisation of it.",
        "Shorten the context, or process the prompt in smaller pieces.",
    ),
    "onnxruntime": (
        "Run fewer sessions or threads at once, with smaller batches.",
        "Bound each session's arena: gpu_mem_limit and arena_extend_strategy=kSameAsRequested of the CUDA provider.",
    ),
    "numpy": ("Work through the array in pieces (numpy.memmap), or in a smaller dtype.",),
}

HOST = (
    "Lower what the host holds: fewer DataLoader workers, no dataset copied into each of them, memory-mapped files.",
    "Close other programs, or take a machine (or a job allocation) with more RAM.",
)
SHARED_MEMORY = (
    "Give the container more shared memory: docker run --shm-size=8g, or an emptyDir of medium Memory at /dev/shm.",
    "Use fewer DataLoader workers, or torch.multiprocessing.set_sharing_strategy('file_system').",
)

WHAT_JAX_HOLDS = (
    "Look at what is alive: jax.profiler.save_device_memory_profile.",
    "Set XLA_PYTHON_CLIENT_PREALLOCATE=false where several programs share the GPU.",
)
WHY_SO_LARGE = (
    "Look for what makes it so large: attention over the whole sequence squared (use a fused or blockwise one), a "
    "wrong batch size, a missing mean over a dimension."
)
STEADY_SIZES = "Keep sizes steady: pad to a few lengths, drop the last short batch."
NOT_A_SHORTAGE = (
    "Watch the GPU while it happens (`gpuscope record`): somebody else may take the memory for a moment.",
    "Look for limits: the container's or job's memory, locked pages (ulimit -l), the page file on Windows.",
    "Update the driver, and restart the machine if the GPU reports errors.",
)

_CAPS = {
    "pytorch": "torch.cuda.set_per_process_memory_fraction",
    "tensorflow": "per_process_gpu_memory_fraction, or the memory_limit of the logical device",
    "jax": "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "cupy": "cupy.get_default_memory_pool().set_limit, or CUPY_GPU_MEMORY_LIMIT",
    "paddle": "FLAGS_fraction_of_gpu_memory_to_use",
}


_OWN_ON_THE_HOST = frozenset({"numpy", "ollama", "llama.cpp"})


def on_the_host(message: OutOfMemoryMessage) -> tuple[str, ...]:
    """Against a shortage of the host's memory; of DataLoaders only where there may be some."""
    if message.framework in _OWN_ON_THE_HOST:
        return (*smaller(message), HOST[1])
    return HOST


def raise_cap(message: OutOfMemoryMessage) -> str:
    """Where the framework's cap is set."""
    return f"Raise the cap: {_CAPS.get(message.framework, 'the memory limit that was set for the framework')}."


def end_others(message: OutOfMemoryMessage) -> str:
    """How to get back what others hold."""
    if message.backend == "mps":
        return "Close other programs: on this machine they share the memory with the GPU."
    tool = {"rocm": "rocm-smi --showpids lists them", "cuda": "nvidia-smi lists them"}.get(message.backend or "", "")
    listed = (
        f"{tool}; one of your own may be left from an earlier run" if tool else "one may be left from an earlier run"
    )
    return f"End the other processes ({listed}), or take another device."


def smaller(message: OutOfMemoryMessage) -> tuple[str, ...]:
    """Ways to need less memory."""
    if message.framework == "pytorch" and message.backend == "mps":
        return (*_LESS_TRAINING, _SMALLER_MODEL)
    known = SMALLER.get(message.framework, ("Halve the batch size.",))
    share = _PADDLE_SHARE.search(message.hint or "")
    if share is not None and float(share.group(1)) < _LOW_SHARE:
        return (f"Raise the share of the GPU that Paddle takes: {share.group()} is set.", *known)
    return known


def large_blocks(message: OutOfMemoryMessage) -> tuple[str, ...]:
    """What to do where one block is refused although it would fit.

    Intel's runtime refuses single blocks above 4 GiB on Arc cards, with the words of a shortage since PyTorch 2.5
    (github.com/intel/intel-extension-for-pytorch/issues/846 and 863).
    """
    if message.backend != "xpu" or (message.requested_bytes or 0) < _INTEL_BLOCK:
        return ()
    return ("Split tensors of 4 GiB and more: Intel's runtime refuses larger single blocks on some cards.",)


def allocator_setting(message: OutOfMemoryMessage) -> str | None:
    """The setting against fragmentation that this version of PyTorch knows; None: it has none, or it is not PyTorch.

    `max_split_size_mb` is there from 1.10, `expandable_segments` from 2.0; the name PYTORCH_ALLOC_CONF is silently
    ignored by 2.9, which announces it (github.com/pytorch/pytorch/issues/183387), so the old name is given up to there.
    """
    if message.framework != "pytorch" or message.backend not in {"cuda", "rocm"}:
        return None
    version = message.version or ""
    if version in {"0.2 to 0.4", "0.4 to 1.3"}:
        return None
    name = "PYTORCH_HIP_ALLOC_CONF" if message.backend == "rocm" else "PYTORCH_CUDA_ALLOC_CONF"
    if version == "2.10 or later":
        name = "PYTORCH_ALLOC_CONF"
    setting = "max_split_size_mb:128" if version.endswith("2.0") else "expandable_segments:True"
    return f"{name}={setting}"
