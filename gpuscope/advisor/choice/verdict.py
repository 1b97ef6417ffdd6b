"""The decision in a word and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.choice.constraints import BUY
from gpuscope.advisor.choice.keeping import FASTEST, IN_TIME, SHORT, SHORT_JOB_S, fastest_single, keeps
from gpuscope.advisor.choice.naming import purchase_words, service_words, title
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.job.work import compared_cost
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount, format_amount_range
from gpuscope.domain.recommendation import Candidate, Constraints, Verdict
from gpuscope.domain.units import format_duration, format_duration_range

FIX_FIRST_SHARE = 0.5
"""From this share of the predicted step on, waiting for data decides the speed, and no GPU helps."""


class Decision(NamedTuple):
    """What to do."""

    verdict: Verdict
    sentence: str
    chosen: Option | None


def decide(ranked: Sequence[Option], at_hand: Option | None, constraints: Constraints) -> Decision | None:
    """Choose; None: there is nothing to choose from.

    Args:
        ranked: candidates that break no constraint, best first, without the machine at hand.
        at_hand: the machine of the run, when it breaks no constraint.
        constraints: for what was asked.
    """
    kept = None if at_hand is None else _why_keep(at_hand, ranked, constraints)
    if at_hand is not None and kept is not None:
        enough = at_hand.candidate.count == 0
        verdict = Verdict.CPU_IS_ENOUGH if enough else Verdict.KEEP
        start = "The CPU that it ran on is enough" if enough else "Keep the GPU that it ran on"
        return Decision(verdict, f"{start}: {kept}.", at_hand)
    if not ranked:
        return None
    return Decision(_verdict(ranked[0].candidate), _sentence(ranked[0], constraints), ranked[0])


def is_soon_enough(decision: Decision, limits: Constraints) -> bool:
    """Whether the chosen machine meets a deadline, or finishes a short job: then nothing has to become faster."""
    if limits.deadline_s is not None:
        return True
    total = None if decision.chosen is None else decision.chosen.candidate.time_to_finish_s
    return total is not None and total.mid <= SHORT_JOB_S


def fix_first(decision: Decision, data_wait_s: float) -> Decision:
    """The same choice, unless waiting for data would be most of its step: then that comes before any purchase.

    Args:
        decision: what was chosen.
        data_wait_s: what a step waits for the data loader, on any machine with such a host.
    """
    chosen = decision.chosen
    step = None if chosen is None else chosen.candidate.step_time_s
    if step is None or data_wait_s <= step.mid * FIX_FIRST_SHARE:
        return decision
    sentence = (
        f"Mend the input pipeline first: {data_wait_s / step.mid:.0%} of each step would be spent waiting for the data "
        f"loader (try more worker processes). Then, if it is still needed: {decision.sentence}"
    )
    return decision._replace(verdict=Verdict.FIX_FIRST, sentence=sentence)


def _why_keep(at_hand: Option, ranked: Sequence[Option], limits: Constraints) -> str | None:
    """Why the machine at hand will do, in words; None when it will not, or others are worth their price."""
    others = fastest_single(option.figures for option in ranked)
    why = keeps(at_hand.figures, others, len(at_hand.risks), limits)
    total = at_hand.candidate.time_to_finish_s
    done = "" if total is None else f"it finishes in {format_duration_range(total)}"
    if why == IN_TIME and limits.deadline_s is not None:
        return f"{done}, within the deadline of {format_duration(limits.deadline_s)}, and costs nothing more"
    if why == SHORT:
        return f"{done}, which is not worth another machine"
    return "no single GPU of the catalogue is predicted to be faster" if why == FASTEST else None


def _verdict(candidate: Candidate) -> Verdict:
    if candidate.count == 0:
        return Verdict.CPU_IS_ENOUGH
    if candidate.acquisition == BUY:
        return Verdict.NEEDS_QUOTE if candidate.cost_usd is None else Verdict.BUY
    return Verdict.RENT


def _sentence(best: Option, limits: Constraints) -> str:
    candidate = best.candidate
    name = title(candidate)
    if candidate.acquisition == BUY:
        text = f"Buy {name}: {purchase_words(candidate, limits.economics)}{_done(candidate)}"
    else:
        start = "A CPU is enough: rent" if candidate.count == 0 else "Rent"
        text = f"{start} {name}: {_rent_words(best, limits.economics)}"
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
    return f"{rate}, the lowest price of {which}; the speed is not known"


def _done(candidate: Candidate) -> str:
    total = candidate.time_to_finish_s
    if candidate.serving is not None:
        return f", {service_words(candidate.serving)}"
    return "" if total is None else f", done in {format_duration_range(total)}"
