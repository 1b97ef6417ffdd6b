"""How far an input may move before another candidate is the better choice."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope.advisor.choice.naming import title
from gpuscope.advisor.choice.options import Option
from gpuscope.domain.recommendation import Constraints, Sensitivity


def sensitivities(ranked: Sequence[Option], constraints: Constraints) -> tuple[Sensitivity, ...]:
    """For the first of `ranked`: by how much its cost and its time may be wrong.

    Args:
        ranked: candidates that break no constraint, best first, without the machine at hand.
        constraints: for the deadline.
    """
    if not ranked:
        return ()
    return tuple(found for found in (_cost(ranked), _time(ranked[0], constraints)) if found is not None)


def _cost(ranked: Sequence[Option]) -> Sensitivity | None:
    best = ranked[0]
    # Another price of the very same hardware would not change what to get.
    others = [
        option
        for option in ranked[1:]
        if option.figures.usd is not None
        and len(option.risks) <= len(best.risks)
        and option.candidate.acquisition == best.candidate.acquisition
        and (option.candidate.gpu, option.candidate.count) != (best.candidate.gpu, best.candidate.count)
    ]
    if not others or not best.figures.usd:
        return None
    second = others[0]
    assert second.figures.usd is not None
    factor = second.figures.usd / best.figures.usd
    if factor < 1:
        return None
    return Sensitivity(
        input="cost",
        sentence=f"Price or time of {title(best.candidate)} may turn out {factor:.2f} times as high "
        f"before {title(second.candidate)} is cheaper.",
    )


def _time(best: Option, constraints: Constraints) -> Sensitivity | None:
    limit, time_s = constraints.deadline_s, best.candidate.time_to_finish_s
    if limit is None or time_s is None:
        return None
    return Sensitivity(
        input="time",
        sentence=f"It may take {limit / time_s.mid:.2f} times as long as predicted and meets the deadline.",
    )
