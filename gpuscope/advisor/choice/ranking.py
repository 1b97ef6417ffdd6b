"""The order of the candidates: sure ones before doubtful ones, then cheap before dear, then fast before slow.

The key of a candidate depends on itself alone, so that the order of the catalogue's rows does not matter and a
configuration that is better in everything always comes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpuscope.advisor.choice.constraints import BUY, KEEP
from gpuscope.advisor.choice.limits import doubts
from gpuscope.advisor.choice.options import Figures, Option
from gpuscope.domain.recommendation import Constraints

_UNKNOWN = float("inf")

FigureKey = tuple[int, int, float, float, float, float]
RankKey = tuple[FigureKey, str, int, str]


def figure_key(figures: Figures, limits: Constraints) -> FigureKey:
    """Sorts the best figures first.

    In this order: how many things are doubtful; whether money and time can be compared at all; cost of the work (of a
    fixed number of steps when the total is not known); what is paid at once; time; energy.
    """
    return (
        doubts(figures, limits),
        _tier(figures, limits),
        _money(figures),
        figures.purchase_usd if figures.purchase_usd is not None else 0.0,
        figures.seconds if figures.seconds is not None else _UNKNOWN,
        figures.energy_kwh if figures.energy_kwh is not None else _UNKNOWN,
    )


def rank_key(option: Option, limits: Constraints) -> RankKey:
    """Sorts the best candidate first: by its figures, then by names."""
    candidate = option.candidate
    provider = candidate.offer.provider + candidate.offer.instance_type if candidate.offer is not None else ""
    names = f"{candidate.acquisition}{provider}{candidate.precision}{candidate.interconnect}{candidate.network}"
    return figure_key(option.figures, limits), candidate.gpu or candidate.cpu or "", candidate.count, names


def _tier(figures: Figures, limits: Constraints) -> int:
    if figures.acquisition == KEEP:
        return 9
    if figures.seconds is None:
        return 3
    if figures.usd is None:
        return 2
    # Without a total a purchase price and the rent of some steps are not the same kind of money.
    one_sided = figures.acquisition == BUY and not figures.total_known and not figures.lasting
    return 1 if one_sided and limits.acquisition != BUY else 0


def _money(figures: Figures) -> float:
    usd, seconds = figures.usd, figures.seconds
    if usd is not None and seconds is not None:
        # Twice the speed is worth 1.4 times the money, so that of two machines with the same price for a unit of speed
        # the smaller comes first.
        if figures.serves:
            return usd
        if figures.lasting:
            return usd * math.sqrt(seconds)
        if figures.acquisition == BUY and not figures.total_known:
            # Nobody said how much there is to do: a faster GPU is worth more, more of them are not.
            return usd * math.sqrt(seconds * max(1, figures.gpus))
        return usd
    if usd is not None:
        return usd
    if figures.acquisition == BUY and seconds is not None and figures.power_w is not None:
        # Board energy stands in for a price that is not known: small and efficient comes first.
        return figures.power_w * seconds
    return _UNKNOWN if figures.hourly_usd is None or figures.acquisition == BUY else figures.hourly_usd


def front(options: Sequence[Option]) -> list[bool]:
    """Which options are on the Pareto front: none is at least as good in time, cost and energy and better in one.

    What is not known counts as worst. Of equal options all are on the front.
    """
    points = [_point(option.figures) for option in options]
    on_front: list[tuple[float, float, float]] = []
    for point in sorted(set(points)):
        # Sorted: whatever dominates a point comes before it.
        if not any(all(a <= b for a, b in zip(other, point, strict=True)) for other in on_front):
            on_front.append(point)
    chosen = set(on_front)
    return [point in chosen for point in points]


def _point(figures: Figures) -> tuple[float, float, float]:
    values = (figures.seconds, figures.usd, figures.energy_kwh)
    return tuple(_UNKNOWN if value is None else value for value in values)  # type: ignore[return-value]  # three of three
