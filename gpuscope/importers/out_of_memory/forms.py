"""The forms in which frameworks say that memory ran out: how each begins, and where its figures are.

A form is data: a pattern for its first words, fixed facts, and a pattern for each figure. Forms come in order: of two
that begin at the same place the first one counts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuscope.importers.out_of_memory.sizes import SIZE, WHOLE_BYTES


class Form(NamedTuple):
    """One way of saying it."""

    framework: str
    begins: re.Pattern[str]
    """Named groups `backend` and `device` say what they are called after."""
    backend: str | None = None
    """Where the words do not say it."""
    kind: str = "out_of_memory"
    figures: dict[str, str] = {}
    """By field of OutOfMemoryMessage: patterns with a size in them, searched in the message."""
    parts: dict[str, str] = {}


def _begins(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_PYTORCH_FIGURES = {
    "requested_bytes": rf"[Tt]ried to allocate {SIZE}",
    "total_bytes": rf"(?:{SIZE} total capacity|total capac(?:i)?ty of {SIZE})",
    "free_bytes": rf"(?:of which {SIZE} is free|{SIZE} free\b)",
    "allocated_bytes": rf"(?:{SIZE} already allocated|{SIZE} is allocated by PyTorch|[A-Z]+ allocated: {SIZE})",
    "reserved_bytes": rf"{SIZE} reserved in total by PyTorch",
    "reserved_unallocated_bytes": rf"(?:{SIZE} is reserved by PyTorch but unallocated|{SIZE} cached)",
    "this_process_bytes": rf"this process has {SIZE} memory in use",
    "limit_bytes": rf"(?:{SIZE} allowed|max allowed: {SIZE})",
    "other_bytes": rf"other allocations: {SIZE}",
    "private_pools_bytes": rf"{SIZE} allocated in private pools",
}
"""`total capacty` is how PyTorch 2.0 and 2.1 spell it. `cached` (0.4 to 1.3) is what is held beyond `allocated`."""

_CUDA_ASYNC_FIGURES = {
    "requested_bytes": rf"failed to allocate {WHOLE_BYTES} bytes",
    "free_bytes": rf"Free memory/Total memory: {WHOLE_BYTES}/",
    "total_bytes": rf"Free memory/Total memory: [0-9]{{1,25}}/{WHOLE_BYTES}",
    "allocated_bytes": rf"InUse: +{WHOLE_BYTES}",
}
"""Of the allocator that JAX and TensorFlow share (cuda_malloc_async)."""

_XLA_PARTS = {
    "parameters": rf"parameter allocation: +{SIZE}",
    "constants": rf"constant allocation: +{SIZE}",
    "results": rf"maybe_live_out allocation: +{SIZE}",
    "temporaries": rf"preallocated temp allocation: +{SIZE}",
    "all": rf"total allocation: +{SIZE}",
    "fragmentation": rf"total fragmentation: +{SIZE}",
}

FORMS: tuple[Form, ...] = (
    # PyTorch
    Form("pytorch", _begins(r"can NOT allocate memory block with size larger than"), "xpu", "block_size_limit",
         {**_PYTORCH_FIGURES, "limit_bytes": rf"size larger than {SIZE}"}),
    Form("pytorch", _begins(r"(?P<backend>CUDA|HIP|XPU|MPS|NPU)(?: backend)? out of memory"), figures=_PYTORCH_FIGURES),
    Form("pytorch", _begins(r"Allocation on device (?P<device>\d+) would exceed allowed memory"), "cuda",
         figures={"allocated_bytes": rf"Currently allocated *: {SIZE}", "requested_bytes": rf"Requested *: {SIZE}",
                  "total_bytes": rf"Device limit *: {SIZE}", "free_bytes": rf"Free \(according to CUDA\) *: {SIZE}",
                  "limit_bytes": rf"user-supplied memory fraction\) *: {SIZE}"}),
    Form("pytorch", _begins(r"DefaultCPUAllocator: (?:can't allocate|not enough) memory"), "cpu",
         figures={"requested_bytes": rf"tried to allocate {WHOLE_BYTES} bytes"}),
    Form("pytorch", _begins(r"posix_memalign\([^)\n]{0,80}\) == 0\. 12 vs 0"), "cpu"),
    Form("pytorch", _begins(r"\$ Torch: not enough memory"), "cpu",
         figures={"requested_bytes": rf"tried to allocate {SIZE}"}),
    Form("pytorch", _begins(r"(?i:cuda runtime error \(2\) ?: out of memory)"), "cuda"),
    Form("pytorch", _begins(r"CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED"), "cuda"),
    Form("pytorch", _begins(r"out of shared memory\. Please try to raise your shared memory limit"), "cpu",
         "shared_memory"),
    # JAX before TensorFlow, with whose allocator it runs: only the source file's path tells them apart
    Form("jax",
         _begins(r"external/xla/xla/\S{1,200} Allocator \((?P<backend>GPU|gpu|cpu)\w*\) ran out of memory trying to "
                 "allocate"),
         figures={"requested_bytes": rf"trying to allocate {SIZE}", "limit_bytes": rf"Limit: +{WHOLE_BYTES}",
                  "allocated_bytes": rf"InUse: +{WHOLE_BYTES}"}),
    Form("tensorflow",
         _begins(r"tensorflow/\S{1,200} \S{1,40} cuMemAllocAsync failed to allocate [0-9]{1,25} bytes"), "cuda",
         figures=_CUDA_ASYNC_FIGURES),
    Form("jax", _begins(r"cuMemAllocAsync failed to allocate [0-9]{1,25} bytes"), "cuda", figures=_CUDA_ASYNC_FIGURES),
    # TensorFlow
    Form("tensorflow", _begins(r"OOM when allocating tensor with shape\s?\["),
         figures={"limit_bytes": rf"Limit: +{WHOLE_BYTES}", "allocated_bytes": rf"InUse: +{WHOLE_BYTES}"}),
    Form("tensorflow", _begins(r"Allocator \((?P<backend>GPU|gpu|cpu)\w*\) ran out of memory trying to allocate"),
         figures={"requested_bytes": rf"trying to allocate {SIZE}", "limit_bytes": rf"Limit: +{WHOLE_BYTES}",
                  "allocated_bytes": rf"InUse: +{WHOLE_BYTES}"}),
    Form("tensorflow", _begins(r"Ran out of memory trying to allocate [0-9]"),
         figures={"requested_bytes": rf"trying to allocate {SIZE}"}),
    Form("tensorflow", _begins(r"Dst tensor is not initialized")),
    Form("tensorflow",
         _begins(r"failed to allocate [0-9.]{1,25}\w{0,9} \([0-9]{1,25} bytes\) from device: CUDA_ERROR_OUT_OF_MEMORY"),
         "cuda", figures={"requested_bytes": rf"\({WHOLE_BYTES} bytes\)"}),
    # JAX
    Form("jax", _begins(r"Ran out of memory in memory space hbm"), "tpu",
         figures={"total_bytes": rf"of {SIZE} hbm", "requested_bytes": rf"Used {SIZE} of"}),
    Form("jax", _begins(r"Attempting to (?:allocate|reserve) [0-9.]+[KMG]\b"), "tpu",
         figures={"requested_bytes": rf"Attempting to (?:allocate|reserve) {SIZE}", "free_bytes": rf"are {SIZE} free",
                  "total_bytes": rf"HBM capacity {SIZE}", "allocated_bytes": rf"Currently allocated: +{SIZE}"}),
    Form("jax", _begins(r"Out of memory while trying to allocate [0-9]"),
         figures={"requested_bytes": rf"trying to allocate (?:{WHOLE_BYTES} bytes|{SIZE})"}, parts=_XLA_PARTS),
    Form("jax",
         _begins(r"Failed to allocate request for [0-9.]{1,25}\w{0,9} \([0-9]{1,25}B\) on device ordinal "
                 r"(?P<device>\d{1,9})"),
         figures={"requested_bytes": rf"\({WHOLE_BYTES}B\)"}),
    # CuPy; the last form is JAX's when it says no more than that
    Form("cupy", _begins(r"Out of memory allocating [0-9,]+ bytes \(allocated so far"), "cuda",
         figures={"requested_bytes": rf"allocating {WHOLE_BYTES} bytes",
                  "allocated_bytes": rf"allocated so far: {WHOLE_BYTES} bytes",
                  "limit_bytes": rf"limit set to: {WHOLE_BYTES} bytes"}),
    Form("cupy", _begins(r"out of memory to allocate [0-9,]+ bytes \(total"), "cuda",
         figures={"requested_bytes": rf"to allocate {WHOLE_BYTES} bytes",
                  "allocated_bytes": rf"\(total {WHOLE_BYTES} bytes"}),
    Form("jax", _begins(r"Out of memory allocating [0-9,]+ bytes"),
         figures={"requested_bytes": rf"allocating {WHOLE_BYTES} bytes"}),
    Form("cupy", _begins(r"cudaErrorMemoryAllocation: out of memory"), "cuda"),
    # Paddle
    Form("paddle", _begins(r"Cannot allocate [0-9.]+\w+ GPU memory, available"), "cuda",
         figures={"requested_bytes": rf"Cannot allocate {SIZE}", "free_bytes": rf"available memory is {SIZE}"}),
    Form("paddle", _begins(r"enforce allocating <= available failed"), "cuda",
         figures={"requested_bytes": rf"failed, {WHOLE_BYTES} >", "free_bytes": rf"> {WHOLE_BYTES}"}),
    Form("paddle",
         _begins(r"Cannot allocate [0-9.]{1,25}\w{1,9} memory on (?P<backend>GPU|CPU|XPU) ?(?P<device>\d{1,9})?"),
         figures={"requested_bytes": rf"Cannot allocate {SIZE}", "free_bytes": rf"available memory is only {SIZE}",
                  "allocated_bytes": rf"{SIZE} memory has been allocated"}),
    # MXNet
    Form("mxnet", _begins(r"cudaMalloc (?:retry )?failed: out of memory(?=[\s\S]{0,400}(?:mxnet|pooled_storage))"),
         "cuda"),
    Form("mxnet", _begins(r"pooled_storage_manager\.h:\d+: (?:cudaMalloc (?:retry )?failed: out of memory"
                          r"|Memory allocation failed)"), "cuda"),
    Form("mxnet", _begins(r"MXNetError: cudaMalloc (?:retry )?failed: out of memory"), "cuda"),
    Form("mxnet", _begins(r"cpu_device_storage\.h:\d+: Failed to allocate CPU Memory"), "cpu"),
    # vLLM
    Form("vllm", _begins(r"KV cache is needed, which is larger than the available KV cache memory"), "cuda",
         "cache_too_small", {"requested_bytes": rf"{SIZE} KV cache is needed",
                             "limit_bytes": rf"available KV cache memory \({SIZE}\)"}),
    Form("vllm", _begins(r"larger than the maximum number of tokens that can be stored in KV cache"), "cuda",
         "cache_too_small"),
    Form("vllm", _begins(r"No available memory for the cache blocks"), "cuda", "cache_too_small"),
    Form("vllm", _begins(r"Free memory on device .{0,12}\([0-9.]+/[0-9.]+ GiB\) on startup is less than"),
         "cuda", figures={"free_bytes": r"\(([0-9.]+)/[0-9.]+ (GiB)\)", "total_bytes": rf"\([0-9.]+/{SIZE}\)",
                  "requested_bytes": rf"utilization \([0-9.]+, {SIZE}\)"}),
    Form("sglang", _begins(r"Not enough memory\. Please try to increase --mem-fraction-static"), "cuda",
         "cache_too_small"),
    # llama.cpp, and Ollama, which runs it
    Form("ollama", _begins(r"model requires more system memory \("), "cpu",
         figures={"requested_bytes": rf"more system memory \({SIZE}\)", "free_bytes": rf"is available \({SIZE}\)"}),
    Form("ollama", _begins(r"model request too large for system"), "cpu",
         figures={"requested_bytes": rf'requested="{SIZE}"', "free_bytes": rf'available="{SIZE}"'}),
    Form("ollama",
         _begins(r"llama runner process has terminated: (?:CUDA error|cudaMalloc failed): out of memory"), "cuda"),
    Form("llama.cpp", _begins(r"failed to allocate [0-9.,]+ MiB of pinned memory"), "cpu",
         figures={"requested_bytes": rf"failed to allocate {SIZE} of pinned"}),
    Form("llama.cpp", _begins(r"Device memory allocation of size \d+ failed"), "vulkan",
         figures={"requested_bytes": rf"allocation of size {WHOLE_BYTES} failed"}),
    Form("llama.cpp", _begins(r"Insufficient Memory \(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory\)"), "mps"),
    Form("llama.cpp", _begins(r"buffer '[^'\n]*' size \d+ is larger than buffer maximum of \d"), "mps",
         "block_size_limit", {"requested_bytes": rf"size {WHOLE_BYTES} is larger",
                              "limit_bytes": rf"buffer maximum of {WHOLE_BYTES}"}),
    Form("llama.cpp", _begins(r"ggml-cuda\.cu:\d+: out of memory"), "cuda"),
    Form("llama.cpp", _begins(r"allocating [0-9.]+ MiB on device (?P<device>\d{1,9}): cudaMalloc failed"), "cuda",
         figures={"requested_bytes": rf"allocating {SIZE} on device"}),
    Form("llama.cpp",
         _begins(r"failed to allocate (?P<backend>CUDA|ROCm|Metal|Vulkan|SYCL|CPU)(?P<device>\d{0,9})\w{0,40} buffer"),
         figures={"requested_bytes": rf"buffer of size {WHOLE_BYTES}"}),
    Form("llama.cpp", _begins(r"insufficient memory \(attempted to allocate"), "cpu",
         figures={"requested_bytes": rf"attempted to allocate +{SIZE}"}),
    # Others
    Form("mlx", _begins(r"\[metal::malloc\] Attempting to allocate \d+ bytes which is greater"), "mps",
         "block_size_limit", {"requested_bytes": rf"Attempting to allocate {WHOLE_BYTES} bytes",
                              "limit_bytes": rf"allowed buffer size of {WHOLE_BYTES} bytes"}),
    Form("onnxruntime", _begins(r"Failed to allocate memory for requested buffer of size \d"),
         figures={"requested_bytes": rf"buffer of size {WHOLE_BYTES}"}),
    Form("level_zero",
         _begins(r"(?:UR|ZE|PI)_(?:RESULT_)?ERROR_OUT_OF_(?:DEVICE_MEMORY|RESOURCES|HOST_MEMORY)"), "xpu"),
    # NumPy, Python, the system
    Form("numpy", _begins(r"Unable to allocate [0-9.]+ \w+ for an array with shape"), "cpu",
         figures={"requested_bytes": rf"Unable to allocate {SIZE}"}),
    Form("system", _begins(r"Out of memory: Killed process|Memory cgroup out of memory: Killed process"), "cpu",
         "killed", {"this_process_bytes": r"anon-rss:([0-9]+)(kB)"}),
    Form("system", _begins(r"Detected \d+ oom[-_]kill event"), "cpu", "killed"),
    # Words that only say that it happened
    Form("pytorch", _begins(r"CUDA error: out of memory"), "cuda"),
    Form("pytorch", _begins(r"Cuda failure (?:2 )?'out of memory'"), "cuda"),
    Form("llama.cpp",
         _begins(r"CUDA error 2 at \S{0,200}ggml\S{0,200}: out of memory|ggml\S{0,200}: CUDA error: out of memory"),
         "cuda"),
)  # fmt: skip
