"""What the title line says of a session: folded together from updates, without Qt."""

from __future__ import annotations

from collections import defaultdict, deque

from gpuscope.domain.events import Event
from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome
from gpuscope.domain.units import format_duration
from gpuscope.engine.follow import Update
from gpuscope.engine.measures import WARM_UP_STEPS, warm_up_steps
from gpuscope.store.reader import SessionState
from gpuscope.ui.step_counter import StepCounter

RATE_WINDOW_S = 10.0
"""Iterations a second are counted over this long a time."""
MIN_RATE_STEPS = 2
STALLED_AFTER_STEPS = 10.0
"""A run counts as stalled when no step came for this many times its usual step time ..."""
STALLED_AFTER_S = 30.0
"""... and for at least this long."""


class SessionStatus:
    """Steps, rate and state of one session, as far as it has been followed."""

    def __init__(self, manifest: Manifest, name: str = "") -> None:
        """Nothing is known yet but the manifest; `name` is shown for what is no run."""
        self.manifest = manifest
        self._name = name
        self.live = True
        self.outcome: RunOutcome | None = None
        self.elapsed_s = 0.0
        self.steps = 0
        self._counters: dict[str, StepCounter] = defaultdict(StepCounter)
        self._recent: deque[tuple[float, int]] = deque()
        self._first_steps: list[tuple[float, int]] = []

    @property
    def title(self) -> str:
        """The part of the command line that the person typed, or the name of the recording or machine."""
        return self.manifest.run.display if self.manifest.run else self._name or self.manifest.host.hostname

    @property
    def total_steps(self) -> int | None:
        """How many steps the person said there will be."""
        return self.manifest.run.total_steps if self.manifest.run else None

    @property
    def steps_per_s(self) -> float | None:
        """Rate over the last seconds; None before there are two steps in them."""
        if len(self._recent) < MIN_RATE_STEPS or self._stalled():
            return None
        (first_t, first_n), (last_t, last_n) = self._recent[0], self._recent[-1]
        return (last_n - first_n) / (last_t - first_t) if last_t > first_t else None

    def take(self, update: Update) -> None:
        """Fold in what is new."""
        self.live = update.state is SessionState.LIVE
        if update.frames:
            self._reach(update.frames[-1].monotonic_s - self.manifest.created_monotonic_s)
        for event in update.events:
            self._reach(event.t)
            if event.kind in {"step", "optimizer"}:
                self._take_step(event)

    def end(self, outcome: RunOutcome | None) -> None:
        """The session has ended."""
        self.live = False
        self.outcome = outcome
        if outcome is not None and outcome.ended_s is not None:
            self.elapsed_s = outcome.ended_s - (outcome.started_s or 0.0)

    def steady_span(self) -> tuple[float, float] | None:
        """Session times between which the steps are steady, by the footprint's rule; None before there are any."""
        if self.steps < MIN_RATE_STEPS:
            return None
        warm_up = warm_up_steps(self.steps)
        start_s = next((t for t, number in self._first_steps if number >= warm_up), self._first_steps[-1][0])
        end_s = self._recent[-1][0]
        return (start_s, end_s) if end_s > start_s else None

    def state(self) -> str:
        """A code: waiting, running, stalled, recording, interrupted, or the outcome's kind."""
        if self.outcome is not None:
            return self.outcome.kind.value
        if not self.live:
            return "interrupted"
        if self.manifest.run is None:
            return "recording"
        if self.steps == 0:
            return "waiting"
        return "stalled" if self._stalled() else "running"

    def is_trouble(self) -> bool:
        """Whether the state is bad news."""
        bad = {OutcomeKind.FAILED, OutcomeKind.OUT_OF_MEMORY, OutcomeKind.KILLED, OutcomeKind.NOT_STARTED}
        return self.outcome is not None and self.outcome.kind in bad

    def elapsed(self) -> str:
        """Session time as `h:mm:ss`."""
        return clock_text(self.elapsed_s)

    def _reach(self, t: float) -> None:
        self.elapsed_s = max(self.elapsed_s, t)

    def _take_step(self, event: Event) -> None:
        counter = self._counters[event.source]
        counter.take(event)
        number = counter.count
        if number <= self.steps:
            return  # another rank's report of the same step, or no step
        self.steps = number
        self._recent.append((event.t, number))
        if len(self._first_steps) < WARM_UP_STEPS[1]:
            self._first_steps.append((event.t, number))
        while len(self._recent) > MIN_RATE_STEPS and event.t - self._recent[0][0] > RATE_WINDOW_S:
            self._recent.popleft()

    def _stalled(self) -> bool:
        if not self.live or len(self._recent) < MIN_RATE_STEPS:
            return False
        (first_t, first_n), (last_t, last_n) = self._recent[0], self._recent[-1]
        usual_s = (last_t - first_t) / max(1, last_n - first_n)
        return self.elapsed_s - last_t > max(STALLED_AFTER_S, STALLED_AFTER_STEPS * usual_s)


def clock_text(seconds: float) -> str:
    """`1:02:03`, or `2:03` within the first hour."""
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rate_text(steps_per_s: float | None) -> str:
    """`2.31 it/s`; slow steps as `14.2 s/it`; a dash when unknown."""
    if steps_per_s is None:
        return "–"
    if steps_per_s >= 1:
        return f"{steps_per_s:.3g} it/s" if steps_per_s < 100 else f"{steps_per_s:,.0f} it/s"
    return f"{format_duration(1 / steps_per_s)}/it"
