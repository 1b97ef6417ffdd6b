"""Other candidates worth a look beside the recommended one, each for a reason of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuscope.advisor.choice.constraints import BUY, KEEP, RENT
from gpuscope.advisor.choice.options import Option

_FASTER = 0.8
"""An alternate counts as faster from this share of the time on."""
_CHEAPER = 0.95
_MOST_TIMES_DEARER = 10.0
"""What costs more than this is no alternate for being faster."""

_MOST_TIMES_SLOWER = 10.0
"""What takes longer than this is no alternate for being cheaper."""


def alternates(ranked: Sequence[Option], on_front: Sequence[bool], chosen: int, limit: int = 4) -> tuple[int, ...]:
    """The best that rents, a cheaper one, a faster one and the best that is bought, none twice on the same hardware.

    Only what no other candidate beats in time, cost and energy is worth a look, unless nothing else is left of a kind;
    of the faster ones the cheapest, so the smallest that does the job.

    Args:
        ranked: all candidates, best first.
        on_front: for each, whether it is on the Pareto front.
        chosen: index of the recommended one.
        limit: at most so many.
    """
    best = ranked[chosen]
    picks: list[int] = []

    def add(wanted: Callable[[Option], bool], *, same_hardware: bool = False, worthy_only: bool = True) -> None:
        taken = {ranked[index].hardware for index in (*picks, chosen)}
        fitting = [
            index
            for index, option in enumerate(ranked)
            if index not in picks
            and index != chosen
            and (same_hardware or option.hardware not in taken)
            and len(option.risks) <= len(best.risks) + 1
            and wanted(option)
        ]
        worthy = [index for index in fitting if on_front[index] or not worthy_only] or fitting
        picks.extend(worthy[:1])

    kinds = {option.candidate.acquisition for option in ranked}
    if best.candidate.acquisition != RENT and RENT in kinds:
        add(lambda option: option.candidate.acquisition == RENT)
    add(lambda option: _less(option.figures.usd, best.figures.usd, _CHEAPER) and not _far_slower(option, best))
    add(lambda option: _faster(option, best))
    if best.candidate.acquisition != BUY and BUY in kinds:
        before = len(picks)
        # No purchase beats the rent of one piece of work, so the best of them is taken, on the front or not.
        add(lambda option: option.candidate.acquisition == BUY, worthy_only=False)
        if len(picks) == before:
            add(lambda option: option.candidate.acquisition == BUY, same_hardware=True)
    while len(picks) < 2:
        before = len(picks)
        add(lambda option: option.candidate.acquisition != KEEP and _small(option, best))
        if len(picks) == before:
            break
    return tuple(picks[:limit])


def _faster(option: Option, best: Option) -> bool:
    usd, limit = option.figures.usd, best.figures.usd
    affordable = option.candidate.acquisition != BUY or best.candidate.acquisition == BUY
    if usd is not None and limit:
        affordable = affordable and usd <= limit * _MOST_TIMES_DEARER
    return affordable and _less(option.figures.seconds, best.figures.seconds, _FASTER)


def _far_slower(option: Option, best: Option) -> bool:
    return not _less(option.figures.seconds, best.figures.seconds, _MOST_TIMES_SLOWER)


def _small(option: Option, best: Option) -> bool:
    return option.candidate.count <= max(1, best.candidate.count)


def _less(value: float | None, than: float | None, factor: float) -> bool:
    return value is not None and than is not None and value < than * factor
