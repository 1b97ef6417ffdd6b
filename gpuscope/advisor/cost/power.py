"""Power of one GPU under load, from what it does each second.

    power = board power × (idle × (1 − busy) + busy share × busy + memory × bytes/s ÷ bandwidth
                           + FLOP/s ÷ peak × (tensor or vector)),   at most the power limit

Each byte and each operation costs energy; the rest is paid for being on. Tensor units reach the limit at about three
quarters of their peak, which is where published matrix products end; plain FP32 units and memory stay below it. The
shares were fitted to published measurements (`resources/calibration/published/power.csv`); the study `energy` leaves
each GPU out of the fit and predicts it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.precision import FLOAT32, matrix_peak_tflops
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Op

BOARD_POWER_SHARE = Range(low=0.25, mid=0.65, high=1.0)
"""Mean power as a share of the board's where nothing is known of the load: what published runs span (power.csv)."""


class PowerShares(NamedTuple):
    """Shares of the board power, and how far measurements lie from them."""

    idle: float
    """While nothing runs on it, with the job's context loaded."""
    busy: float
    """While any kernel runs, besides what it moves and computes."""
    memory: float
    """At the full memory bandwidth."""
    vector: float
    """At the full rate of plain FP32 units."""
    tensor: float
    """At the full rate of tensor units in any format."""
    idle_spread: float
    """Measurements of waiting GPUs lie within their share ÷ and × this, nominally in 90% of cases."""
    spread: float
    """The same of working ones."""


POWER = PowerShares(idle=0.160, busy=0.283, memory=0.496, vector=0.535, tensor=0.985, idle_spread=1.85, spread=1.17)
"""Fitted to all rows of power.csv (`validation.studies._power_fit`)."""


class Load(NamedTuple):
    """What one GPU does on average."""

    busy: float
    """Share of the time in which a kernel runs."""
    flops_per_s: float
    bytes_per_s: float
    """Read from and written to its memory."""
    precision: str
    limit_w: float | None = None
    """Power limit that was set; None: the board's own."""


def load_of(ops: Iterable[Op], step_s: float, device_s: float | None, precision: str) -> Load | None:
    """The load of a step; None when it has no operators or takes no time.

    Args:
        ops: of one step of one device.
        step_s: how long it takes.
        device_s: in which the device works; None: all of it.
        precision: compute precision.
    """
    known = tuple(ops)
    if not known or not step_s > 0:
        return None
    flops = sum(op.flops or 0.0 for op in known)
    moved = sum((op.bytes_read or 0.0) + (op.bytes_written or 0.0) for op in known)
    busy = 1.0 if device_s is None else min(1.0, device_s / step_s)
    return Load(busy, flops / step_s, moved / step_s, precision)


def mean_watts(load: Load, gpu: GpuSpec, shares: PowerShares = POWER) -> Range | None:
    """Mean power of one GPU under a load; None when the catalogue lacks a figure that is needed."""
    peak = matrix_peak_tflops(gpu, load.precision)
    if not gpu.tdp_w or not gpu.memory_bandwidth_gbs or not peak:
        return None
    # More than all cannot be: caches serve some bytes, and FP32 convolutions may run on tensor units.
    memory = min(1.0, load.bytes_per_s / (gpu.memory_bandwidth_gbs * 1e9))
    computing = min(1.0, load.flops_per_s / (peak * 1e12))
    flop_share = shares.vector if load.precision == FLOAT32 else shares.tensor
    limit = min(gpu.tdp_w, load.limit_w or gpu.tdp_w)
    waiting = gpu.tdp_w * shares.idle * (1 - load.busy)
    working = gpu.tdp_w * (shares.busy * load.busy + shares.memory * memory + flop_share * computing)
    mid = min(limit, waiting + working)
    return Range(
        low=min(mid, limit / shares.spread, waiting / shares.idle_spread + working / shares.spread),
        mid=mid,
        high=min(limit, waiting * shares.idle_spread + working * shares.spread),
    )
