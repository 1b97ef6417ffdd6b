"""Take from a candidate what it is compared by, and hold it against the constraints."""

from __future__ import annotations

import msgspec

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.choice import explain
from gpuscope.advisor.choice.constraints import BUY, KEEP
from gpuscope.advisor.choice.explain import Parts
from gpuscope.advisor.choice.limits import breaches, risks
from gpuscope.advisor.choice.options import Figures, Option
from gpuscope.advisor.choice.ways import Way
from gpuscope.advisor.job.work import Work
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate, Constraints

_ALL_IN = 2.0
"""Most that a machine takes in all, over the board power of its GPUs: 10.2 kW for 5.6 kW in a DGX H100, 6.5 for 3.2 in
a DGX A100 (NVIDIA's data sheets)."""


def figures_of(
    candidate: Candidate, work: Work, batches: float, gpu: GpuSpec | None, way: Way | None, watts: Range | None
) -> Figures:
    """What ranking and limits look at.

    Args:
        candidate: with time and price.
        work: how much there is to do.
        batches: of one device, in a step.
        gpu: its GPU; None: it has none, or it is not known.
        way: how it is got; None: it is at hand, or a CPU instance.
        watts: mean power of its GPUs.
    """
    step = candidate.step_time_s
    seconds = high = None
    if step is not None:
        seconds = work.compared_seconds(step, batches)
        high = seconds * step.high / step.mid
    once, hourly = _money(candidate)
    board = 0.0 if candidate.count == 0 else None if gpu is None or not gpu.tdp_w else gpu.tdp_w * candidate.count
    return Figures(
        acquisition=candidate.acquisition,
        seconds=seconds,
        seconds_high=high,
        total_known=work.batches is not None,
        once_usd=once,
        hourly_usd=hourly,
        throughput=None if candidate.throughput is None else candidate.throughput.mid,
        throughput_low=None if candidate.throughput is None else candidate.throughput.low,
        power_w=board,
        machine_w=_machine_watts(candidate, gpu, way),
        energy_kwh=None if seconds is None or watts is None else seconds * watts.mid / 3.6e6,
        doubts=int(_fit_doubt(candidate) is not None),
    )


def judged(candidate: Candidate, figures: Figures, limits: Constraints, parts: Parts) -> Option:
    """The candidate with the constraints that it breaks and what is doubtful about it."""
    fit = _fit_doubt(candidate)
    doubts = risks(figures, limits)
    return Option(candidate, figures, breaches(figures, limits), doubts if fit is None else (fit, *doubts), parts)


def explained(option: Option) -> Candidate:
    """The candidate with its reason in a sentence and every figure unfolded."""
    candidate = option.candidate
    return msgspec.structs.replace(
        candidate,
        reason=explain.reason(candidate, option.figures.usd, option.risks, option.parts.scaled.how),
        explanation=explain.whole(candidate, option.parts),
    )


def _money(candidate: Candidate) -> tuple[float | None, float | None]:
    if candidate.acquisition == KEEP:
        return 0.0, 0.0
    if candidate.acquisition == BUY:
        return None if candidate.cost_usd is None else candidate.cost_usd.mid, 0.0
    return 0.0, None if candidate.cost_usd_per_hour is None else candidate.cost_usd_per_hour.mid


def _machine_watts(candidate: Candidate, gpu: GpuSpec | None, way: Way | None) -> tuple[float, float] | None:
    if way is not None and way.system is not None and way.system.max_power_kw:
        watts = 1000 * way.system.max_power_kw
        return watts, watts
    if gpu is None or not gpu.tdp_w:
        return None
    boards = gpu.tdp_w * candidate.count / candidate.nodes
    return boards, boards * _ALL_IN


def _fit_doubt(candidate: Candidate) -> str | None:
    if candidate.fits is not None or candidate.acquisition == KEEP:
        return None
    return "whether it fits is not known" if candidate.memory.needed_bytes is None else "it may not fit"
