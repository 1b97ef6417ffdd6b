"""Replicas over the hours of a day, and what switching them on and off saves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuscope.domain.serving import HOURS_OF_A_DAY
from gpuscope.errors import UsageError

START_HOURS = 10 / 60
"""A new copy is paid for before it answers: a machine has to boot and load the weights (assumed, 10 minutes)."""
STABILISATION_HOURS = 5 / 60
"""A copy is taken away only when it was not needed for this long: the usual window of Kubernetes' autoscaler."""


class LoadCurve(NamedTuple):
    """A day of a service."""

    replicas_by_hour: tuple[int, ...]
    replica_hours: float
    saving_share: float
    """Of running the busiest hour's copies all day."""


def over_the_day(hourly_load: Sequence[float], replicas_at: Callable[[float], int]) -> LoadCurve | None:
    """Copies hour by hour with autoscaling; None when no curve is given.

    replica-hours = Σ copies of the hour + start time of each one added + stabilisation window of each one taken away,
    and never more than all of them all day.

    Args:
        hourly_load: 24 relative figures.
        replicas_at: copies for a share of the busiest hour's load; at least one.

    Raises:
        UsageError: there are not 24 figures, one is negative, or all are zero.
    """
    if not hourly_load:
        return None
    if len(hourly_load) != HOURS_OF_A_DAY or min(hourly_load) < 0 or max(hourly_load) <= 0:
        raise UsageError("The load of a day takes 24 figures of 0 and more, not all of them zero, one for each hour.")
    busiest = max(hourly_load)
    at = {load: max(1, replicas_at(load / busiest)) for load in set(hourly_load)}
    counts = tuple(at[load] for load in hourly_load)
    most = max(counts)
    hours = float(sum(counts))
    # The day repeats: after the last hour comes the first one.
    for before, after in itertools.pairwise((*counts, counts[0])):
        hours += max(0, after - before) * START_HOURS + max(0, before - after) * STABILISATION_HOURS
    hours = min(hours, float(HOURS_OF_A_DAY * most))
    return LoadCurve(counts, hours, 1 - hours / (HOURS_OF_A_DAY * most))
