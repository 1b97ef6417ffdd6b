"""What a message's figures add up to: whose the memory is."""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.domain.out_of_memory import OutOfMemoryMessage, ProcessMemory

_OVERLAP_SHARE = 0.02
"""Of the device: by so much the figures must exceed its size before one of them is taken to be part of another."""


class Sums(NamedTuple):
    """What follows from a message's figures; 0 where they do not say."""

    requested: int
    free: int
    own: int
    """Held by this process, as far as is known."""
    outside: int
    """Held by this process outside its framework."""
    others: int
    """Neither free nor this process's; 0 also where it is not known what this process holds."""
    other_processes: tuple[ProcessMemory, ...] = ()
    """That the message names, without this one."""


def sums_of(message: OutOfMemoryMessage) -> Sums:
    """Add up a message's figures."""
    held = message.reserved_bytes or message.allocated_bytes or 0
    itself = _listed_itself(message, held)
    own = message.this_process_bytes or (itself.memory_bytes if itself is not None else held)
    named = tuple(process for process in message.processes if process is not itself)
    outside = max(0, own - held) if itself or message.this_process_bytes is not None else 0
    if message.reserved_bytes is None:
        outside = 0
    return Sums(
        message.requested_bytes or 0, message.free_bytes or 0, own, outside, _others(message, own, named), named
    )  # fmt: skip


def _others(message: OutOfMemoryMessage, own: int, named: tuple[ProcessMemory, ...]) -> int:
    if message.other_bytes is not None:
        return message.other_bytes
    if named:
        return sum(process.memory_bytes for process in named)
    if message.total_bytes is None or message.free_bytes is None or (message.processes and not named):
        return 0
    figures = (message.this_process_bytes, message.reserved_bytes, message.allocated_bytes)
    if all(figure is None for figure in figures):
        return 0  # the message was cut: the rest of the device may be this process's
    return max(0, message.total_bytes - message.free_bytes - own)


def _listed_itself(message: OutOfMemoryMessage, held: int) -> ProcessMemory | None:
    """The process that failed, where PyTorch lists it as one of the others.

    In a container it does not know its own number, so that it does not say "this process has". Then what it holds is
    counted twice, and the figures add up to more than the device.
    """
    if message.this_process_bytes is not None or not held or message.total_bytes is None:
        return None
    whole = sum(process.memory_bytes for process in message.processes) + held + (message.free_bytes or 0)
    if whole <= message.total_bytes * (1 + _OVERLAP_SHARE):
        return None
    large = [process for process in message.processes if process.memory_bytes >= held]
    return min(large, key=lambda process: process.memory_bytes, default=None)
