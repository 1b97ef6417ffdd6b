"""Why configurations are out: one entry for each GPU and number of which nothing is left."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope.advisor.choice.naming import hardware
from gpuscope.advisor.choice.options import Option, closeness
from gpuscope.advisor.choice.search import Found
from gpuscope.domain.recommendation import Candidate, Rejected


def rejections(found: Found) -> tuple[Rejected, ...]:
    """In order of GPUs and numbers. What no single machine offers may still be had as several: that is said of it."""
    judged = {option.hardware for option in (*found.passed, *found.broken)}
    never_had = [entry for entry in found.rejected if (entry.gpu, entry.count) not in judged]
    entries = [*never_had, *_breaking(found.broken, found.passed)]
    return tuple(sorted(entries, key=lambda entry: (entry.gpu or "", entry.count, entry.reason_code)))


def _breaking(broken: Sequence[Option], passed: Sequence[Option]) -> list[Rejected]:
    """One rejection for each GPU × count of which no way of getting it is left: that which comes closest."""
    left = {option.hardware for option in passed}
    closest: dict[tuple[str | None, int], Option] = {}
    for option in broken:
        key = option.hardware
        if option.candidate.gpu is None or key in left:
            continue
        if key not in closest or closeness(option) < closeness(closest[key]):
            closest[key] = option
    return [_rejection(option.candidate, option) for option in closest.values()]


def _rejection(candidate: Candidate, option: Option) -> Rejected:
    words = "; ".join(breach.sentence for breach in option.breaches)
    return Rejected(
        gpu=candidate.gpu,
        gpu_name=candidate.gpu_name,
        count=candidate.count,
        reason_code=option.breaches[0].code,
        reason=f"{hardware(candidate)}: {words}.",
    )
