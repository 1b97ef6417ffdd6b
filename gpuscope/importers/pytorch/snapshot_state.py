"""The allocator at the moment of a snapshot: segments got from the driver, blocks cut out of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from gpuscope.domain.footprint import PeakAt
from gpuscope.domain.imported import Holder
from gpuscope.importers.pytorch.snapshot_fields import Budget, frames_of, place_of, size_of

MOST_HOLDERS = 20
_ALLOCATED, _AWAITING, _INACTIVE = "active_allocated", ("active_pending_free", "active_awaiting_free"), "inactive"


@dataclass(slots=True)
class DeviceState:
    """Sums over the segments of one device, bytes."""

    segments: int = 0
    expandable: int = 0
    reserved: int = 0
    allocated: int = 0
    active: int = 0
    requested: int = 0
    blocks_active: int = 0
    blocks_inactive: int = 0
    largest_free: int = 0
    inactive_split: int = 0
    awaiting_free: int = 0
    rounding: int = 0
    private_pool: int = 0
    private_pool_inactive: int = 0
    holders: dict[PeakAt, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))


def states_of(segments: Any, budget: Budget) -> dict[int, DeviceState]:
    """By device."""
    states: dict[int, DeviceState] = defaultdict(DeviceState)
    for segment in budget.dicts(segments):
        device = segment.get("device")
        index = device if isinstance(device, int) and 0 <= device < 4096 else 0
        _add_segment(states[index], segment, budget)
    return dict(states)


def _add_segment(state: DeviceState, segment: dict[str, Any], budget: Budget) -> None:
    total = size_of(segment.get("total_size"))
    state.segments += 1
    state.expandable += segment.get("is_expandable") is True
    state.reserved += total
    state.allocated += size_of(segment.get("allocated_size"))
    state.active += size_of(segment.get("active_size"))
    private = is_private(segment.get("segment_pool_id"))
    free = used = 0
    for block in budget.dicts(segment.get("blocks")):
        size = size_of(block.get("size"))
        if block.get("state") == _INACTIVE:
            state.blocks_inactive += 1
            free += size
            if not private:  # nobody else can use what a private pool has free
                state.largest_free = max(state.largest_free, size)
        else:
            used += 1
            _add_active(state, block, size)
    state.inactive_split += free if used else 0
    if private:
        state.private_pool += total
        state.private_pool_inactive += free


def _add_active(state: DeviceState, block: dict[str, Any], size: int) -> None:
    if block.get("state") in _AWAITING:
        state.awaiting_free += size
        return
    state.blocks_active += 1
    requested = size_of(block.get("requested_size"))
    if requested:  # not there before torch 2.0
        state.requested += requested
        state.rounding += max(0, size - requested)
    place = place_of(frames_of(block))
    if place is not None:
        total = state.holders[place]
        total[0] += size
        total[1] += 1


def is_private(pool: Any) -> bool:
    """Pools of CUDA graphs and of `torch.cuda.MemPool` have numbers; the default one is (0, 0)."""
    return isinstance(pool, (list, tuple)) and any(isinstance(part, int) and part != 0 for part in pool)


def holders_of(totals: dict[PeakAt, list[int]]) -> tuple[Holder, ...]:
    """The lines that hold most, most bytes first."""
    ordered = sorted(totals.items(), key=lambda item: (-item[1][0], item[0].file or "", item[0].line or 0))
    return tuple(Holder(place=place, bytes=size, blocks=blocks) for place, (size, blocks) in ordered[:MOST_HOLDERS])
