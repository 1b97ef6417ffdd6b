"""Stop a process tree politely first, without ever waiting: the caller's loop asks again and again."""

from __future__ import annotations

from enum import StrEnum

from gpuscope.runner.processes import ProcessKey, Push
from gpuscope.runner.tree import ProcessTree

INTERRUPT_GRACE_S = 10.0
"""Time for a script to save what it wants to save."""
TERMINATE_GRACE_S = 5.0
LEFTOVER_GRACE_S = 2.0
"""Time for helpers to end by themselves once the script has ended."""
KILL_PATIENCE_S = 10.0
"""A killed process that is still there after this waits for a device in the kernel; nobody can end it."""
LOOK_INTERVAL_S = 0.2
"""A look reads all of /proc."""


class StopStage(StrEnum):
    """How far a stop has come."""

    RUNNING = "running"
    INTERRUPT = "interrupt"
    TERMINATE = "terminate"
    KILL = "kill"
    DONE = "done"


_NEXT = {StopStage.RUNNING: StopStage.INTERRUPT, StopStage.INTERRUPT: StopStage.TERMINATE}
_GRACE_S = {StopStage.INTERRUPT: INTERRUPT_GRACE_S, StopStage.TERMINATE: TERMINATE_GRACE_S}


class Stopper:
    """Interrupt, terminate, kill: each stage when the grace of the one before is over and something still lives.

    Times are seconds of the monotonic clock, given by the caller.

    Attributes:
        stage: how far it has come; `DONE` when nothing of the tree lives.
        last_push: the most forceful stage that was needed; None before the first.
        unstoppable: processes that even a kill did not end.
    """

    def __init__(self, tree: ProcessTree) -> None:
        """A stopper that does nothing until `request`."""
        self._tree = tree
        self.stage = StopStage.RUNNING
        self.last_push: StopStage | None = None
        self.unstoppable: tuple[ProcessKey, ...] = ()
        self._since_s = 0.0
        self._looked_s = float("-inf")
        self._root_gone_s: float | None = None

    @property
    def requested(self) -> bool:
        """True from the first request on."""
        return self.stage is not StopStage.RUNNING

    def request(self, now: float) -> None:
        """Begin; each further request goes on to the next stage at once: the person is impatient."""
        if self.stage not in {StopStage.KILL, StopStage.DONE}:
            self._enter(_NEXT.get(self.stage, StopStage.KILL), now)

    def advance(self, now: float) -> StopStage:
        """Look at the tree and go on if it is time; cheap enough to be called many times a second."""
        if self.stage in {StopStage.RUNNING, StopStage.DONE} or now - self._looked_s < LOOK_INTERVAL_S:
            return self.stage
        self._looked_s = now
        alive = self._tree.look()
        if not alive:
            self.stage = StopStage.DONE
            return self.stage
        if self._tree.root not in alive and self._root_gone_s is None:
            self._root_gone_s = now
        if self.stage is StopStage.KILL:
            self._kill(alive, now)
        elif now >= self._deadline_s():
            self._enter(_NEXT.get(self.stage, StopStage.KILL), now)
        return self.stage

    def _deadline_s(self) -> float:
        deadline = self._since_s + _GRACE_S[self.stage]
        if self._root_gone_s is None:
            return deadline
        return min(deadline, max(self._root_gone_s, self._since_s) + LEFTOVER_GRACE_S)

    def _enter(self, stage: StopStage, now: float) -> None:
        self.stage = self.last_push = stage
        self._since_s = now
        self._looked_s = float("-inf")
        if stage is StopStage.INTERRUPT:
            self._tree.interrupt()
        else:
            self._tree.push_all(Push.TERMINATE if stage is StopStage.TERMINATE else Push.KILL)

    def _kill(self, alive: list[ProcessKey], now: float) -> None:
        if now - self._since_s > KILL_PATIENCE_S:
            self.unstoppable = tuple(alive)
            self.stage = StopStage.DONE
        else:
            self._tree.push_all(Push.KILL)  # again, for what was born between the look and the kill
