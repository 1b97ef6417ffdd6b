"""One configuration, judged: what is predicted for it, which constraints it breaks, and what is doubtful about it."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuscope.advisor.choice.constraints import BUY, KEEP, RENT
from gpuscope.advisor.job.work import Work
from gpuscope.domain.base import Range
from gpuscope.domain.recommendation import Candidate, Constraints
from gpuscope.domain.units import format_duration, format_duration_range, format_money

_ROOM = 1.01
"""Over what is needed: three figures are shown, and what is shown must be enough when it is typed in."""


class Breach(NamedTuple):
    """A constraint that a configuration breaks."""

    code: str
    sentence: str
    excess: float
    """Needed over allowed: by how much the constraint would have to give."""
    relax: str
    """What to change, to how much."""


class Option(NamedTuple):
    """A candidate with what ranking and rejecting need to know."""

    candidate: Candidate
    compared_seconds: float | None
    """Time for the work, or for the compared number of steps."""
    compared_usd: float | None
    """Cost of that; a purchase counts in full."""
    breaches: tuple[Breach, ...]
    risks: tuple[str, ...]
    """Each a clause: "may not fit", ..."""
    power_w: float | None


def judge(candidate: Candidate, work: Work, constraints: Constraints, power_w: float | None) -> Option:
    """Hold a candidate against the constraints.

    Args:
        candidate: with everything predicted.
        work: how much there is to do.
        constraints: already checked.
        power_w: board power of all its GPUs; None: unknown.
    """
    breaches: list[Breach] = []
    risks: list[str] = []
    if candidate.fits is None and candidate.acquisition != KEEP:
        unknown = candidate.memory.needed_bytes is None
        risks.append("whether it fits is not known" if unknown else "it may not fit")
    _deadline(candidate, constraints, breaches, risks)
    if candidate.acquisition != KEEP:
        _budget(candidate, constraints, breaches, risks, total_known=work.batches is not None)
        _power(constraints, power_w, breaches)
    seconds = _compared_seconds(candidate, work)
    return Option(candidate, seconds, _compared_usd(candidate, seconds), tuple(breaches), tuple(risks), power_w)


def _deadline(candidate: Candidate, constraints: Constraints, breaches: list[Breach], risks: list[str]) -> None:
    limit = constraints.deadline_s
    if limit is None:
        return
    time_s = candidate.time_to_finish_s
    if time_s is None:
        breaches.append(
            Breach("unknown_time", "its time is not known, so the deadline cannot be judged", float("inf"), "")
        )
    elif time_s.mid > limit:
        breaches.append(
            Breach(
                "deadline",
                f"it needs {format_duration_range(time_s)}, the deadline is {format_duration(limit)}",
                time_s.mid / limit,
                f"a deadline of {format_duration(time_s.mid * _ROOM)} instead of {format_duration(limit)}",
            )
        )
    elif time_s.high > limit:
        risks.append(f"it may miss the deadline: up to {format_duration(time_s.high)}")


def _budget(
    candidate: Candidate, constraints: Constraints, breaches: list[Breach], risks: list[str], *, total_known: bool
) -> None:
    hourly, limit = candidate.cost_usd_per_hour, constraints.budget_usd_per_hour
    if hourly is not None and limit is not None and hourly.mid > limit:
        breaches.append(
            Breach(
                "budget_per_hour",
                f"it costs {format_money(hourly.mid)} an hour, the budget is {format_money(limit)}",
                hourly.mid / limit,
                f"{_money_up(hourly.mid)} an hour instead of {format_money(limit)}",
            )
        )
    limit = constraints.budget_usd
    if limit is None:
        return
    cost = candidate.cost_usd
    if cost is None:
        if candidate.acquisition == BUY or total_known:
            what = "price" if candidate.acquisition == BUY else "time"
            words = f"its {what} is not known, so the budget cannot be judged"
            breaches.append(Breach("unknown_cost", words, float("inf"), ""))
    elif cost.mid > limit:
        breaches.append(
            Breach(
                "budget",
                f"it costs about {format_money(cost.mid)}, the budget is {format_money(limit)}",
                cost.mid / limit,
                f"a budget of {_money_up(cost.mid)} instead of {format_money(limit)}",
            )
        )
    elif cost.high > limit:
        risks.append(f"it may go over the budget: up to {format_money(cost.high)}")


def _money_up(usd: float) -> str:
    """An amount rounded up to what `format_money` shows, so that it is enough."""
    shown_per_usd = 100 if usd < 100 else 1
    return format_money(math.ceil(usd * shown_per_usd) / shown_per_usd)


def _power(constraints: Constraints, power_w: float | None, breaches: list[Breach]) -> None:
    limit = constraints.power_limit_w
    if limit is None:
        return
    if power_w is None:
        breaches.append(Breach("power", "its power is not known, so the limit cannot be judged", float("inf"), ""))
    elif power_w > limit:
        breaches.append(
            Breach(
                "power",
                f"its GPUs take up to {power_w:,.0f} W, the limit is {limit:,.0f} W",
                power_w / limit,
                f"a power limit of {power_w:,.0f} W instead of {limit:,.0f} W",
            )
        )


def _compared_seconds(candidate: Candidate, work: Work) -> float | None:
    step = candidate.step_time_s
    if step is None:
        return None
    return work.compared_seconds(step, float(candidate.layout.data_parallel))


def _compared_usd(candidate: Candidate, seconds: float | None) -> float | None:
    if candidate.acquisition == RENT and candidate.cost_usd_per_hour is not None and seconds is not None:
        return candidate.cost_usd_per_hour.mid * seconds / 3600
    cost: Range | None = candidate.cost_usd
    return None if cost is None else cost.mid
