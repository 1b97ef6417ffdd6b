"""Other candidates worth a look beside the recommended one, each for a reason of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuscope.advisor.choice.constraints import BUY, KEEP, RENT
from gpuscope.advisor.choice.options import Option

_AT_LEAST = 2
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
    of the faster ones the one with the fewest GPUs, and of those the cheapest.

    Args:
        ranked: all candidates, best first.
        on_front: for each, whether it is on the Pareto front.
        chosen: index of the recommended one.
        limit: at most so many.
    """
    best, picker = ranked[chosen], _Picker(ranked, on_front, chosen)
    kinds = {option.candidate.acquisition for option in ranked}
    if best.candidate.acquisition != RENT and RENT in kinds:
        picker.add_way(RENT)
    picker.add(
        lambda option: (
            _less(option.figures.usd, best.figures.usd, _CHEAPER)
            and _less(option.figures.seconds, best.figures.seconds, _MOST_TIMES_SLOWER)
        )
    )
    picker.add(lambda option: _faster(option, best), fewest_gpus=True)
    if best.candidate.acquisition != BUY and BUY in kinds:
        picker.add_way(BUY)
    while len(picker.picks) < _AT_LEAST and picker.add(
        lambda option: option.candidate.acquisition != KEEP and option.candidate.count <= max(1, best.candidate.count),
        in_rank=best.figures.seconds is None,
    ):
        pass
    return tuple(picker.picks[:limit])


class _Picker:
    """Picks candidates that differ from those picked before."""

    def __init__(self, ranked: Sequence[Option], on_front: Sequence[bool], chosen: int) -> None:
        self._ranked = ranked
        self._on_front = on_front
        self._chosen = chosen
        self.picks: list[int] = []

    def add(self, wanted: Callable[[Option], bool], *, fewest_gpus: bool = False, in_rank: bool = False) -> bool:
        """Pick the best one on other hardware, on the front where there is one; whether there was any.

        Of configurations whose speed is not known the front says nothing: then their rank alone counts.
        """
        fitting = [index for index in self._others() if wanted(self._ranked[index])]
        worthy = [] if in_rank else [index for index in fitting if self._on_front[index]]
        worthy = worthy or fitting
        if fewest_gpus:
            worthy.sort(key=lambda index: self._ranked[index].candidate.count)
        self.picks += worthy[:1]
        return bool(worthy)

    def add_way(self, acquisition: str) -> None:
        """Pick the best that is got in that way: the chosen one may beat it in everything, it is still worth a look."""
        ways = [
            index
            for index in self._others(same_hardware=True)
            if self._ranked[index].candidate.acquisition == acquisition
        ]
        elsewhere = set(self._others())
        self.picks += ([index for index in ways if index in elsewhere] or ways)[:1]

    def _others(self, *, same_hardware: bool = False) -> list[int]:
        """Those that are no more doubtful than the chosen one by more than one thing, and not picked yet."""
        picked = (*self.picks, self._chosen)
        taken = {self._ranked[index].hardware for index in picked}
        most = len(self._ranked[self._chosen].risks) + 1
        return [
            index
            for index, option in enumerate(self._ranked)
            if index not in picked and len(option.risks) <= most and (same_hardware or option.hardware not in taken)
        ]


def _faster(option: Option, best: Option) -> bool:
    usd, limit = option.figures.usd, best.figures.usd
    affordable = option.candidate.acquisition != BUY or best.candidate.acquisition == BUY
    if usd is not None and limit:
        affordable = affordable and usd <= limit * _MOST_TIMES_DEARER
    return affordable and _less(option.figures.seconds, best.figures.seconds, _FASTER)


def _less(value: float | None, than: float | None, factor: float) -> bool:
    return value is not None and than is not None and value < than * factor
