"""Why memory ran out: a message's figures held against each other."""

from __future__ import annotations

import math
from collections.abc import Callable

from gpuscope.domain.out_of_memory import OutOfMemoryMessage, OutOfMemoryVerdict
from gpuscope.domain.units import format_bytes
from gpuscope.importers.out_of_memory import remedies
from gpuscope.importers.out_of_memory.sums import Sums, sums_of

_ROUNDING = 0.005
"""Sizes are printed with two decimals."""
_LARGE_SHARE = 0.2
"""Of the device: from here on, what others hold (or what lies outside the framework) is worth naming as the cause."""
_FRAGMENTED_SHARE = 0.1
_SEEN_IN_PART = 1.5
_SPARE_SHARE = 0.02
"""Of the device, that must have been free beyond the request before "memory was there" is said."""
_SMALLEST_DEVICE = 1024**3
"""Bytes: no device on which such programs run has less."""
_PLAIN_SHARE = 0.8
"""Of the device: below it a process's own memory does not explain the refusal."""


def verdict_of(message: OutOfMemoryMessage) -> OutOfMemoryVerdict:
    """The verdict on one message: the first of the causes that its figures show."""
    sums = sums_of(message)
    for judge in _JUDGES:
        found = judge(message, sums)
        if found is not None:
            return found
    return _too_big(message, sums)


def _plenty_free(message: OutOfMemoryMessage, sums: Sums) -> bool:
    """Whether the device had what was asked for and more.

    Allocators take more from the driver than a tensor needs, so a request that just about fits is still a shortage.
    """
    margin = max((message.total_bytes or 0) * _SPARE_SHARE, sums.requested * _ROUNDING)
    return message.free_bytes is not None and sums.free >= sums.requested + margin > 0


def _elsewhere(message: OutOfMemoryMessage, _: Sums) -> OutOfMemoryVerdict | None:
    """Not the device's memory at all."""
    if message.kind == "shared_memory":
        return OutOfMemoryVerdict(
            code="shared_memory",
            sentence="The shared memory between DataLoader workers is full (/dev/shm), not the GPU and not the RAM.",
            remedies=remedies.SHARED_MEMORY,
        )
    if message.backend != "cpu":
        return None
    asked = "" if message.requested_bytes is None else f": {format_bytes(message.requested_bytes)} were asked for"
    if message.kind == "killed":
        sentence = "The system ended the process because the host's memory, or its container's or job's limit, was full"
        held = message.this_process_bytes
        asked = "" if held is None else f": it held {format_bytes(held)}"
    else:
        sentence = "The host's memory is full, not a GPU's"
    return OutOfMemoryVerdict(
        code="host_memory",
        sentence=f"{sentence}{asked}.",
        remedies=remedies.on_the_host(message),
    )


def _block_size(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    if message.kind != "block_size_limit":
        return None
    limit = message.limit_bytes
    words = "one block" if limit is None else f"one block above {format_bytes(limit)}"
    return OutOfMemoryVerdict(
        code="block_size_limit",
        sentence=f"The driver does not give {words}, however much is free: {format_bytes(sums.requested)} were asked "
        "for in one piece.",
        remedies=("Split the tensor: a smaller batch, or attention in pieces.", "Take a newer driver and framework."),
    )


def _cache(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    if message.kind != "cache_too_small":
        return None
    sentence = "After the weights there is too little memory left for the KV cache"
    share = "--mem-fraction-static" if message.framework == "sglang" else "gpu_memory_utilization"
    missing = None
    if message.requested_bytes is not None and message.limit_bytes is not None:
        missing = message.requested_bytes - message.limit_bytes
        sentence += f": {format_bytes(sums.requested)} are needed for one request of full length, "
        sentence += f"{format_bytes(message.limit_bytes)} are left"
    return OutOfMemoryVerdict(
        code="cache_too_small",
        sentence=f"{sentence}.",
        evidence="" if missing is None else f"{format_bytes(missing)} are missing.",
        remedies=(remedies.smaller(message)[0], f"Raise {share} if nothing else uses the GPU.",
                  *remedies.smaller(message)[1:]),
    )  # fmt: skip


def _no_figures(message: OutOfMemoryMessage, _: Sums) -> OutOfMemoryVerdict | None:
    figures = (message.requested_bytes, message.total_bytes, message.free_bytes, message.allocated_bytes)
    if any(figure is not None for figure in figures):
        return None
    return OutOfMemoryVerdict(
        code="no_figures",
        sentence="Memory ran out; the message has no figures, so neither by how much nor why can be told.",
        remedies=("Look at nvidia-smi while it starts: another process may hold the memory.",
                  *remedies.smaller(message)),
    )  # fmt: skip


def _seen_in_part(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    real, seen = message.parts.get("kernel_memory"), message.total_bytes
    if real is None or seen is None or real < seen * _SEEN_IN_PART or sums.requested >= real:
        return None
    return OutOfMemoryVerdict(
        code="device_seen_in_part",
        sentence=f"The framework sees {format_bytes(seen)} of a GPU to which the kernel gives {format_bytes(real)}: "
        "driver and runtime disagree about its size, the model is not too large.",
        evidence=f"{format_bytes(sums.requested)} were asked for.",
        remedies=("Bring driver, ROCm and framework to versions that know this chip.",
                  "Until then give the chip its memory in a way that the runtime counts (GTT, not a BIOS carve-out)."),
    )  # fmt: skip


def _larger_than_device(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    total = message.total_bytes
    if total is None or sums.requested <= total or message.framework == "vllm":
        return None
    what = "One tensor" if message.backend != "tpu" else "The program"
    return OutOfMemoryVerdict(
        code="larger_than_device",
        sentence=f"{what} of {format_bytes(sums.requested)} can never fit into {format_bytes(total)}, however empty "
        "the device is.",
        evidence=_evidence(message, sums),
        remedies=(remedies.WHY_SO_LARGE, *remedies.smaller(message)),
        needed_bytes=_needed(message, sums),
    )  # fmt: skip


def _capped(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    limit = message.limit_bytes
    if limit is None or message.backend == "mps":
        return None
    held = message.reserved_bytes or message.allocated_bytes or 0
    room_on_device = message.free_bytes is None or message.free_bytes >= sums.requested
    if held + sums.requested <= limit * (1 - _ROUNDING) or not room_on_device:
        return None
    return OutOfMemoryVerdict(
        code="capped",
        sentence=f"A cap of {format_bytes(limit)} refused it, not the device: {format_bytes(held)} are held and "
        f"{format_bytes(sums.requested)} were asked for.",
        evidence=_evidence(message, sums),
        remedies=(remedies.raise_cap(message), *_against_fragments(message, sums), *remedies.smaller(message)),
    )  # fmt: skip


def _small_program(message: OutOfMemoryMessage, _: Sums) -> OutOfMemoryVerdict | None:
    """XLA counts all that a program needs: where that is little, the program is not what filled the device."""
    whole = message.parts.get("all")
    if message.framework != "jax" or whole is None or whole >= _SMALLEST_DEVICE:
        return None
    return OutOfMemoryVerdict(
        code="not_a_shortage",
        sentence=f"The program needs only {format_bytes(whole)} in all, which any device has: other arrays of this "
        "process, its preallocation, or other processes hold the rest.",
        remedies=(remedies.end_others(message), *remedies.WHAT_JAX_HOLDS),
    )


def _wanted_at_start(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    """vLLM takes a share of the device at once, whatever the model needs."""
    if message.framework != "vllm" or not message.total_bytes or message.free_bytes is None:
        return None
    share = math.floor(100 * sums.free / message.total_bytes) / 100
    lower = () if share < _LARGE_SHARE else (f"Set gpu_memory_utilization to {share:g} or less, if the model fits.",)
    return OutOfMemoryVerdict(
        code="held_by_others",
        sentence=f"vLLM wants {format_bytes(sums.requested)} at the start and {format_bytes(sums.free)} of "
        f"{format_bytes(message.total_bytes)} are free: others hold the rest.",
        evidence=_evidence(message, sums),
        remedies=(remedies.end_others(message), *lower),
    )


def _held_by_others(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    total = message.total_bytes or message.limit_bytes
    if _plenty_free(message, sums) or not sums.others:
        return None
    named = bool(sums.other_processes) or message.other_bytes is not None
    large = total is not None and sums.others >= total * _LARGE_SHARE
    if not large or sums.free + sums.others < sums.requested or not (named or message.free_bytes is not None):
        return None
    who = ", ".join(f"process {p.pid} {format_bytes(p.memory_bytes)}" for p in sums.other_processes[:5])
    listed = f" ({who})" if who else ""
    return OutOfMemoryVerdict(
        code="held_by_others",
        sentence=f"Others hold {format_bytes(sums.others)}{listed}; without them the "
        f"{format_bytes(sums.requested)} would have fitted.",
        evidence=_evidence(message, sums),
        remedies=(remedies.end_others(message), *remedies.smaller(message)),
    )


def _fragmented(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    pieces = message.reserved_unallocated_bytes or 0
    total = message.total_bytes or message.limit_bytes or 0
    large = pieces >= total * _FRAGMENTED_SHARE > 0
    # What is only a little of the device would be full a moment later, in whatever pieces.
    enough = pieces >= max(sums.requested, total * _SPARE_SHARE)
    if not sums.requested or _plenty_free(message, sums):
        return None
    if not enough and not (large and pieces + sums.free >= sums.requested):
        return None
    return OutOfMemoryVerdict(
        code="fragmented",
        sentence=f"Memory is there, but in pieces: {format_bytes(pieces)} are reserved and unused, and no piece has "
        f"the {format_bytes(sums.requested)} that were asked for.",
        evidence=_evidence(message, sums),
        remedies=(*_against_fragments(message, sums), remedies.STEADY_SIZES, *remedies.smaller(message)),
    )  # fmt: skip


def _not_a_shortage(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    total = message.total_bytes or 0
    if message.free_bytes is not None:
        if not sums.requested or not _plenty_free(message, sums):
            return None
        start = f"{format_bytes(sums.free)} were free, more than the {format_bytes(sums.requested)} asked for"
    else:
        if not total or sums.own + sums.requested > total * _PLAIN_SHARE:
            return None
        start = f"This process held {format_bytes(sums.own)} of {format_bytes(total)} and asked for "
        start += f"{format_bytes(sums.requested)}"
    others = f" Others (display, contexts, processes) hold {format_bytes(sums.others)}." if sums.others else ""
    return OutOfMemoryVerdict(
        code="not_a_shortage",
        sentence=f"{start}: not a plain shortage. Another process may have held the memory at that moment, or a limit "
        "outside the framework refused it.",
        evidence=_evidence(message, sums) + others,
        remedies=(*remedies.large_blocks(message), *remedies.NOT_A_SHORTAGE, *_against_fragments(message, sums)),
    )


def _outside(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict | None:
    total = message.total_bytes
    if total is None or sums.outside < total * _LARGE_SHARE or sums.outside + sums.free < sums.requested:
        return None
    return OutOfMemoryVerdict(
        code="outside_framework",
        sentence=f"{format_bytes(sums.outside)} of this process lie outside PyTorch's tensors (the CUDA context, "
        f"libraries, other packages): on a device of {format_bytes(total)} that is what is missing.",
        evidence=_evidence(message, sums),
        remedies=("Use fewer processes on the GPU, for each has a context of its own; set CUDA_MODULE_LOADING=LAZY.",
                  *remedies.smaller(message)),
        needed_bytes=_needed(message, sums),
    )  # fmt: skip


def _too_big(message: OutOfMemoryMessage, sums: Sums) -> OutOfMemoryVerdict:
    whole = message.parts.get("all")
    if whole is not None:
        sentence = f"The program needs {format_bytes(whole)} in all, more than was left of the device."
    elif not sums.requested:
        sentence = "The device's memory is full."
    elif message.free_bytes is not None:
        short = format_bytes(max(0, sums.requested - sums.free))
        sentence = f"The job is too big for the device: {format_bytes(sums.requested)} more were asked for, "
        sentence += f"{format_bytes(sums.free)} were free, {short} are missing for this step alone."
    else:
        sentence = f"The job is too big for the device: {format_bytes(sums.requested)} more did not fit."
    return OutOfMemoryVerdict(
        code="too_big",
        sentence=sentence,
        evidence=_evidence(message, sums),
        remedies=(*remedies.smaller(message), *_against_fragments(message, sums)),
        needed_bytes=_needed(message, sums),
    )


def _against_fragments(message: OutOfMemoryMessage, sums: Sums) -> tuple[str, ...]:
    setting = remedies.allocator_setting(message)
    pieces = message.reserved_unallocated_bytes or 0
    if setting is None or not pieces or pieces + sums.free < sums.requested:
        return ()
    return (f"Set {setting} before the program starts.",)


def _needed(message: OutOfMemoryMessage, sums: Sums) -> int | None:
    """What this process held in use, and what it asked for: without the pieces that its allocator kept unused."""
    if message.parts.get("all"):
        return message.parts["all"]
    if not sums.requested or not (sums.own or message.backend == "tpu"):
        return None
    return sums.own - (message.reserved_unallocated_bytes or 0) + sums.requested


def _evidence(message: OutOfMemoryMessage, sums: Sums) -> str:
    figures = (
        ("of the device", message.total_bytes),
        ("allowed", message.limit_bytes if message.backend == "mps" else None),
        ("free", message.free_bytes),
        ("allocated", message.allocated_bytes),
        ("reserved but unused", message.reserved_unallocated_bytes),
        ("of this process outside the framework", sums.outside or None),
    )
    known = [f"{format_bytes(value)} {words}" for words, value in figures if value is not None]
    return "; ".join(known) + "." if known else ""


_Judge = Callable[[OutOfMemoryMessage, Sums], OutOfMemoryVerdict | None]
_JUDGES: tuple[_Judge, ...] = (
    _elsewhere, _block_size, _cache, _no_figures, _seen_in_part, _larger_than_device, _capped, _small_program,
    _wanted_at_start,    _held_by_others, _fragmented, _not_a_shortage, _outside,
)  # fmt: skip
"""In the order in which a cause excludes the later ones."""
