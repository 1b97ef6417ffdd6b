"""The inputs of a choice that may move, and what each does to the figures of the options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from gpuscope.advisor.choice.constraints import BUY, RENT
from gpuscope.advisor.choice.limits import broken
from gpuscope.advisor.choice.money import Money
from gpuscope.advisor.choice.naming import hardware
from gpuscope.advisor.choice.options import Figures, Option
from gpuscope.advisor.choice.ranking import figure_key
from gpuscope.advisor.cost.terms import ELECTRICITY_USD_PER_KWH, HOURS_PER_MONTH
from gpuscope.domain.base import scaled
from gpuscope.domain.economics import Economics
from gpuscope.domain.recommendation import Constraints

_MOST_FOR_A_KWH = 10.0


class Entry(NamedTuple):
    """An option in the comparison."""

    option: Option
    figures: Figures


Scaling = Callable[[Entry, float], Figures]
"""Figures of an option with an input times a factor."""


class Field(NamedTuple):
    """All options that may win when something changes; the chosen one is the first."""

    entries: list[Entry]
    at_hand: Entry | None
    limits: Constraints
    kept: bool
    """The machine at hand is the choice."""


class Input(NamedTuple):
    """One input that may move."""

    name: str
    scale: Scaling
    changes: str
    """A sentence with `{factor}` and `{then}`, for when the choice changes."""
    stays: str
    """A sentence with `{factor}`, for when it does not."""
    falls: bool = False
    """Look at smaller values, not at larger ones."""


def inputs_of(field: Field, money: Money) -> Iterator[Input]:
    """Everything that may move for this choice.

    Args:
        field: the options.
        money: for what owning costs under other terms.
    """
    if not field.kept:
        yield from _of_money(field)
        yield from _of_speed(field)
    if field.entries and (field.kept or field.entries[0].figures.total_known):
        for falls in (False, True):
            yield _input("work", "The amount of work", _all_times, falls=falls)
    yield from _of_years(field, money)


def _of_money(field: Field) -> Iterator[Input]:
    chosen = field.entries[0]
    ways = {entry.option.candidate.acquisition for entry in field.entries}
    if chosen.figures.usd:
        yield _input("price", f"The price of {_name(chosen)}", _of_hardware(chosen, _dearer))
    if chosen.option.candidate.acquisition == BUY:
        yield _input("rent prices", "The rents of all GPUs", _rents, falls=True)
    elif BUY in ways:
        yield _input("rent prices", "The rents of all GPUs", _rents)


def _of_speed(field: Field) -> Iterator[Input]:
    chosen = field.entries[0]
    if not chosen.figures.seconds or chosen.figures.serves:
        return
    yield Input(
        "time", _of_hardware(chosen, _slower),
        f"{_name(chosen)} may take {{factor}} as long as predicted before {{then}}.",
        f"{_name(chosen)} may take {{factor}} as long as predicted and stays the choice.",
    )  # fmt: skip
    second = _second(field)
    if second is not None:
        yield Input(
            "efficiency", _of_hardware(second, _faster),
            f"{_name(second)} would have to be {{factor}} as fast as predicted to be the better choice.",
            f"{_name(second)} may be {{factor}} as fast as predicted and the choice stays.",
        )  # fmt: skip


def _of_years(field: Field, money: Money) -> Iterator[Input]:
    """What owning depends on, where costs are compared over years."""
    if field.kept or not money.lasting or not any(entry.figures.acquisition == BUY for entry in field.entries):
        return
    economics = field.limits.economics
    tariff = economics.electricity_usd_per_kwh or ELECTRICITY_USD_PER_KWH

    def electricity(factor: float) -> Economics:
        return msgspec.structs.replace(economics, electricity_usd_per_kwh=min(tariff * factor, _MOST_FOR_A_KWH))

    yield _input("electricity", "The price of electricity", _owned_under(money, electricity))
    hours = economics.hours_per_month
    if hours is None:
        return

    def use(factor: float) -> Economics:
        return msgspec.structs.replace(economics, hours_per_month=min(hours * factor, HOURS_PER_MONTH))

    for falls in (False, True):
        yield _input("hours", "The hours of use a month", _owned_under(money, use), falls=falls)


def _owned_under(money: Money, terms: Callable[[float], Economics]) -> Scaling:
    """Costs over years under changed terms."""

    def scale(entry: Entry, factor: float) -> Figures:
        changed, parts, figures = money.under(terms(factor)), entry.option.parts, entry.figures
        if figures.acquisition == RENT or parts.gpu is None or parts.way is None:
            return figures._replace(hours=changed.hours)
        return figures._replace(hours=changed.hours, once_usd=changed.lasting_usd(parts.gpu, parts.way, parts.power))

    return scale


def _input(name: str, subject: str, scale: Scaling, *, falls: bool = False) -> Input:
    verb = "fall" if falls else "rise"
    return Input(
        name, scale, f"{subject} may {verb} to {{factor}} before {{then}}.",
        f"{subject} may {verb} to {{factor}} and the choice stays.", falls,
    )  # fmt: skip


def _name(entry: Entry) -> str:
    candidate = entry.option.candidate
    return hardware(candidate) if candidate.count else "The CPU instance"


def identity(option: Option | None) -> object:
    """The same for options that are no other choice: same hardware, got in the same way."""
    return None if option is None else (option.hardware, option.candidate.acquisition)


def _second(field: Field) -> Entry | None:
    """The best of other hardware that breaks nothing and is got in the same way."""
    chosen = field.entries[0].option
    others = [
        entry
        for entry in field.entries
        if entry.option.hardware != chosen.hardware
        and entry.option.candidate.acquisition == chosen.candidate.acquisition
        and entry.figures.seconds
        and not broken(entry.figures, field.limits)
    ]
    return min(others, key=lambda entry: figure_key(entry.figures, field.limits), default=None)


def _dearer(figures: Figures, factor: float) -> Figures:
    return figures._replace(
        once_usd=scaled(figures.once_usd, factor),
        hourly_usd=scaled(figures.hourly_usd, factor),
        purchase_usd=scaled(figures.purchase_usd, factor),
    )


def _slower(figures: Figures, factor: float) -> Figures:
    return figures._replace(
        seconds=scaled(figures.seconds, factor),
        seconds_high=scaled(figures.seconds_high, factor),
        throughput=scaled(figures.throughput, 1 / factor),
        throughput_low=scaled(figures.throughput_low, 1 / factor),
        energy_kwh=scaled(figures.energy_kwh, factor),
    )


def _faster(figures: Figures, factor: float) -> Figures:
    return _slower(figures, 1 / factor)


def _all_times(entry: Entry, factor: float) -> Figures:
    """More work takes longer; a second still brings as much."""
    figures = entry.figures
    return figures._replace(seconds=scaled(figures.seconds, factor), seconds_high=scaled(figures.seconds_high, factor))


def _rents(entry: Entry, factor: float) -> Figures:
    return _dearer(entry.figures, factor) if entry.figures.acquisition == RENT else entry.figures


def _of_hardware(wanted: Entry, change: Callable[[Figures, float], Figures]) -> Scaling:
    """Changes every option on that hardware that is got in the same way, in whatever precision."""
    key = identity(wanted.option)

    def scale(entry: Entry, factor: float) -> Figures:
        return change(entry.figures, factor) if identity(entry.option) == key else entry.figures

    return scale
