"""The decision in a word and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.choice.constraints import BUY
from gpuscope.advisor.choice.keeping import FASTEST, IN_TIME, ONLY, SHORT, fastest_single, keeps
from gpuscope.advisor.choice.naming import purchase_words, service_words, title
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.job.work import compared_cost
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount, format_amount_range
from gpuscope.domain.recommendation import Candidate, Constraints, Verdict
from gpuscope.domain.units import format_duration, format_duration_range


class Decision(NamedTuple):
    """What to do."""

    verdict: Verdict
    sentence: str
    chosen: Option | None
    alone: bool = False
    """Only the machine at hand meets the limits."""


def decide(
    ranked: Sequence[Option], at_hand: Option | None, constraints: Constraints, used_gpus: int = 1
) -> Decision | None:
    """Choose; None: there is nothing to choose from.

    Args:
        ranked: candidates that break no constraint, best first, without the machine at hand.
        at_hand: the machine of the run, when it breaks no constraint.
        constraints: for what was asked.
        used_gpus: of the run; where the speed is not known, as many are taken.
    """
    kept = None if at_hand is None else _kept(at_hand, ranked, constraints)
    if kept is not None:
        return kept
    if not ranked:
        return None
    return Decision(_verdict(ranked[0].candidate), _sentence(ranked[0], constraints, used_gpus), ranked[0])


def _kept(at_hand: Option, ranked: Sequence[Option], limits: Constraints) -> Decision | None:
    """To stay where it is; None when that will not do, or others are worth their price."""
    others = fastest_single(option.figures for option in ranked)
    why = keeps(at_hand.figures, others, len(at_hand.risks), limits, alone=not ranked)
    if why is None:
        return None
    on_cpu = at_hand.candidate.count == 0
    start = "Keep the GPU that it ran on"
    if on_cpu:
        start = "Keep the CPU that it ran on" if why == ONLY else "The CPU that it ran on is enough"
    verdict = Verdict.CPU_IS_ENOUGH if on_cpu and why != ONLY else Verdict.KEEP
    return Decision(verdict, f"{start}: {_why_words(why, at_hand, limits)}.", at_hand, alone=why == ONLY)


def _why_words(why: str, at_hand: Option, limits: Constraints) -> str:
    total = at_hand.candidate.time_to_finish_s
    done = "" if total is None else f"it finishes in {format_duration_range(total)}"
    if why == IN_TIME and limits.deadline_s is not None:
        return f"{done}, within the deadline of {format_duration(limits.deadline_s)}, and costs nothing more"
    if why == SHORT:
        return f"{done}, which is not worth another machine"
    if why == FASTEST:
        return "no single GPU of the catalogue is predicted to be faster"
    risks = "".join(f", but {risk}" for risk in at_hand.risks)
    return f"nothing in the catalogue meets every constraint{f'; {done}' if done else ''}{risks}"


def _verdict(candidate: Candidate) -> Verdict:
    if candidate.count == 0:
        return Verdict.CPU_IS_ENOUGH
    if candidate.acquisition == BUY:
        return Verdict.NEEDS_QUOTE if candidate.cost_usd is None else Verdict.BUY
    return Verdict.RENT


def _sentence(best: Option, limits: Constraints, used_gpus: int) -> str:
    candidate = best.candidate
    name = title(candidate)
    if candidate.acquisition == BUY:
        text = f"Buy {name}: {purchase_words(candidate, limits.economics)}{_done(candidate)}"
    else:
        start = "A CPU is enough: rent" if candidate.count == 0 else "Rent"
        text = f"{start} {name}: {_rent_words(best, limits.economics)}"
    if candidate.step_time_s is None and candidate.serving is None:
        as_many = f", so as many as the {used_gpus} GPUs of the run are assumed" if used_gpus > 1 else ""
        text += f"; the speed is not known{as_many}"
    if best.figures.lasting and best.figures.usd is not None:
        years = max(limits.economics.years)
        text += (
            f"; {format_amount(best.figures.usd, limits.economics)} over {years} {'year' if years == 1 else 'years'}"
        )
    if best.risks:
        text += "; but " + ", and ".join(best.risks)
    return text + "."


def _rent_words(best: Option, economics: Economics) -> str:
    candidate = best.candidate
    hourly = candidate.cost_usd_per_hour
    rate = "" if hourly is None else f"{format_amount(hourly.mid, economics)} an hour"
    if candidate.serving is not None:
        return f"{rate}, {service_words(candidate.serving)}"
    if candidate.cost_usd is not None:
        return f"{rate}, {format_amount_range(candidate.cost_usd, economics)} in all{_done(candidate)}"
    if best.figures.usd is not None and candidate.step_time_s is not None:
        return f"{rate}, about {compared_cost(best.figures.usd, economics)}, the least of all offers"
    which = "those that may have the memory" if candidate.fits is None else "those with the memory"
    return f"{rate}, the lowest price of {which}"


def _done(candidate: Candidate) -> str:
    total = candidate.time_to_finish_s
    if candidate.serving is not None:
        return f", {service_words(candidate.serving)}"
    return "" if total is None else f", done in {format_duration_range(total)}"
