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


class DataMessages(NamedTuple):
    """Seconds of communication; an entry for each layout."""

    gathered_s: Any
    """Stage 3, of one micro batch."""
    summed_s: Any
    """Of a step: stages 0 to 2."""
    waiting_share: Any


def data_messages(
    table: LayoutTable, fabric: Fabric, rates: ParallelRates, gradient_bytes: float, parameter_bytes: float
) -> DataMessages:
    """Communication of data parallel layouts.

    Args:
        table: layouts.
        fabric: what the links reach.
        rates: constants.
        gradient_bytes: of all gradients.
        parameter_bytes: of all parameters as stage 3 gathers them.
    """
    import numpy as np

    group = Group(table.data, 1)
    buckets = max(1.0, np.ceil(gradient_bytes / BUCKET_BYTES))
    summed = np.where(table.zero < 3, buckets * all_reduce_s(gradient_bytes / buckets, group, fabric), 0.0)
    pieces = 2 * gather_s(parameter_bytes / _PIECES, group, fabric) + gather_s(gradient_bytes / _PIECES, group, fabric)
    gathered = np.where(table.zero >= 3, _PIECES * pieces, 0.0)
    return DataMessages(gathered, summed, waiting_share(table, fabric, rates))


def data_parallel_steps(single: SingleStep, table: LayoutTable, messages: DataMessages, rates: ParallelRates) -> Steps:
    """Steps of all layouts of a table, from a step on one GPU."""
    import numpy as np

    update = single.device_s * single.update_share
    samples = table.micro / single.samples
    computing = np.maximum((single.device_s - update) * samples, single.host_s - update)
    sharded = exposed(messages.gathered_s, computing * rates.window_share, rates)
    gradients = exposed(messages.summed_s, computing * (BACKWARD_SHARE * rates.window_share), rates)
    count = table.accumulation
    total = (computing + sharded) * count + gradients + update
    waiting = total * messages.waiting_share
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
        messages_s=messages.gathered_s * count + messages.summed_s,
    )
