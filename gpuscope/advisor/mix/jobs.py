"""The jobs of a mix, each with every way to run it that its constraints allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.choice.constraints import BUY, RENT
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.choice.search import Found
from gpuscope.advisor.choice.verdict import decide
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH
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
    serves: bool = False
    """It answers requests: a run is an hour of load."""
    at_hand: Option | None = None
    """The machine of the run, where that will do."""
    machine: object = None
    """The same for jobs that ran on the same machine."""

    def hours(self, option: Option) -> float:
        """Hours a month in the first year; the option's time is known."""
        return self.runs_per_month * run_hours(option).mid


def run_hours(option: Option) -> Range:
    """Hours of one run; of a service an hour of load."""
    if option.candidate.serving is not None:
        return Range.exact(1.0)
    time_s = option.candidate.time_to_finish_s
    assert time_s is not None
    return time_s.scaled(1 / 3600)


def rent_usd(option: Option) -> Range | None:
    """Rent of one run, of a service with as many copies as the hour needs; None: it is not rented."""
    candidate = option.candidate
    if candidate.acquisition != RENT:
        return None
    if candidate.serving is None or candidate.cost_usd_per_hour is None:
        return candidate.cost_usd
    return candidate.cost_usd_per_hour.scaled(1 - (candidate.serving.autoscaling_saving_share or 0.0))


def mixed_job(asked: AskedJob, advisor: Advisor, constraints: Constraints) -> MixedJob:
    """Look for every way to run a job.

    Raises:
        UsageError: how much work a run is is not known, or the number of runs makes no sense.
    """
    if not 0 < asked.runs_per_month < 1e6:
        raise UsageError(f"{asked.name} cannot run {asked.runs_per_month:g} times a month: give a number above zero.")
    serves = advisor.serves(constraints)
    limits, work = _hour_of_load(asked, constraints) if serves else _work_of_a_run(asked, constraints)
    found = advisor.options(limits)
    known = [option for option in found.passed if serves or option.candidate.time_to_finish_s is not None]
    bought: dict[MachineKey, Option] = {}
    for option in known:
        if option.candidate.acquisition == BUY:
            bought.setdefault(machine_key(option), option)
    rents = tuple(option for option in known if option.candidate.acquisition == RENT)
    return MixedJob(
        asked.name, float(asked.runs_per_month), work, rents, bought, advisor.assumed(limits),
        serves=serves, at_hand=_will_do(found, limits), machine=machine_at_hand(asked.footprint),
    )  # fmt: skip


def machine_at_hand(footprint: Footprint) -> object:
    """The same for runs on the same devices: by their UUIDs, without those by the names of GPUs and host."""
    devices = tuple((device.uuid or "", device.gpu or device.name or "") for device in footprint.devices)
    host = footprint.host
    return devices, None if any(uuid for uuid, _ in devices) else (host.name, host.cores, host.memory_bytes)


def machine_key(option: Option) -> MachineKey:
    """What has to be bought for an option."""
    candidate = option.candidate
    return candidate.gpu or "", candidate.count, candidate.nodes, candidate.system or ""


def names_of(jobs: Sequence[MixedJob], indexes: Sequence[int]) -> str:
    """`train and eval`."""
    names = [jobs[index].name for index in indexes]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _will_do(found: Found, limits: Constraints) -> Option | None:
    """The machine at hand, where the advice on this job alone would be to keep it."""
    decision = decide(found.passed, found.at_hand, limits)
    at_hand = None if decision is None or decision.chosen is not found.at_hand else found.at_hand
    return at_hand if at_hand is not None and at_hand.candidate.time_to_finish_s is not None else None


def _hour_of_load(asked: AskedJob, constraints: Constraints) -> tuple[Constraints, str]:
    """A service has no end: what is asked of the work of other jobs does not concern it."""
    if asked.runs_per_month > HOURS_PER_MONTH:
        raise UsageError(
            f"{asked.name} is a service, counted in hours of load: a month has {HOURS_PER_MONTH:.0f}, not "
            f"{asked.runs_per_month:g}."
        )
    nothing: dict[str, None] = dict.fromkeys(("deadline_s", "total_steps", "total_samples", "total_epochs"))
    return msgspec.structs.replace(constraints, **nothing), "an hour of load"


def _work_of_a_run(asked: AskedJob, constraints: Constraints) -> tuple[Constraints, str]:
    """A run is what the constraints say, else what was recorded; what is asked of services does not concern it."""
    constraints = msgspec.structs.replace(constraints, serving=None)
    totals = (constraints.total_steps, constraints.total_samples, constraints.total_epochs)
    if any(total is not None for total in totals):
        return constraints, "as much work as was asked for"
    steps = asked.footprint.steps.count
    if not steps:
        raise UsageError(
            f"How much work a run of {asked.name} is, is not known: give the total number of steps, samples or epochs."
        )
    return msgspec.structs.replace(constraints, total_steps=float(steps)), f"{format_count(steps)} steps, as recorded"
