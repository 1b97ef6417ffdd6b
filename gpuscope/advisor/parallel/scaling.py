"""From one GPU to several in one machine: data parallel, sharded, or tensor parallel for inference.

The batch of each GPU stays what it was (weak scaling): n GPUs work through n times the samples in a step.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuscope.advisor.job.job import Job
from gpuscope.advisor.parallel.interconnect import Interconnect, all_reduce_seconds, sharded_seconds
from gpuscope.advisor.timing import rates
from gpuscope.advisor.timing.time_model import StepTime
from gpuscope.advisor.timing.uncertainty import MANY_GPUS, SHARDED, combined
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Layout


class Scaled(NamedTuple):
    """A step on all GPUs of a layout."""

    seconds: Range | None
    batches: float
    """Batches of one GPU that a step works through: the number of replicas."""
    communication_s: float
    exposed_s: float
    """Part of the communication that the step has to wait for."""
    how: str
    communication_how: str = ""
    """Where the bandwidth between the GPUs comes from; "" without communication."""


def scale(job: Job, single: StepTime, layout: Layout, link: Interconnect | None) -> Scaled:
    """A step on the layout's GPUs, from a step on one of them.

    Args:
        job: the job, for the bytes that it exchanges.
        single: a step on one GPU.
        layout: data parallel (`zero_stage` 0 or 3), or tensor parallel.
        link: between the GPUs; None for one.
    """
    if link is None or single.seconds is None or single.device_s is None:
        return Scaled(single.seconds, 1.0, 0.0, 0.0, single.how)
    if layout.tensor_parallel > 1:
        return _tensor_parallel(single, layout.tensor_parallel, link)
    if job.stage == "inference":
        return Scaled(single.seconds, float(layout.data_parallel), 0.0, 0.0, f"{single.how}; replicas do not talk")
    return _data_parallel(job, single, layout, link)


def _data_parallel(job: Job, single: StepTime, layout: Layout, link: Interconnect) -> Scaled:
    assert single.seconds is not None
    assert single.device_s is not None
    count, payload = layout.data_parallel, job.gradient_bytes
    if payload is None:
        return Scaled(None, float(count), 0.0, 0.0, "the bytes of its gradients are not known")
    seconds = sharded_seconds if layout.zero_stage == 3 else all_reduce_seconds
    communication_s = seconds(payload, count, link)
    hidden_s = single.device_s * rates.OVERLAP_SHARE
    exposed_s = max(0.0, communication_s - hidden_s)
    doubts = (MANY_GPUS, SHARDED) if layout.zero_stage == 3 else (MANY_GPUS,)
    factor = combined((*single.doubts, *doubts)) / combined(single.doubts)
    # Without any overlap the whole of the communication comes on top.
    high = max(single.seconds.mid + communication_s, (single.seconds.high + exposed_s) * factor)
    # One host may have to load the data of all GPUs.
    high += job.data_wait_s * (count - 1)
    step = Range(low=(single.seconds.low + exposed_s) / factor, mid=single.seconds.mid + exposed_s, high=high)
    how = f"{single.how}; {communication_s:.2g} s of gradients over {link.name}, {exposed_s:.2g} s of it not hidden"
    return Scaled(step, float(count), communication_s, exposed_s, how, f"{link.name}: {link.how}")


def _tensor_parallel(single: StepTime, count: int, link: Interconnect) -> Scaled:
    """Each GPU holds a part of every layer: between the whole time (all communication) and an n-th of it."""
    assert single.seconds is not None
    low, high = single.seconds.low / count, single.seconds.high
    step = Range(low=low, mid=(low * high) ** 0.5, high=high)
    return Scaled(step, 1.0, 0.0, 0.0, f"{single.how}; split over {count} GPUs on {link.name}, its messages unknown")
