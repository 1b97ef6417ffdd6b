"""What each GPU of a replica holds, and how many requests' caches fit beside the weights."""

from __future__ import annotations

import math

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.memory.context_memory import context_bytes
from gpuscope.advisor.memory.memory_model import MemoryNeed
from gpuscope.advisor.parallel.layouts import available_bytes
from gpuscope.advisor.parallel.memory import NCCL_BYTES
from gpuscope.advisor.serving.engine import Request
from gpuscope.advisor.serving.model import ServedModel, cache_split
from gpuscope.advisor.serving.split import Split
from gpuscope.domain.base import Range
from gpuscope.domain.units import GIB

_CHUNK_TOKENS = 8192
"""Engines read prompts in pieces of at most this many tokens (vLLM's and TensorRT-LLM's usual limit)."""
_WORKING_WIDTHS = Range(low=4.0, mid=8.0, high=16.0)
"""16-bit tensors of a layer's width that are alive for each token of a piece: residual, projections, gate and up."""
_SHOWN_SHARE = 0.99
"""Of as many GiB as the vendor says GB: the least of the parts that `shown_bytes` names."""


def fixed_parts(
    model: ServedModel, gpu: GpuSpec | None, split: Split, request: Request
) -> list[tuple[str, Range, str]]:
    """What a GPU (None: a CPU) holds whatever the batch."""
    tokens = min(_CHUNK_TOKENS, max(1.0, request.prompt_tokens))
    width = tokens * model.architecture.hidden_size * 2 / split.tensor
    logits = 4.0 * (model.architecture.vocabulary_size or 0) / split.tensor
    working = _WORKING_WIDTHS.scaled(width).plus(Range.exact(logits))
    weights = Range.exact(model.weights_bytes / split.gpus)
    parts = [
        ("weights", weights, f"counted, {model.format.how}"),
        ("working memory", working, f"a prompt's piece of {tokens:.0f} tokens, 4 to 16 widths each"),
    ]
    if gpu is not None:
        context, how = context_bytes(gpu)
        parts.append(("context", context, how))
    if split.gpus > 1:
        parts.append(("communication buffers", NCCL_BYTES, "published for NCCL"))
    return parts


def cache_bytes_of(model: ServedModel, split: Split, request: Request) -> float:
    """Cache of one request on one GPU at its end."""
    return model.cache_bytes(request.longest) / cache_split(model, split.tensor) / split.stages


def shown_bytes(gpu: GpuSpec) -> int:
    """Memory of a GPU as the driver shows it.

    NVIDIA's HBM parts show about as many GiB as the vendor says GB (A100 80 GB: 80 GiB, H100 80 GB: 79.6, H200 141 GB:
    140.4, B200 180 GB: 179); others only that many decimal gigabytes, for ECC and the driver take the rest.
    """
    if gpu.vendor == "NVIDIA" and gpu.memory_type.startswith("HBM"):
        return round(gpu.memory_gb * GIB * _SHOWN_SHARE)
    return gpu.memory_bytes


def device_bytes(job: Job, gpu: GpuSpec) -> int:
    """Memory of a GPU: what the driver said in the run where it is the same GPU, else what it usually shows."""
    known = available_bytes(job, gpu)
    return known if known != gpu.memory_bytes else shown_bytes(gpu)


def most_requests(
    model: ServedModel,
    gpu: GpuSpec | None,
    split: Split,
    request: Request,
    usable_bytes: float,
) -> tuple[int, bool | None]:
    """How many requests surely fit, and whether the model fits at all (None: perhaps, with one request).

    Monotonic: with less memory neither gets better.
    """
    parts = fixed_parts(model, gpu, split, request)
    each = cache_bytes_of(model, split, request)
    fixed = Range.total(part[1] for part in parts)
    left = usable_bytes - fixed.high
    count = math.floor(left / each) if each > 0 else 0
    if count >= 1:
        return count, True
    return 1, None if fixed.low + each <= usable_bytes else False


def serving_need(model: ServedModel, gpu: GpuSpec | None, split: Split, request: Request, batch: float) -> MemoryNeed:
    """Memory of one GPU with the caches of `batch` requests."""
    parts = fixed_parts(model, gpu, split, request)
    cache = batch * cache_bytes_of(model, split, request)
    how = (
        f"{batch:.0f} requests of {request.longest:.0f} tokens × {model.cache_bytes_per_token / 1024:.4g} KiB a token"
        + (f", in {cache_split(model, split.tensor) * split.stages} parts" if split.gpus > 1 else "")
    )
    parts.append(("KV cache", Range.exact(cache), how))
    needed = Range.total(part[1] for part in parts)
    return MemoryNeed(needed, needed.low, tuple(parts))
