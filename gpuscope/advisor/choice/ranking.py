"""The order of the candidates: sure ones before doubtful ones, then cheap before dear, then fast before slow.

The key of a candidate depends on itself alone, so that the order of the catalogue's rows does not matter and a
configuration that is better in everything always comes first.
"""

from __future__ import annotations

from gpuscope.advisor.choice.constraints import BUY, KEEP
from gpuscope.advisor.choice.options import Option
from gpuscope.domain.recommendation import Constraints

_UNKNOWN = float("inf")

RankKey = tuple[int, int, float, float, float, float, str, int, str]

_FASTER = 0.8
_CHEAPER = 0.95


def rank_key(option: Option, constraints: Constraints) -> RankKey:
    """Sorts the best candidate first.

    In this order: how many things are doubtful; whether money and time can be compared at all; cost of the work (of a
    fixed number of steps when the total is not known); what is paid at once; time; energy; names.
    """
    candidate = option.candidate
    energy = candidate.energy_kwh.mid if candidate.energy_kwh is not None else _UNKNOWN
    provider = candidate.offer.provider + candidate.offer.instance_type if candidate.offer is not None else ""
    return (
        len(option.risks),
        _tier(option, constraints),
        _money(option),
        _price(option),
        option.compared_seconds if option.compared_seconds is not None else _UNKNOWN,
        energy,
        candidate.gpu or candidate.cpu or "",
        candidate.count,
        candidate.acquisition + provider,
    )


def _tier(option: Option, constraints: Constraints) -> int:
    candidate = option.candidate
    if candidate.acquisition == KEEP:
        return 9
    if option.compared_seconds is None:
        return 3
    if option.compared_usd is None:
        return 2
    # Without a total a purchase price and the rent of some steps are not the same kind of money.
    total_known = candidate.time_to_finish_s is not None
    return 1 if candidate.acquisition == BUY and not total_known and constraints.acquisition != BUY else 0


def _money(option: Option) -> float:
    candidate = option.candidate
    if candidate.acquisition == BUY and candidate.time_to_finish_s is None and option.compared_seconds is not None:
        # For lasting use: what a unit of speed costs.
        if option.compared_usd is not None:
            return option.compared_usd * option.compared_seconds
    elif option.compared_usd is not None:
        return option.compared_usd
    if candidate.acquisition == BUY and option.power_w is not None and option.compared_seconds is not None:
        # Board energy stands in for a price that is not known: small and efficient comes first.
        return option.power_w * option.compared_seconds
    hourly = candidate.cost_usd_per_hour
    return _UNKNOWN if hourly is None else hourly.mid


def _price(option: Option) -> float:
    """Of a purchase: where twice the money buys twice the speed, the smaller purchase comes first."""
    candidate = option.candidate
    return candidate.cost_usd.mid if candidate.acquisition == BUY and candidate.cost_usd is not None else 0.0


def alternates(ranked: list[Option], chosen: int, limit: int = 4) -> tuple[int, ...]:
    """Other candidates worth a look: the best that rents, the best that is bought, a cheaper and a faster one.

    Args:
        ranked: all candidates, best first.
        chosen: index of the recommended one.
        limit: at most so many.
    """
    best = ranked[chosen]
    picks: list[int] = []

    def add(wanted: list[int]) -> None:
        fresh = [index for index in wanted if index != chosen and index not in picks]
        if fresh:
            picks.append(fresh[0])

    indexes = range(len(ranked))
    add([i for i in indexes if ranked[i].candidate.acquisition == "rent"])
    add([i for i in indexes if _less(ranked[i].compared_usd, best.compared_usd, _CHEAPER)])
    add([i for i in indexes if _less(ranked[i].compared_seconds, best.compared_seconds, _FASTER)])
    add([i for i in indexes if ranked[i].candidate.acquisition == BUY])
    add([i for i in indexes if ranked[i].candidate.acquisition != KEEP])
    return tuple(picks[:limit])


def _less(value: float | None, than: float | None, factor: float) -> bool:
    return value is not None and than is not None and value < than * factor
