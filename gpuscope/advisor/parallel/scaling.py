"""A step on all GPUs of a layout as a range, with its parts."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuscope.advisor.calibration.model import Calibration
from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.parallel.device import NEWER
from gpuscope.advisor.parallel.explain import Details, step_parts
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.advisor.timing.time_model import StepTime
from gpuscope.advisor.timing.uncertainty import Doubt, combined, doubt
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Explanation

_BEYOND_PUBLISHED_NODES = 8
"""Machines up to which constants were fitted (64 GPUs)."""
_UNSTATED_NETWORK = 3.0
"""By how much a network that nobody states may be slower or faster than assumed."""
_EACH_DOUBLING = 1.06
"""By how much a range grows for each doubling of the machines beyond: failures, stragglers, other jobs' traffic."""


class Scaled(NamedTuple):
    """A step on all GPUs of a layout."""

    seconds: Range | None
    batches: float
    """Batches of one device in the run's sense that a step works through."""
    communication_s: float
    exposed_s: float
    """Part of the communication that the step has to wait for."""
    how: str
    communication_how: str = ""
    """Where the bandwidth between the GPUs comes from; "" without communication."""
    details: Details | None = None
    """All layouts of a training job that were looked at."""

    @property
    def parts(self) -> tuple[Explanation, ...]:
        """What the step is made of: computing, bubble, each kind of message, update, waiting."""
        return step_parts(self.details) if self.details is not None else ()


def spread_doubts(
    topology: Topology,
    calibration: Calibration,
    *,
    sharded: bool,
    shape_known: bool,
    modelled: bool,
    exposed_share: float = 0.0,
) -> list[Doubt]:
    """Reasons to doubt a step on several GPUs beyond those of a step on one.

    Args:
        topology: the GPUs.
        calibration: for the widths.
        sharded: parameters are gathered in each step (ZeRO stage 3).
        shape_known: the dimensions of the layers are.
        modelled: the step was counted from them, whose doubt was found on steps of many GPUs and holds them.
        exposed_share: of the step: messages that it waits for.
    """
    if topology.gpus == 1:
        return []
    doubts = [] if modelled else [doubt("many_gpus", calibration)]
    if sharded and not shape_known:
        doubts.append(doubt("sharded", calibration))
    if topology.inter is not None and topology.inter.how.startswith("assumed") and exposed_share > 0:
        reason = "the rate of the network between the machines is not stated"
        doubts.append(Doubt(reason, 1 + exposed_share * (_UNSTATED_NETWORK - 1)))
    doublings = math.log2(topology.nodes / _BEYOND_PUBLISHED_NODES)
    if doublings > 0:
        reason = f"{topology.nodes} machines, more than the constants were fitted on"
        doubts.append(Doubt(reason, _EACH_DOUBLING**doublings))
    return doubts


class TransformerDoubts(NamedTuple):
    """Reasons to doubt a step that was counted from a transformer's dimensions."""

    both: tuple[Doubt, ...]
    faster: tuple[Doubt, ...]
    """That it may take less."""


def transformer_doubts(gpu: GpuSpec, calibration: Calibration, *, mixture: bool, tuned: bool) -> TransformerDoubts:
    """Reasons to doubt a step that was counted from a transformer's dimensions.

    Args:
        gpu: where it runs; for those since Hopper libraries that are tuned for them are far ahead of others.
        calibration: for the widths.
        mixture: it has experts.
        tuned: the job is known to use such libraries, and their constants were taken.
    """
    both = [doubt("transformer_dimensions", calibration)]
    if mixture:
        both.append(doubt("mixture", calibration))
    faster = (doubt("tuned_software", calibration),) if gpu.architecture in NEWER and not tuned else ()
    return TransformerDoubts(tuple(both), faster)


def step_range(
    job: Job, single: StepTime, mid_s: float, hidden_s: float, doubts: list[Doubt], gpus_per_node: int
) -> Range:
    """Range of a step on several GPUs.

    Args:
        job: for its waiting for data.
        single: a step on one GPU, whose range is widened.
        mid_s: the middle.
        hidden_s: communication beside computing; in the worst case it comes on top.
        doubts: further ones.
        gpus_per_node: whose data one host may have to load.
    """
    assert single.seconds is not None
    step = single.seconds
    low, high = step.low / step.mid, step.high / step.mid
    if not doubts:
        return Range(low=mid_s * low, mid=mid_s, high=mid_s * high)
    factor = combined((*single.doubts, *doubts)) / combined(single.doubts)
    worst = max(mid_s * high * factor, mid_s + hidden_s) + job.data_wait_s * (gpus_per_node - 1)
    return Range(low=mid_s * low / factor, mid=mid_s, high=worst)
