"""What an out-of-memory message says, and what follows from it."""

from __future__ import annotations

from gpuscope.domain.base import Value

SCHEMA = "gpuscope.out_of_memory/1"


class ProcessMemory(Value, frozen=True, kw_only=True):
    """Memory that a message says a process holds on the device."""

    pid: int
    memory_bytes: int


class OutOfMemoryMessage(Value, frozen=True, kw_only=True):
    """The figures of one message; null is what it does not say. Sizes printed with two decimals are good to 0.5%."""

    framework: str
    """pytorch, tensorflow, jax, paddle, mxnet, cupy, vllm, sglang, llama.cpp, ollama, mlx, onnxruntime, level_zero,
    numpy or system"""
    backend: str | None = None
    """cuda, rocm, xpu, mps, tpu or cpu; null: the message does not say"""
    kind: str = "out_of_memory"
    """out_of_memory, block_size_limit, shared_memory, killed or cache_too_small"""
    line: int
    """Of the text, counted from 1."""
    device: int | None = None
    requested_bytes: int | None = None
    total_bytes: int | None = None
    """What the framework sees of the device."""
    free_bytes: int | None = None
    allocated_bytes: int | None = None
    """In use by tensors."""
    reserved_bytes: int | None = None
    """Held by the framework's allocator, tensors included."""
    reserved_unallocated_bytes: int | None = None
    this_process_bytes: int | None = None
    processes: tuple[ProcessMemory, ...] = ()
    other_bytes: int | None = None
    """Held by others on the device, where the message says it as one figure."""
    limit_bytes: int | None = None
    """A cap below the device's memory: a fraction that was set, a pool's limit, a container's."""
    private_pools_bytes: int | None = None
    parts: dict[str, int] = {}
    """Bytes by name, where the message breaks the need down."""
    pool: str | None = None
    """private or shared, of Metal"""
    shape: tuple[int, ...] = ()
    """Of the tensor that did not fit."""
    dtype: str | None = None
    operator: str | None = None
    hint: str | None = None
    """The setting that the message itself suggests."""
    version: str | None = None
    """Versions of the framework that write it like this."""
    unavailable: dict[str, str] = {}
    """Figures that are printed but mean nothing, and why."""
    count: int = 1
    """How often the same message is in the text."""


class OutOfMemoryVerdict(Value, frozen=True, kw_only=True):
    """Why memory ran out, and what to do."""

    code: str
    """no_figures, larger_than_device, too_big, fragmented, capped, held_by_others, outside_framework, not_a_shortage,
    device_seen_in_part, block_size_limit, cache_too_small, shared_memory or host_memory"""
    sentence: str
    evidence: str = ""
    remedies: tuple[str, ...] = ()
    """What to try, in this order."""
    needed_bytes: int | None = None
    """Least memory of a device on which this allocation would have succeeded; null: not known, or none helps."""
    cards: tuple[str, ...] = ()
    """Catalogue ids of the smallest GPUs that have it."""


class OutOfMemoryExplanation(Value, frozen=True, kw_only=True):
    """The document `gpuscope.out_of_memory/1`: each different message of a text with its verdict."""

    schema: str = SCHEMA
    messages: tuple[OutOfMemoryMessage, ...] = ()
    verdicts: tuple[OutOfMemoryVerdict, ...] = ()
    """One for each message."""
