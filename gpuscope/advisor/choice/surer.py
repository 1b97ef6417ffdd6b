"""What would make the predictions for the recommended configuration surer, from the widths of each kind of doubt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gpuscope.advisor.choice.constraints import BUY, KEEP
from gpuscope.advisor.choice.naming import hardware
from gpuscope.advisor.choice.options import Option, closeness
from gpuscope.advisor.cost.purchase import QUOTE
from gpuscope.advisor.job.job import Job
from gpuscope.advisor.timing.uncertainty import Doubt, codes, combined, doubt
from gpuscope.domain.recommendation import Improvement

_STEPS = 50
_TELLING = 0.97
"""Less than this share of the width has to be left for it to be worth a sentence."""

_REPLACED: dict[str, str | None] = {
    "precision_change": None,
    "stage_change": None,
    "compile_change": None,
    "gpu_to_gpu_whole": "gpu_to_gpu_rated",
    "gpu_to_gpu": "gpu_to_gpu_rated",
    "specified_only": None,
    "no_gpu_run": "gpu_to_gpu_rated",
}
"""Doubts that a measurement of the person's own removes → the doubt that is left instead."""


def improvements(
    chosen: Option, passed: Sequence[Option], broken: Sequence[Option], job: Job
) -> tuple[Improvement, ...]:
    """Measurements and questions, those of the time with the narrowest range first.

    To keep a machine is as sure as what is known of the best that could take its place.

    Args:
        chosen: the recommended option.
        passed: those that meet the limits, best first.
        broken: those that break one.
        job: in the stage and precision that were wanted first.
    """
    if chosen.candidate.acquisition != KEEP:
        return _of_option(chosen, job)
    rival = passed[0] if passed else min(broken, key=closeness, default=None)
    return (*_of_work(chosen), *_of_few_steps(job), *(() if rival is None else _of_option(rival, job)))


def _of_option(option: Option, job: Job) -> tuple[Improvement, ...]:
    of_time = sorted(_of_time(option, job), key=lambda each: (each.width_then or math.inf, each.action))
    return (*of_time, *_of_memory(option), *_of_price(option))


def _of_work(kept: Option) -> Iterator[Improvement]:
    if not kept.figures.total_known:
        action = "say how much work there is in all, in steps, samples or epochs"
        why = "whether another machine is worth its price depends on it"
        yield Improvement(input="work", action=action, sentence=f"S{action[1:]}: {why}.")


def _of_few_steps(job: Job) -> Iterator[Improvement]:
    """The machine at hand is known by its own steps, if there were enough of them."""
    steady = job.footprint.steps.steady_count
    if job.ran and steady is not None and steady < _STEPS:
        action = f"run {_STEPS} steps under gpuscope where the job runs now"
        yield Improvement(
            input="time", action=action, sentence=f"R{action[1:]}: only {steady} steady ones were recorded."
        )


def _of_time(chosen: Option, job: Job) -> Iterator[Improvement]:
    candidate, doubts = chosen.candidate, chosen.parts.single.doubts
    if candidate.serving is not None:
        return
    if candidate.step_time_s is None:
        yield Improvement(
            input="time", action=f"run {_STEPS} steps under gpuscope",
            sentence=f"Run {_STEPS} steps under gpuscope: then speeds are known.",
        )  # fmt: skip
        return
    known = {doubt(code).reason: code for code in codes()}
    named = {known[each.reason] for each in doubts if each.reason in known}
    if job.source_gpu is None:
        named.discard("precision_change")  # a CPU tells nothing of a GPU's precisions
    for code, action in _actions(chosen, job).items():
        if code in named:
            yield from _narrower(chosen, _without(doubts, code, job), action)
    if candidate.gpu is not None and "measured_here" not in named:
        given = "give that run with --target-run" if candidate.count == 1 else "ask for advice on that run"
        action = f"run {_STEPS} steps in {candidate.precision} on {hardware(candidate)} itself and {given}"
        yield from _narrower(chosen, (doubt("measured_here", job.calibration),), action, whole=True)


def _actions(chosen: Option, job: Job) -> dict[str, str]:
    """By the code of the doubt that they remove."""
    here = f"run {_STEPS} steps"
    cards = dict.fromkeys((chosen.candidate.gpu_name, None if job.source_gpu is None else job.source_gpu.name))
    rates = f"measure the rates of {' and '.join(card for card in cards if card)} and give them with --rates"
    return {
        "gpu_to_gpu": rates,
        "specified_only": rates,
        "precision_change": f"{here} in {chosen.candidate.precision} where the job runs now",
        "stage_change": f"{here} of {job.stage} where the job runs now",
        "compile_change": f"{here} compiled as they will be",
        "gpu_to_gpu_whole": f"{here} with the operators recorded where the job runs now",
        "no_gpu_run": f"{here} on any GPU of the catalogue",
    }


def _without(doubts: Sequence[Doubt], code: str, job: Job) -> tuple[Doubt, ...]:
    reason, instead = doubt(code).reason, _REPLACED[code]
    left = tuple(each for each in doubts if each.reason != reason)
    return left if instead is None else (*left, doubt(instead, job.calibration))


def _narrower(chosen: Option, left: Sequence[Doubt], action: str, *, whole: bool = False) -> Iterator[Improvement]:
    """The range of the step with other doubts about a step on one GPU; `whole`: about nothing else, either."""
    step = chosen.candidate.step_time_s
    assert step is not None
    now = math.sqrt(step.high / step.low)
    before, after = math.log(combined(chosen.parts.single.doubts)), math.log(combined(left))
    rest = 0.0 if whole else max(0.0, math.log(now) ** 2 - before**2)
    then = math.exp(math.sqrt(rest + after**2))
    if then < 1 + (now - 1) * _TELLING:
        whose = hardware(chosen.candidate) if chosen.candidate.count else "the CPU instance"
        effect = f"range of the time on {whose} ±{now - 1:.0%} → ±{then - 1:.0%}"
        sentence = f"{action[:1].upper()}{action[1:]}: {effect}."
        yield Improvement(input="time", action=action, sentence=sentence, width_now=now, width_then=then)


def _of_memory(chosen: Option) -> Iterator[Improvement]:
    if chosen.candidate.fits is None and chosen.candidate.acquisition != KEEP:
        action = f"run {_STEPS} steps on any GPU that is large enough"
        yield Improvement(
            input="memory", action=action, sentence=f"{action[:1].upper()}{action[1:]}: its memory is then measured."
        )


def _of_price(chosen: Option) -> Iterator[Improvement]:
    candidate = chosen.candidate
    if candidate.acquisition == BUY and candidate.price_kind != QUOTE:
        yield Improvement(
            input="price", action=f"ask for a quote for {hardware(candidate)}",
            sentence=f"Ask for a quote for {hardware(candidate)} and give it with --quote: list prices are no offers.",
        )  # fmt: skip
    offer = candidate.offer
    if offer is not None and offer.stale:
        age = f"of {offer.price_date}" if offer.price_date is not None else "undated"
        yield Improvement(
            input="price", action=f"look up today's price of {offer.instance_type} at {offer.provider}",
            sentence=f"Look up today's price of {offer.instance_type} at {offer.provider}: the one used is {age}.",
        )  # fmt: skip
