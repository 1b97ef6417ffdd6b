"""Look at every configuration under one set of constraints: what passes, what breaks a limit, what is out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.catalogue.loading import Catalogue
from gpuscope.advisor.choice.candidates import Builder
from gpuscope.advisor.choice.limits import measures
from gpuscope.advisor.choice.money import Money
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.choice.ranking import rank_key
from gpuscope.domain.recommendation import Constraints, Rejected

_MORE_GPUS_HELP = {"deadline", "throughput"}
"""Codes of limits that more GPUs may meet."""
_MORE_GPUS_MAKE_SURE = {"deadline_s", "minimum_throughput"}
_MOST_UNASKED = 4096
"""More GPUs than this only who asks for them gets."""
_SURE_AT_LEAST = 64
"""Up to so many GPUs a configuration is looked for that fits surely, when there are only doubtful ones."""


class Found(NamedTuple):
    """All configurations, judged."""

    passed: list[Option]
    """They break no limit; best first, without the machine at hand."""
    broken: list[Option]
    rejected: list[Rejected]
    at_hand: Option | None
    """The machine of the run, when it breaks no limit."""
    money: Money
    """The prices that they were judged by."""


def search(builder: Builder, limits: Constraints, catalogue: Catalogue) -> Found:
    """Judge the asked or usual numbers of GPUs, and larger ones where the job needs them."""
    counts = builder.counts()
    options, rejected = _of_counts(builder, catalogue, counts)
    options.extend(builder.without_gpu())
    if not limits.counts:
        _extend(builder, catalogue, limits, options, rejected, counts[-1])
    passed = [option for option in options if not option.breaches]
    broken = [option for option in options if option.breaches]
    at_hand = builder.at_hand()
    if at_hand is not None and at_hand.breaches:
        broken.append(at_hand)
        at_hand = None
    ranked = _once(sorted(passed, key=lambda option: rank_key(option, limits)))
    return Found(ranked, broken, rejected, at_hand, builder.money)


def _extend(
    builder: Builder,
    catalogue: Catalogue,
    limits: Constraints,
    options: list[Option],
    rejected: list[Rejected],
    largest: int,
) -> None:
    """Add larger numbers of GPUs until something will do, and the next one: of slower GPUs more may be cheaper."""
    count, last = largest, False
    while count < _MOST_UNASKED and not last:
        passed = [option for option in options if not option.breaches]
        if not _needs_more(passed, options, rejected, count, limits):
            if count == largest:
                return
            last = True
        count *= 2
        larger, too_large = _larger(builder, catalogue, count)
        options.extend(larger)
        rejected.extend(entry for entry in too_large if entry.reason_code == "memory")


def _once(ranked: list[Option]) -> list[Option]:
    """Of services on as many of the same GPUs only the best: how they are shared among machines changes little."""
    seen = set()
    kept = []
    for option in ranked:
        candidate = option.candidate
        key = (option.hardware, candidate.acquisition, candidate.precision, candidate.price_kind)
        if key not in seen or not option.figures.serves:
            kept.append(option)
        seen.add(key)
    return kept


def _of_counts(builder: Builder, catalogue: Catalogue, counts: tuple[int, ...]) -> tuple[list[Option], list[Rejected]]:
    options: list[Option] = []
    rejected: list[Rejected] = []
    for gpu in catalogue.gpus:
        for found in builder.of_gpu(gpu, counts):
            if isinstance(found, Rejected):
                rejected.append(found)
            else:
                options.append(found)
    return options, rejected


def _larger(builder: Builder, catalogue: Catalogue, count: int) -> tuple[list[Option], list[Rejected]]:
    """Up to `count` GPUs and more than half as many: `count`, and whole machines of other sizes."""
    options: list[Option] = []
    rejected: list[Rejected] = []
    for gpu in catalogue.gpus:
        counts = {count}
        for size in builder.sizes(gpu):
            doubled = size * max(1, count // size)
            if count // 2 < doubled <= count:
                counts.add(doubled)
        for found in builder.of_gpu(gpu, tuple(sorted(counts))):
            if isinstance(found, Rejected):
                rejected.append(found)
            else:
                options.append(found)
    return options, rejected


def _needs_more(
    passed: Sequence[Option], options: Sequence[Option], rejected: Sequence[Rejected], count: int, limits: Constraints
) -> bool:
    if any(not option.risks for option in passed):
        return False
    if passed:
        return count < _SURE_AT_LEAST and all(_surer_with_more(option, limits) for option in passed)
    only_slow = any(all(breach.code in _MORE_GPUS_HELP for breach in option.breaches) for option in options)
    on_gpus = any(option.candidate.gpu is not None for option in options)
    return only_slow or (not on_gpus and any(entry.reason_code == "memory" for entry in rejected))


def _surer_with_more(option: Option, limits: Constraints) -> bool:
    may_not_fit = option.candidate.fits is None and option.candidate.memory.needed_bytes is not None
    return may_not_fit or any(
        measure.doubtful for measure in measures(option.figures, limits) if measure.field in _MORE_GPUS_MAKE_SURE
    )
