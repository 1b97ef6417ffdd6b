"""From several jobs with their frequencies to what to get for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.advisor.choice.advisor import Advisor
from gpuscope.advisor.choice.moving_factor import MOST_FACTOR, first_change
from gpuscope.advisor.choice.naming import hardware, title
from gpuscope.advisor.choice.options import Option
from gpuscope.advisor.cost.terms import HOURS_PER_MONTH, assumed
from gpuscope.advisor.mix.jobs import AskedJob, MixedJob, mixed_job, names_of, rent_usd, run_hours
from gpuscope.advisor.mix.kept import MOST_BUSY, Kept
from gpuscope.advisor.mix.ways import RENTED, Bought, Mixer, MixWay
from gpuscope.domain.base import Range
from gpuscope.domain.mix import JobOnMachine, MixCost, MixJob, MixMachine, MixOption, MixRecommendation
from gpuscope.domain.money import format_amount, format_amount_range
from gpuscope.domain.recommendation import Constraints, Sensitivity
from gpuscope.errors import UsageError

_SHOWN_OPTIONS = 12
_MOST_GROWTH = 10.0
"""A year: more is a mistake in typing."""


class _Mix(NamedTuple):
    jobs: list[MixedJob]
    growth: float
    constraints: Constraints

    def mixer(self, runs_factor: float = 1.0) -> Mixer:
        return Mixer(self.jobs, self.growth, self.constraints.economics, runs_factor)


def recommend_mix(
    jobs: Sequence[AskedJob], advisors: Sequence[Advisor], constraints: Constraints, growth_per_year: float = 0.0
) -> MixRecommendation:
    """What to buy and what to rent for jobs that come again each month.

    Args:
        jobs: what runs, and how often.
        advisors: one for each job.
        constraints: hold for each run of each job; the budget for each, too.
        growth_per_year: 0.2: each year a fifth more runs than the year before.

    Raises:
        UsageError: there is no job, a frequency or the growth makes no sense, or constraints contradict each other.
    """
    if not jobs:
        raise UsageError("A mix needs at least one job.")
    if not -1 < growth_per_year <= _MOST_GROWTH:
        raise UsageError(f"A growth of {growth_per_year:g} a year makes no sense: 0.2 is a fifth more each year.")
    mixed = [mixed_job(job, advisor, constraints) for job, advisor in zip(jobs, advisors, strict=True)]
    mix = _Mix(mixed, growth_per_year, constraints)
    ways = _different(mix.mixer().ways())
    shown = [MixJob(name=job.name, runs_per_month=job.runs_per_month, work=job.work) for job in mixed]
    if not ways:
        return MixRecommendation(
            sentence=_why_none(mixed), constraints=constraints, jobs=tuple(shown), growth_per_year=growth_per_year
        )
    options = tuple(_option(way, mix) for way in ways)
    return MixRecommendation(
        sentence=_sentence(ways[0], mix),
        constraints=constraints,
        jobs=tuple(shown),
        growth_per_year=growth_per_year,
        recommended=0,
        alternates=_alternates(ways),
        options=options,
        sensitivity=_sensitivity(ways[0], mix),
        assumptions=_assumptions(ways[0], mix),
    )


def _different(ways: Sequence[MixWay]) -> list[MixWay]:
    """The best ways; of ways that buy the same only the first."""
    seen = set()
    kept = []
    for way in ways:
        key = (tuple(sorted(_hardware(each) for each in way.bought)), way.kind, bool(way.kept))
        if key not in seen:
            seen.add(key)
            kept.append(way)
    rented = [way for way in kept if way.kind == RENTED]
    best = kept[:_SHOWN_OPTIONS]
    return best if all(way in best for way in rented) else [*best[:-1], *rented]


def _alternates(ways: Sequence[MixWay]) -> tuple[int, ...]:
    """The best that only rents, the best that buys, and the best with other hardware."""
    first = {_hardware(each) for each in ways[0].bought}
    picks: list[int] = []
    wanted = (
        [i for i, way in enumerate(ways) if not way.bought and not way.kept],
        [i for i, way in enumerate(ways) if way.bought and {_hardware(each) for each in way.bought} != first],
    )
    for indexes in wanted:
        picks += [index for index in indexes if index and index not in picks][:1]
    return tuple(picks)


def _option(way: MixWay, mix: _Mix) -> MixOption:
    machines = [_kept_machine(each, mix) for each in way.kept]
    machines += [_bought_machine(each, mix) for each in way.bought]
    machines += [_rented_machine(index, option, mix) for index, option in sorted(way.rented.items())]
    years = mix.mixer().years
    return MixOption(
        kind=way.kind,
        machines=tuple(machines),
        costs=tuple(MixCost(years=year, usd=usd) for year, usd in zip(years, way.costs, strict=True)),
        energy_kwh_per_month=_energy(way, mix),
        reason=_sentence(way, mix),
    )


def _kept_machine(each: Kept, mix: _Mix) -> MixMachine:
    candidate = next(iter(each.options.values())).candidate
    last = each.utilization * (1 + mix.growth) ** (mix.mixer().years[-1] - 1)
    return MixMachine(
        gpu=candidate.gpu,
        gpu_name=candidate.gpu_name,
        cpu=candidate.cpu,
        count=candidate.count,
        acquisition=candidate.acquisition,
        machines=1,
        jobs=tuple(_job(index, option, mix) for index, option in each.options.items()),
        utilization=each.utilization,
        utilization_last_year=last,
    )


def _bought_machine(each: Bought, mix: _Mix) -> MixMachine:
    candidate = next(iter(each.options.values())).candidate
    return MixMachine(
        gpu=candidate.gpu,
        gpu_name=candidate.gpu_name,
        count=candidate.count,
        nodes=candidate.nodes,
        system=candidate.system,
        acquisition=candidate.acquisition,
        machines=each.machines,
        jobs=tuple(_job(index, option, mix) for index, option in each.options.items()),
        utilization=each.utilization,
        utilization_last_year=each.utilization_last_year,
        purchase_usd=each.purchase_usd,
        worth_below_usd=each.worth_below_usd,
    )


def _rented_machine(index: int, option: Option, mix: _Mix) -> MixMachine:
    candidate = option.candidate
    return MixMachine(
        gpu=candidate.gpu,
        gpu_name=candidate.gpu_name,
        cpu=candidate.cpu,
        count=candidate.count,
        nodes=candidate.nodes,
        acquisition=candidate.acquisition,
        offer=candidate.offer,
        jobs=(_job(index, option, mix),),
    )


def _job(index: int, option: Option, mix: _Mix) -> JobOnMachine:
    hours = run_hours(option)
    return JobOnMachine(
        job=index,
        precision=option.candidate.precision,
        hours_per_run=hours,
        hours_per_month=hours.scaled(mix.jobs[index].runs_per_month),
        usd_per_run=rent_usd(option),
    )


def _energy(way: MixWay, mix: _Mix) -> Range | None:
    parts = []
    for index, option in way.options.items():
        energy = option.candidate.energy_kwh
        if energy is None:
            return None
        parts.append(energy.scaled(mix.jobs[index].runs_per_month))
    return Range.total(parts)


def _sentence(way: MixWay, mix: _Mix) -> str:
    """What to do, and what it costs over the longest horizon."""
    parts = [f"keep {_kept_words(each, mix)}" for each in way.kept]
    parts += [f"buy {_bought_words(each, mix)}" for each in way.bought]
    parts += [
        f"rent {title(option.candidate)} for {mix.jobs[index].name}" for index, option in sorted(way.rented.items())
    ]
    text = ", and ".join(parts)
    if not way.bought and not way.rented:
        return f"{text[:1].upper()}{text[1:]}: it costs nothing more."
    cost, years = way.costs[-1], mix.mixer().years[-1]
    horizon = f"{years} years" if years > 1 else "1 year"
    money = (
        f"{format_amount_range(cost, mix.constraints.economics)} over {horizon}"
        if cost is not None
        else "its price needs a quote"
    )
    return f"{text[:1].upper()}{text[1:]}: {money}."


def _kept_words(each: Kept, mix: _Mix) -> str:
    candidate = next(iter(each.options.values())).candidate
    names = names_of(mix.jobs, sorted(each.options))
    what = hardware(candidate) if candidate.count else "the CPU"
    return f"{what} at hand for {names} ({each.utilization:.0%} busy in the first year)"


def _bought_words(each: Bought, mix: _Mix) -> str:
    candidate = next(iter(each.options.values())).candidate
    times = f"{each.machines} × " if each.machines > 1 else ""
    names = names_of(mix.jobs, sorted(each.options))
    worth = ""
    if each.purchase_usd is None and each.worth_below_usd:
        worth = f", worth it below {format_amount(each.worth_below_usd, mix.constraints.economics)}"
    return f"{times}{hardware(candidate)} for {names} ({each.utilization:.0%} busy in the first year{worth})"


def _why_none(jobs: Sequence[MixedJob]) -> str:
    without = [job.name for job in jobs if not job.rents and not job.bought and job.at_hand is None]
    if without:
        return (
            f"Nothing in the catalogue runs {' or '.join(without)} within these constraints: ask for advice on that "
            "job alone, which says what would have to give."
        )
    return "No way of buying or renting serves all jobs within these constraints: allow both, or other GPUs."


def _sensitivity(best: MixWay, mix: _Mix) -> tuple[Sensitivity, ...]:
    found = []
    for each in best.bought:
        if each.purchase_usd and each.worth_below_usd:
            name = hardware(next(iter(each.options.values())).candidate)
            found.append(
                Sensitivity(
                    input="price",
                    sentence=f"The price of {name} may be {each.worth_below_usd / each.purchase_usd:.2f} times as high "
                    "before renting is cheaper.",
                )
            )
    found += [_runs(best, mix, falls) for falls in (False, True)]
    return tuple(found)


def _runs(best: MixWay, mix: _Mix, falls: bool) -> Sensitivity:
    """How many more or fewer runs change what is bought, by working it out again."""
    own = _identity(best)

    factor = first_change(lambda tried: _identity(mix.mixer(tried).ways()[0]) != own, falls=falls)
    verb = "fall" if falls else "rise"
    if factor is None:
        most = 1 / MOST_FACTOR if falls else MOST_FACTOR
        end = f"{most:g} times and the choice stays."
    else:
        other = mix.mixer(factor).ways()[0]
        end = f"{factor:.2f} times before another way is better: {_sentence(other, mix)}"
    return Sensitivity(input="runs", sentence=f"The number of runs may {verb} to {end}")


def _identity(way: MixWay) -> object:
    kept = sorted(index for each in way.kept for index in each.options)
    return kept, sorted((_hardware(each), sorted(each.options)) for each in way.bought), sorted(way.rented)


def _hardware(each: Bought) -> tuple[str, int, int, str]:
    candidate = next(iter(each.options.values())).candidate
    return candidate.gpu or "", candidate.count, candidate.nodes, candidate.system or ""


def _assumptions(best: MixWay, mix: _Mix) -> tuple[str, ...]:
    notes = [f"A run of {job.name} is {job.work}." for job in mix.jobs]
    if any(job.serves for job in mix.jobs):
        notes.append(
            "Services may be under load at the same time, so each needs machines of its own for that; jobs use them in "
            "the hours between. The hours of load do not grow."
        )
    if best.kept:
        notes.append("What is kept costs nothing more; its electricity is not counted.")
    if best.bought:
        notes.append(
            f"A bought machine works at most {MOST_BUSY:.0%} of the {HOURS_PER_MONTH:.0f} hours of a month, since jobs "
            "wait for each other; enough machines are bought at once for the last year."
        )
        notes += assumed(mix.constraints.economics)
    notes.append("Rented machines are paid for the hours that they work.")
    notes += [note for job in mix.jobs for note in job.assumptions]
    return tuple(dict.fromkeys(notes))
