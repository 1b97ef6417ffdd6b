"""The jobs of a mix, each with every way to run it that its constraints allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.choice.constraints import BUY, RENT
from gpuscope.advisor.choice.options import Option
from gpuscope.domain.base import Range
from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.units import format_count
from gpuscope.errors import UsageError

MachineKey = tuple[str, int, int, str]
"""GPU, GPUs in all, machines, system: the same hardware to buy."""


class AskedJob(NamedTuple):
    """A job as it comes in."""

    name: str
    footprint: Footprint
    runs_per_month: float


class MixedJob(NamedTuple):
    """A job with what it would take on each kind of machine."""

    name: str
    runs_per_month: float
    work: str
    rents: tuple[Option, ...]
    """Cheapest first."""
    bought: dict[MachineKey, Option]
    assumptions: tuple[str, ...]

    def hours(self, option: Option) -> float:
        """Hours a month in the first year; the option's time is known."""
        return self.runs_per_month * run_hours(option).mid


def run_hours(option: Option) -> Range:
    """Hours of one run."""
    time_s = option.candidate.time_to_finish_s
    assert time_s is not None
    return time_s.scaled(1 / 3600)


def mixed_job(asked: AskedJob, advisor: Advisor, constraints: Constraints) -> MixedJob:
    """Look for every way to run a job.

    Raises:
        UsageError: how much work a run is is not known, or the number of runs makes no sense.
    """
    if not 0 < asked.runs_per_month < 1e6:
        raise UsageError(f"{asked.name} cannot run {asked.runs_per_month:g} times a month: give a number above zero.")
    limits, work = _work_of_a_run(asked, constraints)
    found = advisor.options(limits)
    known = [option for option in found.passed if option.candidate.time_to_finish_s is not None]
    bought: dict[MachineKey, Option] = {}
    for option in known:
        if option.candidate.acquisition == BUY:
            bought.setdefault(machine_key(option), option)
    rents = tuple(option for option in known if option.candidate.acquisition == RENT)
    return MixedJob(asked.name, float(asked.runs_per_month), work, rents, bought, advisor.assumed(limits))


def machine_key(option: Option) -> MachineKey:
    """What has to be bought for an option."""
    candidate = option.candidate
    return candidate.gpu or "", candidate.count, candidate.nodes, candidate.system or ""


def names_of(jobs: Sequence[MixedJob], indexes: Sequence[int]) -> str:
    """`train and eval`."""
    names = [jobs[index].name for index in indexes]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _work_of_a_run(asked: AskedJob, constraints: Constraints) -> tuple[Constraints, str]:
    """A run is what the constraints say, else what was recorded."""
    totals = (constraints.total_steps, constraints.total_samples, constraints.total_epochs)
    if any(total is not None for total in totals):
        return constraints, "as much work as was asked for"
    steps = asked.footprint.steps.count
    if not steps:
        raise UsageError(
            f"How much work a run of {asked.name} is, is not known: give the total number of steps, samples or epochs."
        )
    return msgspec.structs.replace(constraints, total_steps=float(steps)), f"{format_count(steps)} steps, as recorded"
