"""A job that mostly waits for data: what it would be with its input pipeline mended, beside what it is today."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gpuscope.advisor.choice.keeping import SHORT_JOB_S
from gpuscope.advisor.choice.naming import short_title
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.choice.search import Found
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing.rates import KERNEL_LATENCY_S
from gpuscope.domain.footprint import Energy, Footprint, StepTime
from gpuscope.domain.recommendation import Candidate, Constraints, Improvement, Recommendation, Verdict
from gpuscope.domain.units import format_duration, format_duration_range

FIX_FIRST_SHARE = 0.5
"""From this share of the step on, waiting for data decides the speed, and no GPU helps."""
_STEPS = 50


def waiting_share(chosen: Option | None, job: Job, limits: Constraints) -> float | None:
    """Share of a step that waits for data, where that has to be mended before anything is bought or rented.

    Args:
        chosen: what would be chosen with the wait as it is; None: nothing meets the limits, then the run itself counts.
        job: as it is wanted first.
        limits: for the deadline.

    Returns:
        None: it waits for less than `FIX_FIRST_SHARE`, or the machine at hand is soon enough as it is.
    """
    step = job.step_time_s if chosen is None else chosen.candidate.step_time_s
    if step is None or job.data_wait_s <= step.mid * FIX_FIRST_SHARE:
        return None
    if chosen is not None and chosen.candidate.acquisition == "keep" and _soon_enough(chosen, limits):
        return None
    return min(1.0, job.data_wait_s / step.mid)


def _soon_enough(at_hand: Option, limits: Constraints) -> bool:
    """It meets the deadline, or it finishes a short job."""
    total = at_hand.candidate.time_to_finish_s
    if limits.deadline_s is not None:
        return not at_hand.risks
    return total is not None and total.mid <= SHORT_JOB_S


def mended(footprint: Footprint) -> Footprint:
    """The footprint without any wait for data.

    Its power is left out: that of a device that mostly waits tells nothing of one that works.
    """
    time_s, wait = footprint.steps.time_s, max(0.0, footprint.time_per_step_s.data_loader or 0.0)
    middle = time_s.mid if time_s.mid is not None else time_s.p50
    if middle is not None and middle > 0:
        share = max(middle - wait, KERNEL_LATENCY_S) / middle
        time_s = _scaled(time_s, share)
    return msgspec.structs.replace(
        footprint,
        steps=msgspec.structs.replace(footprint.steps, time_s=time_s),
        time_per_step_s=msgspec.structs.replace(footprint.time_per_step_s, data_loader=0.0),
        energy=Energy(),
    )


def fix_first(after: Recommendation, found: Found, share: float, wait_s: float) -> Recommendation:
    """The advice for the mended job, with what comes first and what the same choice is today.

    Args:
        after: advice without the wait.
        found: everything judged with the wait as it is.
        share: of a step that waits for data.
        wait_s: what a step waits, s.
    """
    assert after.recommended is not None
    chosen = after.candidates[after.recommended]
    today = _the_same(chosen, (*found.passed, *found.broken, *(() if found.at_hand is None else (found.at_hand,))))
    sentence = (
        f"Mend the input pipeline first: {share:.0%} of each step would be spent waiting for the data loader (try more "
        f"worker processes). Without that wait: {after.sentence}{_today_words(today)}"
    )
    taken_away = (
        f"The {format_duration(wait_s)} that a step waits for data are taken away from every time, as if mending the "
        "input pipeline ended all of it."
    )
    again = f"mend the input pipeline and run {_STEPS} steps again"
    surer = Improvement(
        input="time", action=again, sentence=f"M{again[1:]}: how much of the wait is left is then measured."
    )
    return msgspec.structs.replace(
        after,
        verdict=Verdict.FIX_FIRST,
        sentence=sentence,
        before_mending=today,
        would_be_surer=(surer, *after.would_be_surer),
        assumptions=(taken_away, *after.assumptions),
    )


def _scaled(time_s: StepTime, share: float) -> StepTime:
    names = ("p50", "p95", "low", "mid", "high")
    values = {name: getattr(time_s, name) for name in names}
    return StepTime(**{name: None if value is None else value * share for name, value in values.items()})


def _the_same(chosen: Candidate, options: Iterable[Option]) -> Candidate | None:
    """The same configuration from the same place, judged with the wait; None: it cannot be told."""
    for option in options:
        if _key(option.candidate) == _key(chosen):
            return option.candidate
    return None


def _key(candidate: Candidate) -> object:
    offer = candidate.offer
    place = None if offer is None else (offer.provider, offer.instance_type, offer.region, candidate.price_kind)
    links = (candidate.interconnect, candidate.network)
    return candidate.gpu, candidate.cpu, candidate.count, candidate.acquisition, candidate.precision, place, links


def _today_words(today: Candidate | None) -> str:
    if today is None:
        return ""
    what = "on the machine at hand" if today.acquisition == "keep" else f"by {short_title(today)}"
    if today.time_to_finish_s is not None:
        return f" With the wait as it is, the work takes {format_duration_range(today.time_to_finish_s)} {what}."
    if today.step_time_s is not None:
        return f" With the wait as it is, a step takes {format_duration_range(today.step_time_s)} {what}."
    return ""
