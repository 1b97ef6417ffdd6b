"""When the machine at hand will do."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope.advisor.choice.options import Figures
from gpuscope.domain.recommendation import Constraints

SHORT_JOB_S = 3600.0
"""Without a deadline, a job that the machine at hand finishes within this time is not worth another machine."""

IN_TIME, SHORT, FASTEST, ONLY = "in time", "short", "fastest", "only"


def keeps(
    at_hand: Figures, fastest_single_s: float | None, doubts: int, limits: Constraints, *, alone: bool
) -> str | None:
    """Why the machine at hand will do: `IN_TIME`, `SHORT`, `FASTEST` or `ONLY`; None: others are worth their price.

    Args:
        at_hand: what it does; it breaks no limit.
        fastest_single_s: of the other options with one GPU.
        doubts: how many of its limits may be broken.
        limits: for the deadline.
        alone: nothing else meets every limit.
    """
    total = at_hand.seconds if at_hand.total_known else None
    if limits.deadline_s is not None and total is not None and not doubts:
        return IN_TIME
    if limits.deadline_s is None and total is not None and total <= SHORT_JOB_S:
        return SHORT
    if alone:
        return ONLY
    fastest = fastest_single_s is not None and at_hand.seconds is not None and at_hand.seconds <= fastest_single_s
    return FASTEST if fastest and limits.deadline_s is None else None


def fastest_single(options: Iterable[Figures]) -> float | None:
    """Shortest time on one GPU: several are always faster with enough work, so one tells whether a GPU helps at all."""
    return min((each.seconds for each in options if each.gpus == 1 and each.seconds is not None), default=None)
