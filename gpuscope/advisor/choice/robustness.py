"""How far each input may move before the choice changes: found by ranking again with that input scaled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from gpuscope.advisor.choice.keeping import fastest_single, keeps
from gpuscope.advisor.choice.limits import broken, doubts
from gpuscope.advisor.choice.money import Money
from gpuscope.advisor.choice.moving import Entry, Field, Input, identity, inputs_of
from gpuscope.advisor.choice.moving_factor import MOST_FACTOR, first_change
from gpuscope.advisor.choice.naming import short_title
from gpuscope.advisor.choice.options import Figures, Option
from gpuscope.advisor.choice.ranking import figure_key
from gpuscope.domain.recommendation import Constraints, Sensitivity

_SCALED_LIMITS = {"deadline", "throughput", "budget", "budget_per_hour"}
"""Codes of limits that another input may come to meet."""
_NEARLY_ONE = 0.005
"""Nearer to 1 two decimals show nothing."""


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
    found = [_moved(field, each) for each in inputs_of(field, money)]
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


def _moved(field: Field, moved: Input) -> Sensitivity:
    """The smallest factor at which the choice changes, in a sentence."""

    def winner(factor: float) -> Option | None:
        return _winner(field, lambda entry: moved.scale(entry, factor), field.limits)

    found = _first_winner(winner, falls=moved.falls)
    if found is None:
        sentence = moved.stays.format(factor=_times(1 / MOST_FACTOR if moved.falls else MOST_FACTOR))
    else:
        sentence = moved.changes.format(factor=_times(found[0]), then=_successor(found[1], field))
    return Sensitivity(input=moved.name, sentence=sentence)


def _deadline(field: Field, deadline_s: float, tighter: bool) -> Sensitivity | None:
    def winner(factor: float) -> Option | None:
        limits = msgspec.structs.replace(field.limits, deadline_s=deadline_s * factor)
        return _winner(field, lambda entry: entry.figures, limits)

    found = _first_winner(winner, falls=tighter)
    if found is None:
        return None
    factor, other = found
    way = "shrink" if tighter else "grow"
    return Sensitivity(
        input="deadline", sentence=f"The deadline may {way} to {_times(factor)} before {_successor(other, field)}."
    )


def _first_winner(winner: Callable[[float], Option | None], *, falls: bool) -> tuple[float, Option | None] | None:
    """The factor nearest to 1 at which another option wins, and which; None: none does up to `MOST_FACTOR`."""
    own = identity(winner(1.0))
    factor = first_change(lambda tried: identity(winner(tried)) != own, falls=falls)
    return None if factor is None else (factor, winner(factor))


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
        alone = best is None
        if not broken(hand, limits) and keeps(hand, fastest_single(figures), doubts(hand, limits), limits, alone=alone):
            return field.at_hand.option
    return None if best is None else field.entries[best[1]].option


def _successor(other: Option | None, field: Field) -> str:
    if other is None:
        return "nothing meets every constraint any more"
    if field.at_hand is not None and other is field.at_hand.option:
        return "the machine at hand is enough"
    return f"{short_title(other.candidate)} is the better choice"


def _times(factor: float) -> str:
    if abs(factor - 1) < _NEARLY_ONE:
        return f"{factor:.4f} times"
    return f"{factor:.2f} times" if factor < MOST_FACTOR else f"{factor:.0f} times"
