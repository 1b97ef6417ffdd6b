"""When the machine at hand will do."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope.advisor.choice.options import Figures
from gpuscope.domain.recommendation import Constraints

SHORT_JOB_S = 3600.0
"""Without a deadline, a job that the machine at hand finishes within this time is not worth another machine."""

IN_TIME, SHORT, FASTEST = "in time", "short", "fastest"


def keeps(at_hand: Figures, fastest_single_s: float | None, doubts: int, limits: Constraints) -> str | None:
    """Why the machine at hand will do: `IN_TIME`, `SHORT` or `FASTEST`; None: it does not, or others are worth it.

    Args:
        at_hand: what it does; it breaks no limit.
        fastest_single_s: of the other options with one GPU.
        doubts: how many of its limits may be broken.
        limits: for the deadline.
    """
    total = at_hand.seconds if at_hand.total_known else None
    if limits.deadline_s is not None:
        return None if total is None or doubts else IN_TIME
    if total is not None and total <= SHORT_JOB_S:
        return SHORT
    if fastest_single_s is not None and at_hand.seconds is not None and at_hand.seconds <= fastest_single_s:
        return FASTEST
    return None


def fastest_single(options: Iterable[Figures]) -> float | None:
    """Shortest time on one GPU: several are always faster with enough work, so one tells whether a GPU helps at all."""
    return min((each.seconds for each in options if each.gpus == 1 and each.seconds is not None), default=None)
