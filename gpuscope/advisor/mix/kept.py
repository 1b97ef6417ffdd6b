"""Machines at hand that will do for some of the jobs: they cost nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH
from gpuscope.advisor.mix.jobs import MixedJob

MOST_BUSY = 0.85
"""Share of all hours that a machine can be busy: jobs of several people wait for each other (assumed)."""


class Kept(NamedTuple):
    """One machine at hand with the jobs that stay on it."""

    options: dict[int, Option]
    """By index of the job."""
    hours_per_month: float
    """In the first year."""

    @property
    def utilization(self) -> float:
        """In the first year."""
        return self.hours_per_month / HOURS_PER_MONTH


def kept_machines(jobs: Sequence[MixedJob], growth: float) -> list[Kept]:
    """Each machine at hand with as many of its jobs as have room there, the shortest first.

    Args:
        jobs: all of them.
        growth: runs of the last year over those of the first.
    """
    by_machine: dict[object, list[int]] = {}
    for index, job in enumerate(jobs):
        if job.at_hand is not None:
            by_machine.setdefault(job.machine, []).append(index)
    kept = (_filled(jobs, indexes, HOURS_PER_MONTH * MOST_BUSY / growth) for indexes in by_machine.values())
    return [machine for machine in kept if machine.options]


def _filled(jobs: Sequence[MixedJob], indexes: Sequence[int], room_hours: float) -> Kept:
    options: dict[int, Option] = {}
    used = 0.0
    for index in sorted(indexes, key=lambda each: (_hours(jobs[each]), each)):
        hours = _hours(jobs[index])
        option = jobs[index].at_hand
        if option is not None and used + hours <= room_hours:
            options[index] = option
            used += hours
    return Kept(options, used)


def _hours(job: MixedJob) -> float:
    assert job.at_hand is not None
    return job.hours(job.at_hand)
