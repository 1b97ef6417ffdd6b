"""What the title line says of a session: its run in a few words, or its recording; without Qt."""

from __future__ import annotations

from gpuscope.domain.run import Manifest, OutcomeKind, RunOutcome
from gpuscope.engine.follow import Update
from gpuscope.ui.live_run import LiveRun, RunState

_ALL_RUNNING = {RunState.RUNNING, RunState.STEADY, RunState.NO_PROBE}


class SessionStatus:
    """Name, state and time of one session, as far as it has been followed.

    Attributes:
        run: what is known of its run; without steps when it is a recording.
    """

    def __init__(self, manifest: Manifest, name: str = "") -> None:
        """Nothing is known yet but the manifest; `name` is shown for what is no run."""
        self.manifest = manifest
        self.run = LiveRun(manifest)
        self._name = name

    @property
    def title(self) -> str:
        """The part of the command line that the person typed, or the name of the recording or machine."""
        return self.manifest.run.display if self.manifest.run else self._name or self.manifest.host.hostname

    @property
    def live(self) -> bool:
        """Whether more is to come."""
        return self.run.live

    @property
    def elapsed_s(self) -> float:
        """Time since the session began; of one that has ended, up to its end."""
        outcome = self.run.outcome
        return outcome.ended_s if outcome is not None and outcome.ended_s is not None else self.run.now_s

    def take(self, update: Update) -> None:
        """Fold in what is new."""
        self.run.take(update)

    def end(self, outcome: RunOutcome | None) -> None:
        """The session has ended."""
        self.run.end(outcome)

    def state(self) -> str:
        """A code: waiting, running, stalled, stopping, recording, reading, interrupted, or the outcome's kind."""
        if self.run.outcome is not None:
            return self.run.outcome.kind.value
        if self.live and self.manifest.run is None:
            return "recording"
        state = self.run.state()
        return "running" if state in _ALL_RUNNING else state.value

    def is_trouble(self) -> bool:
        """Whether the state is bad news."""
        bad = {OutcomeKind.FAILED, OutcomeKind.OUT_OF_MEMORY, OutcomeKind.KILLED, OutcomeKind.NOT_STARTED}
        return self.run.outcome is not None and self.run.outcome.kind in bad

    def elapsed(self) -> str:
        """Session time as `h:mm:ss`."""
        return clock_text(self.elapsed_s)


def clock_text(seconds: float) -> str:
    """`1:02:03`, or `2:03` within the first hour."""
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rate_text(steps_per_s: float | None) -> str:
    """`2.31 it/s`; slow steps as `45.5 it/min` or `12 it/h`; a dash when unknown."""
    if steps_per_s is None:
        return "–"
    for rate, unit in ((steps_per_s, "it/s"), (60 * steps_per_s, "it/min")):
        if rate >= 1:
            return f"{rate:.3g} {unit}" if rate < 100 else f"{rate:,.0f} {unit}"
    return f"{3600 * steps_per_s:.3g} it/h"
