"""Take from a candidate what it is compared by, and hold it against the constraints."""

from __future__ import annotations

import msgspec

from gpuscope.advisor.choice import explain
from gpuscope.advisor.choice.constraints import BUY, KEEP
from gpuscope.advisor.choice.explain import Parts
from gpuscope.advisor.choice.limits import breaches, risks
from gpuscope.advisor.choice.money import Money, Owned
from gpuscope.advisor.choice.options import Figures, Option
from gpuscope.advisor.cost.energy import JOULES_PER_KWH
from gpuscope.domain.base import Range
from gpuscope.domain.economics import Economics
from gpuscope.domain.recommendation import Candidate, Constraints


def figures_of(candidate: Candidate, parts: Parts, money: Money, watts: Range | None) -> Figures:
    """What ranking and limits look at.

    Args:
        candidate: with time and price.
        parts: what it was made of.
        money: prices.
        watts: mean power of its GPUs.
    """
    work, step, gpu = parts.work, candidate.step_time_s, parts.gpu
    seconds = high = None
    if step is not None:
        seconds = work.compared_seconds(step, parts.scaled.batches)
        high = seconds * step.high / step.mid
    elif candidate.serving is not None:
        # Of services that meet their targets the quicker one is no cheaper: only the front of the best looks at it.
        answer = candidate.serving.latency_s or candidate.serving.time_to_first_token_s
        seconds, high = (None, None) if answer is None else (answer.mid, answer.high)
    once, hourly = _costs(candidate, parts, money)
    board = 0.0 if candidate.count == 0 else None if gpu is None or not gpu.tdp_w else gpu.tdp_w * candidate.count
    bought = candidate.acquisition == BUY and candidate.cost_usd is not None
    return Figures(
        acquisition=candidate.acquisition,
        gpus=candidate.count,
        seconds=seconds,
        seconds_high=high,
        total_known=work.batches is not None and candidate.serving is None,
        serves=candidate.serving is not None,
        once_usd=once,
        hourly_usd=hourly,
        hours=None if candidate.acquisition == KEEP else money.hours,
        purchase_usd=candidate.cost_usd.mid if bought and candidate.cost_usd is not None else None,
        throughput=None if candidate.throughput is None else candidate.throughput.mid,
        throughput_low=None if candidate.throughput is None else candidate.throughput.low,
        power_w=board,
        machine_w=_machine_watts(parts),
        energy_kwh=None if seconds is None or watts is None else seconds * watts.mid / JOULES_PER_KWH,
        doubts=int(_fit_doubt(candidate) is not None),
    )


def judged(candidate: Candidate, figures: Figures, limits: Constraints, parts: Parts) -> Option:
    """The candidate with the constraints that it breaks and what is doubtful about it."""
    fit = _fit_doubt(candidate)
    doubts = risks(figures, limits)
    return Option(candidate, figures, breaches(figures, limits), doubts if fit is None else (fit, *doubts), parts)


def explained(option: Option, owned: Owned | None, economics: Economics) -> Candidate:
    """The candidate with its costs over years, its reason in a sentence and every figure unfolded."""
    candidate = option.candidate
    if owned is not None:
        candidate = msgspec.structs.replace(candidate, cost_over_years=owned.costs)
    return msgspec.structs.replace(
        candidate,
        reason=explain.reason(candidate, option.figures.usd, option.risks, option.parts.scaled.how, economics),
        explanation=explain.whole(candidate, option.parts, None if owned is None else owned.tree),
    )


def _costs(candidate: Candidate, parts: Parts, money: Money) -> tuple[float | None, float | None]:
    """What is paid at once (over years: in all), and what is paid for each hour of use."""
    if candidate.acquisition == KEEP:
        return 0.0, 0.0
    hourly = None if candidate.cost_usd_per_hour is None else candidate.cost_usd_per_hour.mid
    if hourly is not None and candidate.serving is not None:
        hourly *= 1 - (candidate.serving.autoscaling_saving_share or 0.0)
    if parts.gpu is None or parts.way is None or not money.lasting:
        price = None if candidate.cost_usd is None else candidate.cost_usd.mid
        return (price, 0.0) if candidate.acquisition == BUY else (0.0, hourly)
    over_years = money.lasting_usd(parts.gpu, parts.way, parts.power)
    if candidate.acquisition == BUY:
        return over_years, 0.0
    if over_years is not None and (hourly is None or over_years < hourly * (money.hours or 0.0)):
        return over_years, 0.0
    return 0.0, hourly


def _machine_watts(parts: Parts) -> tuple[float, float] | None:
    """Power of one machine: that of its GPUs alone, and what the place has to deliver."""
    if parts.gpu is None or parts.way is None or parts.power is None:
        return None
    machines = parts.way.machines
    boards = (parts.gpu.tdp_w or 0.0) * parts.way.topology.gpus / machines
    return boards, max(boards, parts.power.provisioned_w / machines)


def _fit_doubt(candidate: Candidate) -> str | None:
    if candidate.fits is not None or candidate.acquisition == KEEP:
        return None
    return "whether it fits is not known" if candidate.memory.needed_bytes is None else "it may not fit"
