"""What a recommendation takes for granted, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuscope.advisor.cost.terms import assumed
from gpuscope.advisor.job.job import TRAINING, Job
from gpuscope.advisor.job.work import Work
from gpuscope.advisor.timing.rates import HOST_S_PER_KERNEL
from gpuscope.domain.economics import Economics
from gpuscope.domain.recommendation import Candidate, Constraints, Offer

_NOTHING_TO_COMPARE = "Neither the speed nor the amount of the work is known: what fits is compared by its price alone."
_MUCH_LARGER_BATCH = 32
"""Times the run's batch from which it is said that training may need more samples for as much."""
_LAUNCHES_SET_THE_PACE = 0.9
"""From this share of a step on, launching its kernels takes all of it."""


def assumptions(job: Job, work: Work, candidates: Sequence[Candidate], limits: Constraints) -> tuple[str, ...]:
    """Of these candidates, best first."""
    notes = (*_of_work(job, work, candidates, limits), *_of_money(candidates, limits.economics))
    return tuple(dict.fromkeys(notes))


def price_dates(candidates: Sequence[Candidate]) -> str | None:
    """Oldest and newest date of the candidates' prices; None: there is none."""
    dates = sorted({c.offer.price_date for c in candidates if c.offer is not None and c.offer.price_date is not None})
    if not dates:
        return None
    return dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"


def _of_work(job: Job, work: Work, candidates: Sequence[Candidate], limits: Constraints) -> Iterator[str]:
    if any(candidate.serving is not None for candidate in candidates):
        years = max(limits.economics.years)
        yield f"A service runs all hours; its costs are compared over {years} {'year' if years == 1 else 'years'}."
        if limits.budget_usd is not None:
            yield "A service has no end: the budget is held only against purchase prices."
        yield from job.assumptions
        return
    no_speed = bool(candidates) and all(candidate.step_time_s is None for candidate in candidates)
    yield _NOTHING_TO_COMPARE if no_speed and work.batches is None else work.sentence
    if no_speed and job.busy_gpus > 1 and not limits.counts:
        yield (
            f"The run used {job.busy_gpus} GPUs: as many are taken to be needed, each with as much memory, for how "
            "fast fewer would be is not known. --counts allows other numbers."
        )
    yield from job.assumptions
    best = candidates[0].step_time_s if candidates else None
    launches_s = job.kernels * HOST_S_PER_KERNEL[1]
    if best is not None and candidates[0].gpu is not None and launches_s > _LAUNCHES_SET_THE_PACE * best.mid:
        yield (
            "The steps are so small that launching kernels from the host sets the pace: a faster GPU gains little, a "
            "larger batch or compiling does."
        )
    if not no_speed and any(candidate.count > 1 for candidate in candidates):
        if limits.keep_global_batch:
            yield "All GPUs together keep the batch of the run: more GPUs share it."
        else:
            yield "Each GPU keeps the batch size of the run; more GPUs work through more samples in a step."
            yield from _of_large_batch(job, work, candidates[0])
    if job.data_wait_s:
        yield "Waiting for the data loader is that of the run; another host may take half or twice as long."
    if limits.budget_usd is not None and work.batches is None:
        yield "Without the total work the budget is held only against purchase prices."


def _of_large_batch(job: Job, work: Work, best: Candidate) -> Iterator[str]:
    """Fast is not trained: beyond some size larger batches teach a model no more a step."""
    times = best.count / work.batches_per_step
    if job.stage == TRAINING and times >= _MUCH_LARGER_BATCH:
        yield (
            f"On {best.count:,} GPUs a step works through {times:,.0f} times the samples of the run's, in as many "
            "fewer steps: whether it learns as much from them is not known. Asked to keep the batch of the run "
            "(--keep-global-batch), more GPUs share it."
        )


def _of_money(candidates: Sequence[Candidate], economics: Economics) -> Iterator[str]:
    rented = [candidate.offer for candidate in candidates if candidate.offer is not None]
    if rented:
        tax = f"with {economics.tax_share:.0%} tax" if economics.tax_share else "before tax"
        kind = "on-demand or spot" if economics.use_spot else "on-demand"
        yield f"Rents are {kind} list prices {tax}, whole instances by the hour, without storage or traffic."
        yield from _of_age(rented)
    if any(candidate.acquisition == "buy" for candidate in candidates):
        yield (
            "Purchases count in full, the GPUs at their launch price unless there is a quote, with the machine around "
            "them; electricity, hosting and resale are in the costs over years."
        )
    if candidates and (candidates[0].acquisition == "buy" or economics.hours_per_month is not None):
        yield from assumed(economics)
    yield "Energy is that of the GPUs alone."


def _of_age(rented: Sequence[Offer]) -> Iterator[str]:
    stale = sum(offer.stale for offer in rented)
    if stale:
        which = f"All {stale}" if stale == len(rented) > 1 else f"{stale} of {len(rented)}"
        yield f"{which} prices are more than 30 days old or undated: check them before deciding."
