"""From a footprint and constraints to a recommendation. Pure: the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from gpuscope.advisor.calibration.model import EMPTY, Calibration
from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.candidates import Builder
from gpuscope.advisor.choice.constraints import check
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.choice.ranking import alternates, rank_key
from gpuscope.advisor.choice.sensitivity import sensitivities
from gpuscope.advisor.choice.verdict import decide, fix_first
from gpuscope.advisor.job.job import Job, prepare
from gpuscope.advisor.job.work import Work, work_of
from gpuscope.advisor.timing.rates import HOST_S_PER_KERNEL
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Candidate, Constraints, Recommendation, Rejected, Verdict
from gpuscope.errors import UsageError

NOTHING_KNOWN = (
    "Nothing can be recommended: neither the steps nor the memory of a job are known. Run a training script with "
    "`gpuscope run`, or type in its size with `gpuscope estimate`."
)
_NOTHING_TO_COMPARE = "Neither the speed nor the amount of the work is known: what fits is compared by its price alone."
_ABSURD_SECONDS = 1e7
_ABSURD_BYTES = 1e15


def recommend(
    footprint: Footprint,
    constraints: Constraints,
    catalogue: Catalogue,
    *,
    today: date,
    calibration: Calibration = EMPTY,
) -> Recommendation:
    """Judge every GPU × count of the catalogue for a job and choose.

    Args:
        footprint: what the job uses.
        constraints: what the person allows.
        catalogue: what there is.
        today: the day of the advice: prices are stale 30 days after theirs.
        calibration: sustained rates, fitted constants and interval widths.

    Returns:
        Candidates best first, a rejection for every GPU × count that is none, and the decision in a sentence.

    Raises:
        UsageError: the constraints contradict each other or the footprint is absurd; the text says what to change.
    """
    check(constraints, catalogue)
    _check_footprint(footprint)
    if not says_anything(footprint):
        return Recommendation(verdict=Verdict.IMPOSSIBLE, sentence=NOTHING_KNOWN, constraints=constraints)
    job = prepare(footprint, constraints, catalogue, calibration)
    work = work_of(job, constraints)
    builder = Builder(job, work, constraints, catalogue, today)
    options, rejected = _all(builder, catalogue)
    passed = sorted((option for option in options if not option.breaches), key=lambda o: rank_key(o, constraints))
    broken = [option for option in options if option.breaches]
    at_hand = builder.at_hand()
    if at_hand is not None and at_hand.breaches:
        broken.append(at_hand)
        at_hand = None
    decision = decide(passed, at_hand, broken, rejected, constraints, catalogue)
    if decision.chosen is not at_hand:
        decision = fix_first(decision, job.data_wait_s)
    ranked = list(passed)
    if at_hand is not None:
        ranked.insert(0 if decision.chosen is at_hand else len(ranked), at_hand)
    chosen = 0 if decision.chosen is not None else None
    candidates = tuple(option.candidate for option in ranked)
    return Recommendation(
        verdict=decision.verdict,
        sentence=decision.sentence,
        constraints=constraints,
        recommended=chosen,
        alternates=alternates(ranked, chosen) if chosen is not None else (),
        candidates=candidates,
        rejected=tuple(_in_order([*rejected, *_breaking(broken, passed)])),
        sensitivity=sensitivities(passed, constraints) if decision.chosen in passed else (),
        assumptions=_assumptions(job, work, candidates, constraints),
        prices_as_of=_price_dates(candidates),
    )


def _all(builder: Builder, catalogue: Catalogue) -> tuple[list[Option], list[Rejected]]:
    options: list[Option] = []
    rejected: list[Rejected] = []
    for gpu in catalogue.gpus:
        for found in builder.of_gpu(gpu):
            if isinstance(found, Rejected):
                rejected.append(found)
            else:
                options.append(found)
    options.extend(builder.without_gpu())
    return options, rejected


def _breaking(broken: Sequence[Option], passed: Sequence[Option]) -> list[Rejected]:
    """One rejection for each GPU × count of which no way of getting it is left: that which comes closest."""
    left = {(option.candidate.gpu, option.candidate.count) for option in passed}
    closest: dict[tuple[str | None, int], Option] = {}
    for option in broken:
        key = (option.candidate.gpu, option.candidate.count)
        if option.candidate.gpu is None or key in left:
            continue
        if key not in closest or _closeness(option) < _closeness(closest[key]):
            closest[key] = option
    return [_rejection(option) for option in closest.values()]


def _closeness(option: Option) -> tuple[int, float, str]:
    return len(option.breaches), max(breach.excess for breach in option.breaches), option.candidate.acquisition


def _rejection(option: Option) -> Rejected:
    candidate = option.candidate
    words = "; ".join(breach.sentence for breach in option.breaches)
    return Rejected(
        gpu=candidate.gpu,
        gpu_name=candidate.gpu_name,
        count=candidate.count,
        reason_code=option.breaches[0].code,
        reason=f"{candidate.count}× {candidate.gpu_name}: {words}.",
    )


def _in_order(rejected: list[Rejected]) -> list[Rejected]:
    return sorted(rejected, key=lambda entry: (entry.gpu or "", entry.count, entry.reason_code))


def says_anything(footprint: Footprint) -> bool:
    """True when there is something to choose by: time, work or memory."""
    memory, time_s = footprint.memory, footprint.steps.time_s
    known = (
        time_s.p50,
        time_s.mid,
        memory.peak_allocated_bytes,
        memory.peak_device_bytes,
        footprint.workload.parameters,
    )
    return bool(footprint.ops) or any(value is not None for value in known)


def _check_footprint(footprint: Footprint) -> None:
    time_s = footprint.steps.time_s
    for value in (time_s.mid, time_s.p50):
        if value is not None and not 0 < value < _ABSURD_SECONDS:
            raise UsageError(f"A step time of {value:g} s makes no sense: correct the footprint.")
    peak = footprint.memory.peak_allocated_bytes
    if peak is not None and not 0 <= peak.low <= peak.mid <= peak.high < _ABSURD_BYTES:
        raise UsageError("The footprint's peak memory makes no sense: it must be a range below 1 PB.")
    parts = footprint.memory.breakdown
    amounts = {name: getattr(parts, name) for name in parts.__struct_fields__}
    amounts |= {"host_rss_bytes": footprint.memory.host_rss_bytes, "parameters": footprint.workload.parameters}
    for name, amount in amounts.items():
        if amount is not None and not 0 <= amount < _ABSURD_BYTES:
            raise UsageError(f"The footprint's {name} of {amount} makes no sense: correct the footprint.")


def _assumptions(job: Job, work: Work, candidates: Sequence[Candidate], constraints: Constraints) -> tuple[str, ...]:
    no_speed = bool(candidates) and all(candidate.step_time_s is None for candidate in candidates)
    amount = _NOTHING_TO_COMPARE if no_speed and work.batches is None else work.sentence
    notes = [amount, *job.assumptions]
    best = candidates[0].step_time_s if candidates else None
    if best is not None and candidates[0].gpu is not None and job.kernels * HOST_S_PER_KERNEL[1] > 0.9 * best.mid:
        notes.append(
            "The steps are so small that launching kernels from the host sets the pace: a faster GPU gains little, a "
            "larger batch or compiling does."
        )
    if not no_speed:
        notes.append("Each GPU keeps the batch size of the run; more GPUs work through more samples in a step.")
    if job.data_wait_s:
        notes.append("Waiting for the data loader is that of the run; another host may take half or twice as long.")
    if constraints.budget_usd is not None and work.batches is None:
        notes.append("Without the total work the budget is held only against purchase prices.")
    rented = [candidate.offer for candidate in candidates if candidate.offer is not None]
    if rented:
        notes.append(
            "Rents are on-demand list prices before tax, whole instances by the hour, without storage or traffic."
        )
    stale = sum(offer.stale for offer in rented)
    if stale:
        which = f"All {stale}" if stale == len(rented) > 1 else f"{stale} of {len(rented)}"
        notes.append(f"{which} prices are more than 30 days old or undated: check them before deciding.")
    if any(candidate.acquisition == "buy" for candidate in candidates):
        notes.append("Purchases count the GPUs at their launch price, without machine, electricity and resale.")
    notes.append("Energy is that of the GPUs alone.")
    return tuple(notes)


def _price_dates(candidates: Sequence[Candidate]) -> str | None:
    dates = sorted({c.offer.price_date for c in candidates if c.offer is not None and c.offer.price_date is not None})
    if not dates:
        return None
    return dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
