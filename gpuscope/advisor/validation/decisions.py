"""Would the advice have been right: which of the measured GPUs is picked, which one truly was best, at what regret.

One decision: a job ran on one GPU; from that run the times on all measured GPUs are predicted, and the one that
promises most is picked. The regret is what the pick costs over the truly best one, as a share. Rules that a person
follows without gpuscope decide on the same GPUs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gpuscope.domain.base import Value

FASTEST, CHEAPEST_RENT, CHEAPEST_PURCHASE = "fastest", "cheapest to rent", "cheapest to buy"
AIMS = (FASTEST, CHEAPEST_RENT, CHEAPEST_PURCHASE)

_SAME = 1e-9
"""Regrets below this are rounding."""


class Option(NamedTuple):
    """One GPU on which the job was measured."""

    gpu: str
    predicted_s: float
    """For a unit of work, from the run on the source GPU; on that GPU itself it is the measurement."""
    measured_s: float
    """For the same unit of work."""
    peak_tflops: float
    """By the specifications, in the precision of the job."""
    rent_usd_per_hour: float | None
    """Lowest on-demand price of one GPU."""
    purchase_usd: float | None
    """Launch price."""


class Situation(NamedTuple):
    """One job that was measured on several GPUs, and the run from which the others are predicted."""

    data: str
    """Whose rows."""
    label: str
    options: tuple[Option, ...]


class Score(Value, frozen=True, kw_only=True):
    """How a rule did on all situations of one kind."""

    data: str
    """Whose rows, and which GPUs were to choose from."""
    aim: str
    """fastest, cheapest to rent or cheapest to buy"""
    rule: str
    """Who picked: gpuscope, or a rule of thumb."""
    decisions: int
    """How many there were."""
    right: float
    """Share of the decisions that took the truly best GPU."""
    mean_regret: float
    """Time or cost over that of the truly best, as a share, on average."""
    worst_regret: float
    """The largest of them."""


Weight = Callable[[Option], float | None]
"""What an option is judged by, the lowest is taken; None: the rule cannot judge it."""


def scores(situations: Iterable[Situation]) -> tuple[Score, ...]:
    """The rules' results by data and aim; a situation counts where at least two of its GPUs have what the aim needs."""
    by_data: dict[str, list[Situation]] = {}
    for situation in situations:
        by_data.setdefault(situation.data, []).append(situation)
    return tuple(
        score for data, found in sorted(by_data.items()) for aim in AIMS for score in _of_aim(data, aim, found)
    )


def _of_aim(data: str, aim: str, situations: Sequence[Situation]) -> Iterator[Score]:
    usable = [options for situation in situations if len(options := _with_price(situation.options, aim)) > 1]
    if not usable:
        return
    for rule, weight in _rules(aim).items():
        regrets = [regret for options in usable if (regret := _regret(options, weight, aim)) is not None]
        if not regrets:
            continue
        yield Score(
            data=data,
            aim=aim,
            rule=rule,
            decisions=len(regrets),
            right=sum(regret < _SAME for regret in regrets) / len(regrets),
            mean_regret=statistics.fmean(regrets),
            worst_regret=max(regrets),
        )


def _rules(aim: str) -> dict[str, Weight]:
    """gpuscope's rule first."""
    if aim == FASTEST:
        return {
            "gpuscope": lambda option: option.predicted_s,
            "highest TFLOPS": lambda option: -option.peak_tflops,
            "highest price an hour": lambda option: (
                None if option.rent_usd_per_hour is None else -option.rent_usd_per_hour
            ),
        }
    return {
        "gpuscope": lambda option: option.predicted_s * _price(option, aim),
        "highest TFLOPS": lambda option: -option.peak_tflops,
        "TFLOPS for the price": lambda option: _price(option, aim) / option.peak_tflops,
        "lowest price": lambda option: _price(option, aim),
    }


def _regret(options: Sequence[Option], weight: Weight, aim: str) -> float | None:
    """What the rule's pick costs over the truly best; None where it cannot judge all of them."""
    weights = {option.gpu: found for option in options if (found := weight(option)) is not None}
    if len(weights) < len(options):
        return None
    picked = min(weights, key=lambda gpu: (weights[gpu], gpu))
    truths = {option.gpu: option.measured_s * _price(option, aim) for option in options}
    return truths[picked] / min(truths.values()) - 1


def _with_price(options: Sequence[Option], aim: str) -> list[Option]:
    return [option for option in options if _price(option, aim) > 0]


def _price(option: Option, aim: str) -> float:
    """What time is multiplied with: nothing for the fastest; 0 where the price is not known."""
    if aim == FASTEST:
        return 1.0
    return (option.rent_usd_per_hour if aim == CHEAPEST_RENT else option.purchase_usd) or 0.0
