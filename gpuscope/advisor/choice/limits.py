"""The limits of the constraints that need a prediction: time, money, power, throughput.

A middle figure beyond a limit breaks it; a range that reaches beyond it is a risk; so is a fit that is not sure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuscope.advisor.choice.constraints import BUY, KEEP
from gpuscope.advisor.choice.options import Breach, Figures
from gpuscope.domain.economics import Economics
from gpuscope.domain.money import format_amount, from_usd
from gpuscope.domain.recommendation import Constraints
from gpuscope.domain.units import format_count, format_duration, parse_count

_LEAST = {"minimum_throughput"}
"""Limits that have to be reached, not kept below."""
_ROOM = 1.01
"""Over what is needed: three figures are shown, and what is shown must be enough when it is typed in."""


class Measure(NamedTuple):
    """A figure of a configuration beside its limit."""

    field: str
    """Of the constraints."""
    limit: float
    mid: float | None
    worst: float | None
    """At the wrong end of its range."""

    @property
    def excess(self) -> float:
        """Needed over allowed, or allowed over reached; up to 1 the limit holds."""
        if self.mid is None or self.mid <= 0:
            return math.inf
        return self.limit / self.mid if self.field in _LEAST else self.mid / self.limit

    @property
    def doubtful(self) -> bool:
        """The limit holds, and may not."""
        if self.worst is None or self.excess > 1:
            return False
        return self.worst < self.limit if self.field in _LEAST else self.worst > self.limit


def measures(figures: Figures, limits: Constraints) -> Iterator[Measure]:
    """Every limit that concerns such a configuration, with what it reaches."""
    if limits.deadline_s is not None:
        known = figures.total_known
        yield Measure(
            "deadline_s", limits.deadline_s, figures.seconds if known else None, figures.seconds_high if known else None
        )
    if limits.minimum_throughput is not None:
        yield Measure("minimum_throughput", limits.minimum_throughput, figures.throughput, figures.throughput_low)
    if limits.power_limit_w is not None:
        yield Measure("power_limit_w", limits.power_limit_w, figures.power_w, figures.power_w)
    if figures.acquisition == KEEP:
        return
    if limits.budget_usd_per_hour is not None and figures.acquisition != BUY:
        yield Measure("budget_usd_per_hour", limits.budget_usd_per_hour, figures.hourly_usd, figures.hourly_usd)
    if limits.budget_usd is not None and (figures.acquisition == BUY or figures.total_known):
        yield Measure("budget_usd", limits.budget_usd, figures.price_usd, figures.price_usd_high)
    if limits.rack_power_w is not None and figures.acquisition == BUY:
        low, high = figures.machine_w or (None, None)
        yield Measure("rack_power_w", limits.rack_power_w, low, high)


def broken(figures: Figures, limits: Constraints) -> bool:
    """Whether any limit is broken."""
    return any(not measure.excess <= 1 for measure in measures(figures, limits))


def doubts(figures: Figures, limits: Constraints) -> int:
    """How many things are doubtful."""
    return figures.doubts + sum(measure.doubtful for measure in measures(figures, limits))


def breaches(figures: Figures, limits: Constraints) -> tuple[Breach, ...]:
    """The limits that are broken, in words."""
    return tuple(_breach(m, figures, limits.economics) for m in measures(figures, limits) if not m.excess <= 1)


def risks(figures: Figures, limits: Constraints) -> tuple[str, ...]:
    """The limits that may be broken, each a clause."""
    return tuple(_risk(measure, limits.economics) for measure in measures(figures, limits) if measure.doubtful)


def _breach(measure: Measure, figures: Figures, economics: Economics) -> Breach:
    kind = _KINDS[measure.field]
    if measure.mid is None:
        subject = "price" if measure.field == "budget_usd" and figures.acquisition == BUY else kind.subject
        return Breach(kind.unknown_code, f"its {subject} is not known, so {kind.judged}", math.inf, "")
    reached, limit = kind.show(measure.mid, economics), kind.show(measure.limit, economics)
    needed = kind.show(enough(measure.field, measure.mid, economics), economics)
    return Breach(
        kind.code, f"{kind.reaches.format(reached)}, {kind.allows.format(limit)}", measure.excess,
        f"{kind.relax.format(needed)} instead of {limit}",
    )  # fmt: skip


def _risk(measure: Measure, economics: Economics) -> str:
    assert measure.worst is not None
    kind = _KINDS[measure.field]
    return kind.risk.format(kind.show(measure.worst, economics))


def enough(field: str, reached: float, economics: Economics) -> float:
    """A limit that what is reached surely keeps, and still does after it was shown rounded and typed in."""
    if field == "deadline_s":
        return reached * _ROOM
    if field in _LEAST:
        return float(parse_count(format_count(reached / _ROOM))) if reached >= 1000 else reached / _ROOM
    if field in {"budget_usd", "budget_usd_per_hour"}:
        rate = from_usd(1.0, economics)
        parts = 100 if reached * rate < 100 else 1
        return math.ceil(reached * rate * parts) / parts / rate
    return float(math.ceil(reached))


def relaxed_words(field: str, needed: float, limit: float, economics: Economics) -> str:
    """`a deadline of 3 d instead of 36 h`, amounts of money as the person writes them."""
    kind = _KINDS[field]
    return f"{kind.relax.format(kind.show(needed, economics))} instead of {kind.show(limit, economics)}"


def _time(value: float, _: Economics) -> str:
    return format_duration(value)


def _watts(value: float, _: Economics) -> str:
    return f"{value:,.0f} W"


def _per_second(value: float, _: Economics) -> str:
    return f"{format_count(value) if value >= 1000 else f'{value:.3g}'}/s"


class _Kind(NamedTuple):
    """How a limit is put in words; `{}` is the figure."""

    code: str
    unknown_code: str
    subject: str
    judged: str
    reaches: str
    allows: str
    relax: str
    risk: str
    show: Callable[[float, Economics], str]


_KINDS = {
    "deadline_s": _Kind(
        "deadline", "unknown_time", "time", "the deadline cannot be judged", "it needs about {}", "the deadline is {}",
        "a deadline of {}", "it may miss the deadline: up to {}", _time,
    ),
    "minimum_throughput": _Kind(
        "throughput", "unknown_time", "speed", "the throughput cannot be judged", "it reaches about {}",
        "at least {} is asked for", "a throughput of {}", "it may reach only {}", _per_second,
    ),
    "budget_usd_per_hour": _Kind(
        "budget_per_hour", "unknown_cost", "price an hour", "the budget cannot be judged", "it costs {} an hour",
        "the budget is {}", "a budget an hour of {}", "it may cost up to {} an hour", format_amount,
    ),
    "budget_usd": _Kind(
        "budget", "unknown_cost", "time", "the budget cannot be judged", "it costs about {}", "the budget is {}",
        "a budget of {}", "it may go over the budget: up to {}", format_amount,
    ),
    "power_limit_w": _Kind(
        "power", "power", "power", "the limit cannot be judged", "its GPUs take up to {}", "the limit is {}",
        "a power limit of {}", "its GPUs may take up to {}", _watts,
    ),
    "rack_power_w": _Kind(
        "rack_power", "rack_power", "power", "the limit of a machine cannot be judged", "one machine takes at least {}",
        "the limit of a machine is {}", "a limit of {} for one machine", "one machine may take up to {}", _watts,
    ),
}  # fmt: skip
