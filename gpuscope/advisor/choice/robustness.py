"""How far each input may move before the choice changes: found by ranking again with that input scaled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from gpuscope.advisor.choice.constraints import BUY, RENT
from gpuscope.advisor.choice.keeping import fastest_single, keeps
from gpuscope.advisor.choice.limits import broken, doubts
from gpuscope.advisor.choice.money import Money
from gpuscope.advisor.choice.naming import hardware, short_title
from gpuscope.advisor.choice.options import Figures, Option
from gpuscope.advisor.choice.ranking import figure_key
from gpuscope.advisor.cost.terms import ELECTRICITY_USD_PER_KWH, HOURS_PER_MONTH
from gpuscope.domain.economics import Economics
from gpuscope.domain.recommendation import Constraints, Sensitivity

MOST = 10.0
"""Factors beyond it are not looked at."""
_STEPS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, MOST)
_BISECTIONS = 6
"""Halvings in the logarithm of the bracket: within 1% of the factor at which the choice changes."""
_MOST_FOR_A_KWH = 10.0
_SCALED_LIMITS = {"deadline", "throughput", "budget", "budget_per_hour"}
"""Codes of limits that another input may come to meet."""


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


class _Input(NamedTuple):
    name: str
    scale: Scaling
    changes: str
    """A sentence with `{factor}` and `{then}`, for when the choice changes."""
    stays: str
    """A sentence with `{factor}`, for when it does not."""
    falls: bool = False
    """Look at smaller values, not at larger ones."""


def sensitivities(
    chosen: Option,
    passed: Sequence[Option],
    out: Sequence[Option],
    at_hand: Option | None,
    limits: Constraints,
    money: Money,
) -> tuple[Sensitivity, ...]:
    """For each input how far it may move before something else is the better choice.

    Args:
        chosen: the recommended option.
        passed: those that break no limit, without the machine at hand.
        out: those that break one.
        at_hand: the machine of the run, when it breaks no limit.
        limits: for deadline and budgets.
        money: for what owning costs under other terms.
    """
    field = _field(chosen, passed, out, at_hand, limits)
    found = [_moved(field, each) for each in (*_inputs(field), *_of_years(field, money))]
    if limits.deadline_s is not None and chosen.figures.seconds:
        moved = [_deadline(field, limits.deadline_s, tighter) for tighter in (True, False)]
        found += [each for each in moved if each is not None]
    return tuple(found)


def _field(
    chosen: Option, passed: Sequence[Option], out: Sequence[Option], at_hand: Option | None, limits: Constraints
) -> Field:
    near = [option for option in out if all(breach.code in _SCALED_LIMITS for breach in option.breaches)]
    others = [option for option in (*passed, *near) if option is not chosen and option is not at_hand]
    entries = [Entry(option, option.figures) for option in _undominated(others)]
    hand = None if at_hand is None else Entry(at_hand, at_hand.figures)
    kept = chosen is at_hand
    return Field(entries if kept else [Entry(chosen, chosen.figures), *entries], hand, limits, kept)


def _undominated(options: Sequence[Option]) -> list[Option]:
    """Those that no other beats in everything that ranking looks at, so that they may win when an input moves."""
    kept: list[tuple[tuple[float, ...], Option]] = []
    for point, _, option in sorted(
        ((_point(option.figures), str(option.hardware), option) for option in options), key=lambda each: each[:2]
    ):
        if not any(all(a <= b for a, b in zip(other, point, strict=True)) for other, _ in kept):
            kept.append((point, option))
    return [option for _, option in kept]


def _point(figures: Figures) -> tuple[float, ...]:
    running = (
        None if figures.hourly_usd is None else figures.hourly_usd * (figures.hours or figures.seconds or math.inf)
    )
    values = (figures.once_usd, running, figures.seconds, figures.seconds_high, figures.purchase_usd or 0.0)
    throughput = -(figures.throughput_low or 0.0)
    return float(figures.doubts), *(math.inf if value is None else value for value in values), throughput


def _inputs(field: Field) -> Iterator[_Input]:
    if not field.kept:
        yield from _of_money(field)
        yield from _of_speed(field)
    if field.entries and (field.kept or field.entries[0].figures.total_known):
        for falls in (False, True):
            yield _input("work", "The amount of work", _all_times, falls=falls)


def _of_money(field: Field) -> Iterator[_Input]:
    chosen = field.entries[0]
    ways = {entry.option.candidate.acquisition for entry in field.entries}
    if chosen.figures.usd:
        yield _input("price", f"The price of {_name(chosen)}", _of_hardware(chosen, _dearer))
    if chosen.option.candidate.acquisition == BUY:
        yield _input("rent prices", "The rents of all GPUs", _rents, falls=True)
    elif BUY in ways:
        yield _input("rent prices", "The rents of all GPUs", _rents)


def _of_speed(field: Field) -> Iterator[_Input]:
    chosen = field.entries[0]
    if not chosen.figures.seconds or chosen.figures.serves:
        return
    yield _Input(
        "time", _of_hardware(chosen, _slower),
        f"{_name(chosen)} may take {{factor}} as long as predicted before {{then}}.",
        f"{_name(chosen)} may take {{factor}} as long as predicted and stays the choice.",
    )  # fmt: skip
    second = _second(field)
    if second is not None:
        yield _Input(
            "efficiency", _of_hardware(second, _faster),
            f"{_name(second)} would have to be {{factor}} as fast as predicted to be the better choice.",
            f"{_name(second)} may be {{factor}} as fast as predicted and the choice stays.",
        )  # fmt: skip


def _of_years(field: Field, money: Money) -> Iterator[_Input]:
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


def _input(name: str, subject: str, scale: Scaling, *, falls: bool = False) -> _Input:
    verb = "fall" if falls else "rise"
    return _Input(
        name, scale, f"{subject} may {verb} to {{factor}} before {{then}}.",
        f"{subject} may {verb} to {{factor}} and the choice stays.", falls,
    )  # fmt: skip


def _name(entry: Entry) -> str:
    candidate = entry.option.candidate
    return hardware(candidate) if candidate.count else "The CPU instance"


def _moved(field: Field, moved: _Input) -> Sensitivity:
    """The smallest factor at which the choice changes, in a sentence."""

    def winner(factor: float) -> Option | None:
        return _winner(field, lambda entry: moved.scale(entry, factor), field.limits)

    found = _first_change(winner, falls=moved.falls)
    if found is None:
        sentence = moved.stays.format(factor=_times(1 / MOST if moved.falls else MOST))
    else:
        sentence = moved.changes.format(factor=_times(found[0]), then=_successor(found[1], field))
    return Sensitivity(input=moved.name, sentence=sentence)


def _deadline(field: Field, deadline_s: float, tighter: bool) -> Sensitivity | None:
    def winner(factor: float) -> Option | None:
        limits = msgspec.structs.replace(field.limits, deadline_s=deadline_s * factor)
        return _winner(field, lambda entry: entry.figures, limits)

    found = _first_change(winner, falls=tighter)
    if found is None:
        return None
    factor, other = found
    way = "shrink" if tighter else "grow"
    return Sensitivity(
        input="deadline", sentence=f"The deadline may {way} to {_times(factor)} before {_successor(other, field)}."
    )


def _first_change(winner: Callable[[float], Option | None], *, falls: bool) -> tuple[float, Option | None] | None:
    """The factor nearest to 1 at which another option wins, and which; None: none does up to `MOST`."""

    def changed(factor: float) -> bool:
        return _identity(winner(factor)) != own

    own = _identity(winner(1.0))
    low = 1.0
    for step in _STEPS:
        if not changed(1 / step if falls else step):
            low = step
            continue
        high = step
        for _ in range(_BISECTIONS):
            middle = math.sqrt(low * high)
            if changed(1 / middle if falls else middle):
                high = middle
            else:
                low = middle
        factor = 1 / high if falls else high
        return factor, winner(factor)
    return None


def _winner(field: Field, scaled: Callable[[Entry], Figures], limits: Constraints) -> Option | None:
    """What would be recommended with these figures; None: nothing meets the limits."""
    best: tuple[tuple[float, ...], int] | None = None
    figures = [scaled(entry) for entry in field.entries]
    for index, each in enumerate(figures):
        if broken(each, limits):
            continue
        key = figure_key(each, limits)
        if best is None or key < best[0]:
            best = (key, index)
    if field.at_hand is not None:
        hand = scaled(field.at_hand)
        if not broken(hand, limits) and keeps(hand, fastest_single(figures), doubts(hand, limits), limits):
            return field.at_hand.option
    return None if best is None else field.entries[best[1]].option


def _identity(option: Option | None) -> object:
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


def _successor(other: Option | None, field: Field) -> str:
    if other is None:
        return "nothing meets every constraint any more"
    if field.at_hand is not None and other is field.at_hand.option:
        return "the machine at hand is enough"
    return f"{short_title(other.candidate)} is the better choice"


def _times(factor: float) -> str:
    return f"{factor:.2f} times" if factor < MOST else f"{factor:.0f} times"


def _dearer(figures: Figures, factor: float) -> Figures:
    return figures._replace(
        once_usd=_product(figures.once_usd, factor),
        hourly_usd=_product(figures.hourly_usd, factor),
        purchase_usd=_product(figures.purchase_usd, factor),
    )


def _slower(figures: Figures, factor: float) -> Figures:
    return figures._replace(
        seconds=_product(figures.seconds, factor),
        seconds_high=_product(figures.seconds_high, factor),
        throughput=_product(figures.throughput, 1 / factor),
        throughput_low=_product(figures.throughput_low, 1 / factor),
        energy_kwh=_product(figures.energy_kwh, factor),
    )


def _faster(figures: Figures, factor: float) -> Figures:
    return _slower(figures, 1 / factor)


def _all_times(entry: Entry, factor: float) -> Figures:
    """More work takes longer; a second still brings as much."""
    figures = entry.figures
    return figures._replace(
        seconds=_product(figures.seconds, factor), seconds_high=_product(figures.seconds_high, factor)
    )


def _rents(entry: Entry, factor: float) -> Figures:
    return _dearer(entry.figures, factor) if entry.figures.acquisition == RENT else entry.figures


def _of_hardware(wanted: Entry, change: Callable[[Figures, float], Figures]) -> Scaling:
    """Changes every option on that hardware that is got in the same way, in whatever precision."""
    key = _identity(wanted.option)

    def scale(entry: Entry, factor: float) -> Figures:
        return change(entry.figures, factor) if _identity(entry.option) == key else entry.figures

    return scale


def _product(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
