"""Power of whole machines: the GPUs, and what the rest takes (CPUs, memory, network, fans, losses of the supply).

Measured on 8-GPU H100 machines rated at 10.2 kW: at most 8.4 kW in training (Latif et al., IEEE Access 13, 2025), 76%
of the rating in heavy work (Newkirk et al., 2025): 2.2 to 2.8 kW besides GPUs of 5.6 kW together. Others are assumed to
follow in proportion to their GPUs, plus what a machine takes with any GPU. Cooling of the room is not in it (PUE).
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.cost.configuration import Configuration
from gpuscope.domain.base import Range

_BASE_W = Range(low=100.0, mid=150.0, high=250.0)
"""Of one machine without GPUs at work (assumed)."""
_SERVER_SHARE = Range(low=0.20, mid=0.38, high=0.50)
"""Of the GPUs' board power, in air-cooled servers (the measurements above)."""
_WORKSTATION_SHARE = Range(low=0.10, mid=0.15, high=0.30)
"""The same at a desk: losses of the supply and fans, with fewer CPUs and networks (assumed)."""
_IDLE_GPU_SHARE = 0.12
"""Of the board power, while a GPU waits without a job: below the share of one with a job's context (assumed)."""
_IDLE_REST_SHARE = 0.5
"""Of what the rest takes under load (assumed)."""
_RATING_COUNTS_ALL = 1.2
"""A machine's rating below this many times its GPUs' power is that of the GPUs alone (assumed)."""


class MachinePower(NamedTuple):
    """Watts of all machines of a configuration at the socket."""

    load_w: Range
    """While it works."""
    idle_w: Range
    """While it waits. At the low end it is switched off."""
    provisioned_w: float
    """What the place has to be able to deliver."""
    how: str


def machine_power(what: Configuration, gpus_w: Range | None, gpus_how: str) -> MachinePower | None:
    """Power of the machines; None when that of the GPUs is not known.

    Args:
        what: the configuration.
        gpus_w: mean power of all GPUs while the job runs.
        gpus_how: where that comes from.
    """
    board_w = (what.gpu.tdp_w or 0.0) * what.count
    if gpus_w is None or not board_w:
        return None
    rest = overhead_w(what)
    load = gpus_w.plus(rest)
    limit = _rating_w(what, board_w)
    if limit is not None:
        load = Range(low=min(load.low, limit), mid=min(load.mid, limit), high=min(load.high, limit))
    idle_w = board_w * _IDLE_GPU_SHARE + rest.mid * _IDLE_REST_SHARE
    # What stands in a data centre stays on.
    idle = Range(low=0.0, mid=idle_w if what.gpu.is_datacenter else 0.0, high=idle_w)
    how = f"GPUs: {gpus_how}; the rest of the machine: {rest.low:,.0f} to {rest.high:,.0f} W"
    return MachinePower(load, idle, limit or board_w + rest.high, how)


def overhead_w(what: Configuration) -> Range:
    """What all machines take besides their GPUs while the job runs."""
    share = _SERVER_SHARE if what.gpu.is_datacenter else _WORKSTATION_SHARE
    board_w = (what.gpu.tdp_w or 0.0) * what.count
    return _BASE_W.scaled(what.nodes).plus(share.scaled(board_w))


def _rating_w(what: Configuration, board_w: float) -> float | None:
    """Largest power of the catalogue's machine with all that is in it; None: not known."""
    rated_kw = what.system.max_power_kw if what.system is not None else None
    if rated_kw is None:
        return None
    watts = rated_kw * 1000 * what.nodes
    return watts if watts >= board_w * _RATING_COUNTS_ALL else None
