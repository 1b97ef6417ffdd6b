"""Counts a process's steps as they come: the same count as `domain.steps.steps_of`, without keeping every event."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median

from gpuscope.domain.events import Event

RECENT_STEPS = 100
"""The live median is over so many steps."""
STEADY_STEPS = 10
STEADY_WITHIN = 0.05
"""Steady: the median of the last ten steps is within 5% of that of the ten before."""
_FEWEST_OF_A_PHASE = 2
"""As in `domain.steps`: one step alone is no phase of its own."""


@dataclass(slots=True)
class _Optimizer:
    count: int = 0
    first_t: float = 0.0
    last_t: float = 0.0
    parameter_bytes: int = 0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))


class StepCounter:
    """The steps of one process."""

    def __init__(self) -> None:
        """No steps yet."""
        self._by_key: dict[str, _Optimizer] = {}
        self._counted: list[_Optimizer] = []

    def take(self, event: Event) -> None:
        """Fold in one event; kinds other than `step` and `optimizer` are ignored."""
        if event.kind == "step":
            self._take_step(event)
        elif event.kind == "optimizer":
            optimizer = self._by_key.setdefault(str(event.data.get("key")), _Optimizer())
            optimizer.parameter_bytes = max(optimizer.parameter_bytes, int(event.data.get("parameter_bytes") or 0))
        else:
            return
        self._counted = self._choose()

    @property
    def count(self) -> int:
        """Steps so far."""
        return sum(optimizer.count for optimizer in self._counted)

    @property
    def last_t(self) -> float | None:
        """When the last step ended, session seconds."""
        return max((optimizer.last_t for optimizer in self._counted), default=None)

    @property
    def last_s(self) -> float | None:
        """Duration of the last step; a mean where very short steps are reported together."""
        recent = self._recent()
        return recent[-1] if recent else None

    @property
    def median_s(self) -> float | None:
        """Median duration of the recent steps, profiled ones left out."""
        recent = self._recent()
        return median(recent) if recent else None

    @property
    def steady(self) -> bool:
        """Whether step times have settled."""
        recent = list(self._recent())
        if len(recent) < 2 * STEADY_STEPS:
            return False
        now, before = median(recent[-STEADY_STEPS:]), median(recent[-2 * STEADY_STEPS : -STEADY_STEPS])
        return abs(now - before) <= STEADY_WITHIN * before

    def _take_step(self, event: Event) -> None:
        optimizer = self._by_key.setdefault(str(event.data.get("optimizer")), _Optimizer())
        if optimizer.count == 0:
            optimizer.first_t = event.t
        optimizer.count += max(1, int(event.data.get("steps") or 1))
        optimizer.last_t = event.t
        duration_s = event.data.get("duration_s")
        if duration_s is not None and not event.data.get("profiled"):
            optimizer.recent.append(float(duration_s))

    def _choose(self) -> list[_Optimizer]:
        """The largest optimizer, and those that stepped only before or after those already chosen."""
        chosen: list[_Optimizer] = []
        stepped = [optimizer for optimizer in self._by_key.values() if optimizer.count]
        for optimizer in sorted(stepped, key=lambda each: (-each.parameter_bytes, each.first_t)):
            another_phase = optimizer.count >= _FEWEST_OF_A_PHASE and all(
                optimizer.last_t < other.first_t or optimizer.first_t > other.last_t for other in chosen
            )
            if not chosen or another_phase:
                chosen.append(optimizer)
        return chosen

    def _recent(self) -> deque[float]:
        latest = max(self._counted, key=lambda optimizer: optimizer.last_t, default=None)
        return deque() if latest is None else latest.recent
