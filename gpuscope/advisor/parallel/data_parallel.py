"""A training step of any job in data parallel layouts, replicated or sharded: from a step on one GPU.

    step = m · (computing of a micro batch + what it waits for) + gradients not hidden,  × waiting for the slowest

Computing follows the samples of a micro batch; the optimizer's update and the host's work to start a pass do not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuscope.advisor.job.job import Job
from gpuscope.advisor.parallel.collectives import Fabric, Group, all_reduce_s, gather_s
from gpuscope.advisor.parallel.messages import BUCKET_BYTES
from gpuscope.advisor.parallel.rates import ParallelRates
from gpuscope.advisor.parallel.step import BACKWARD_SHARE, Steps, exposed, waiting_share
from gpuscope.advisor.parallel.table import LayoutTable

_UNKNOWN_UPDATE_SHARE = 0.05
"""Of a step that has no profile: the optimizer's update (assumed)."""
_PIECES = 32
"""Layers that sharded parameters are gathered by, where they are not known (assumed)."""


class SingleStep(NamedTuple):
    """A step on one GPU without waiting for data."""

    device_s: float
    host_s: float
    """What the host takes at least; 0 where the device sets the pace."""
    samples: float
    """That it works through."""
    update_share: float
    """Of the device's time: the optimizer's update, which does not follow the batch."""


def update_share(job: Job) -> float:
    """The update's share of the device time: as profiled, else by bytes moved, else assumed."""
    for figure in ("time_s", "bytes_read"):
        total = sum(getattr(op, figure) or 0.0 for op in job.ops)
        if total > 0 and (figure != "time_s" or job.device_time_known):
            return sum(getattr(op, figure) or 0.0 for op in job.ops if op.class_ == "optimizer") / total
    return _UNKNOWN_UPDATE_SHARE


def data_parallel_steps(
    single: SingleStep,
    table: LayoutTable,
    fabric: Fabric,
    rates: ParallelRates,
    *,
    gradient_bytes: float | None,
    parameter_bytes: float | None,
) -> Steps | None:
    """Steps of all layouts of a table; None: the gradients' bytes are not known and have to be sent.

    Args:
        single: a step on one GPU.
        table: data parallel layouts.
        fabric: what the links reach.
        rates: constants.
        gradient_bytes: of all gradients.
        parameter_bytes: of all parameters as stage 3 gathers them.
    """
    import numpy as np

    if gradient_bytes is None and float(np.max(table.data)) > 1:
        return None
    payload, parameters = gradient_bytes or 0.0, parameter_bytes or gradient_bytes or 0.0
    update = single.device_s * single.update_share
    samples = table.micro / single.samples
    computing = np.maximum((single.device_s - update) * samples, single.host_s - update)
    group = Group(table.data, 1)
    buckets = max(1.0, np.ceil(payload / BUCKET_BYTES))
    summed = np.where(table.zero < 3, buckets * all_reduce_s(payload / buckets, group, fabric), 0.0)
    pieces = 2 * gather_s(parameters / _PIECES, group, fabric) + gather_s(payload / _PIECES, group, fabric)
    gathered = np.where(table.zero >= 3, _PIECES * pieces, 0.0)
    sharded = exposed(gathered, computing * rates.window_share, rates)
    gradients = exposed(summed, computing * BACKWARD_SHARE * rates.window_share, rates)
    count = table.accumulation
    total = (computing + sharded) * count + gradients + update
    waiting = total * waiting_share(table, fabric, rates)
    nothing: Any = np.zeros_like(total)
    return Steps(
        seconds=total + waiting,
        computing_s=computing * count,
        bubble_s=nothing,
        tensor_s=nothing,
        pipeline_s=nothing,
        context_s=nothing,
        expert_s=nothing,
        sharded_s=sharded * count,
        gradients_s=gradients,
        update_s=nothing + update,
        waiting_s=waiting,
        messages_s=gathered * count + summed,
    )
