"""Counts training steps from the probe's events.

A step is not one optimizer call. The probe already groups calls (`step` events of one key never count one iteration
twice); what only the whole stream can tell is which optimizer's steps are the job's: a bigger one may first appear
after a smaller one has stepped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from gpuscope.domain.base import Value
from gpuscope.domain.events import Event

_FEWEST_OF_A_PHASE = 2


class StepRecord(Value, frozen=True, kw_only=True):
    """One training step."""

    t: float
    """When it ended, seconds of the clock of the events."""
    duration_s: float | None
    """Since the end of the step before; None for the first of an optimizer."""
    skipped: bool | None = False
    """Whether a gradient scaler withheld the update; None: not known."""
    profiled: bool = False
    """Its duration holds the cost of a profile: not for statistics."""
    probe_s: float = 0.0
    """Seconds of the duration that the probe itself took."""


def steps_of(events: Iterable[Event]) -> list[StepRecord]:
    """The training steps of one process, in order.

    The dominant optimizer's steps count: the one with the most parameter bytes (the first such). Other optimizers'
    steps belong to the same iterations, unless they all lie before or after those that count: then they are another
    phase of the job (folds of a cross validation, a pre-training), and count too.

    Args:
        events: all events of one process, in order; kinds other than `step` and `optimizer` are ignored.
    """
    by_key: dict[str, list[Event]] = defaultdict(list)
    bytes_by_key: dict[str, int] = defaultdict(int)
    for event in events:
        if event.kind == "step":
            by_key[str(event.data.get("optimizer"))].append(event)
        elif event.kind == "optimizer":
            key = str(event.data.get("key"))
            bytes_by_key[key] = max(bytes_by_key[key], int(event.data.get("parameter_bytes") or 0))
    counted: list[list[Event]] = []
    for key in sorted(by_key, key=lambda key: -bytes_by_key[key]):
        steps = by_key[key]
        if not counted or (_count(steps) >= _FEWEST_OF_A_PHASE and all(_apart(steps, other) for other in counted)):
            counted.append(steps)
    records = [record for steps in counted for event in steps for record in _records(event)]
    return sorted(records, key=lambda record: record.t)


def _apart(steps: list[Event], other: list[Event]) -> bool:
    return steps[-1].t < other[0].t or steps[0].t > other[-1].t


def _count(steps: list[Event]) -> int:
    return sum(_covered(event) for event in steps)


def _covered(event: Event) -> int:
    return max(1, int(event.data.get("steps") or 1))


def _records(event: Event) -> list[StepRecord]:
    """The steps that an event covers; very short ones are reported together, with their mean duration."""
    covered = _covered(event)
    duration_s = event.data.get("duration_s")
    return [
        StepRecord(
            t=event.t - (covered - 1 - index) * (duration_s or 0.0),
            duration_s=duration_s,
            skipped=event.data.get("skipped", False),
            profiled=bool(event.data.get("profiled")),
            probe_s=float(event.data.get("probe_s") or 0.0) / covered,
        )
        for index in range(covered)
    ]
