"""From a text with out-of-memory messages to what they mean, and to the GPUs that would do."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.domain.out_of_memory import OutOfMemoryExplanation, OutOfMemoryMessage, OutOfMemoryVerdict
from gpuscope.engine.advise import catalogue
from gpuscope.engine.input_file import read_bounded
from gpuscope.importers.out_of_memory.find import find_messages
from gpuscope.importers.out_of_memory.verdict import verdict_of
from gpuscope.importers.text import decode, without_controls

MOST_BYTES = 256 * 1024**2
"""Of a text; longer logs are to be cut to the part around the message."""
_CARDS = 3
_ROOM = 1.05
"""Over what the message accounts for: the allocator rounds up, and the next step may need a little more."""
_VENDORS = {"cuda": "NVIDIA", "rocm": "AMD", "xpu": "Intel"}


def explain(text: str) -> OutOfMemoryExplanation:
    """Every different message of a text with its verdict, in the order of the text; none where there is none."""
    messages = find_messages(without_controls(text))
    return OutOfMemoryExplanation(messages=messages, verdicts=tuple(_with_cards(message) for message in messages))


def read_text(name: str) -> str:
    """The text of a file, or of standard input for `-`, whatever its encoding.

    Raises:
        UsageError: it cannot be read, or is larger than 256 MiB.
    """
    text, _ = decode(read_bounded(Path(name), MOST_BYTES))
    return text


def _with_cards(message: OutOfMemoryMessage) -> OutOfMemoryVerdict:
    verdict = verdict_of(message)
    if verdict.needed_bytes is None:
        return verdict
    # A device of the size on which it failed is no help, whoever held the rest of it.
    least_bytes = max(verdict.needed_bytes, message.total_bytes or 0)
    return msgspec.structs.replace(verdict, cards=_smallest(least_bytes, _VENDORS.get(message.backend or "")))


def _smallest(needed_bytes: int, vendor: str | None) -> tuple[str, ...]:
    """Of each memory size that suffices the GPU on sale with the lowest known price, the smallest sizes first."""
    by_size: dict[float, GpuSpec] = {}
    for gpu in catalogue().gpus:
        fits = gpu.memory_bytes >= needed_bytes * _ROOM and gpu.status == "current"
        if not fits or (vendor is not None and gpu.vendor != vendor):
            continue
        known = by_size.get(gpu.memory_gb)
        if known is None or _price(gpu) < _price(known):
            by_size[gpu.memory_gb] = gpu
    return tuple(by_size[size].id for size in sorted(by_size)[:_CARDS])


def _price(gpu: GpuSpec) -> float:
    return float("inf") if gpu.launch_price_usd is None else gpu.launch_price_usd
