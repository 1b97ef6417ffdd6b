"""The parent's side of the sampler: starts it, reads its frames, replaces it when it dies or hangs."""

from __future__ import annotations

import math
import time
from typing import Any

from gpuscope.domain.sample import Frame
from gpuscope.errors import SourceError, UsageError
from gpuscope.sources.sampler_process import SamplerProcess
from gpuscope.sources.ticker import BackOff

REPLACE_WEDGED_AFTER_S = 10.0
"""A sampler whose driver call hangs may yet recover; after this long it is replaced."""
SILENT_AFTER_S = 30.0
"""A sampler that sends nothing at all for so long is stuck; the host's figures come at least every few seconds."""
HEALTHY_AFTER_S = 60.0
"""A sampler that has worked this long is replaced at once when it dies, however often others died before it."""


class SamplerClient:
    """A stream of frames that goes on whatever happens to the sampler behind it.

    Use it from one thread. Times in notes are of the system's monotonic clock.
    """

    def __init__(
        self,
        interval_s: float,
        host_interval_s: float = 1.0,
        root_pid: int | None = None,
        *,
        wedged_after_s: float | None = None,
        replace_wedged_after_s: float = REPLACE_WEDGED_AFTER_S,
    ) -> None:
        """Nothing is started yet; `root_pid` is the process whose tree is watched.

        Raises:
            UsageError: an interval is not a positive number of seconds.
        """
        self._interval_s = _checked(interval_s)
        self._host_interval_s = _checked(host_interval_s)
        self._root_pid = root_pid
        self._wedged_after_s = wedged_after_s
        self._replace_wedged_after_s = replace_wedged_after_s
        self._process: SamplerProcess | None = None
        self._dying: list[SamplerProcess] = []
        self._notes: list[tuple[str, dict[str, Any]]] = []
        self._back_off = BackOff()
        self._started_s = self._heard_s = 0.0
        self._last_frame_s = 0.0
        self._gap: tuple[str, float] | None = None
        self._wedged_since_s: float | None = None
        self._replace_at_s: float | None = None

    def start(self) -> None:
        """Start the sampler.

        Raises:
            SourceError: this app cannot be started again as a sampler.
        """
        self._spawn()

    def poll(self) -> list[Frame]:
        """The frames that have come since the last call; never blocks. Looks after the sampler as well."""
        self._dying = [process for process in self._dying if not process.reap()]
        now_s = time.monotonic()
        frames = self._process.frames() if self._process is not None else []
        for frame in frames:
            self._take(frame, now_s)
        if self._process is not None and self._process.ended():
            self._plan_replacement(self._process.epitaph(), now_s)
            self._discard()
        self._replace_when_due(now_s)
        return frames

    def set_root_pid(self, pid: int | None) -> None:
        """Watch another process tree from now on; None watches none."""
        self._root_pid = pid
        if self._process is not None:
            self._process.send({"root_pid": pid})

    def set_interval(self, interval_s: float) -> None:
        """Read the fast GPU figures at another distance from now on.

        Raises:
            UsageError: it is not a positive number of seconds.
        """
        self._interval_s = _checked(interval_s)
        if self._process is not None:
            self._process.send({"interval_s": interval_s})

    def notes(self) -> list[tuple[str, dict[str, Any]]]:
        """Drain what happened: `sampler_started` {pid}, `sampler_replaced` {reason, gap_start_s, gap_end_s, pid}."""
        notes, self._notes = self._notes, []
        return notes

    def stop(self) -> None:
        """End the sampler and wait until it is gone; safe to call more than once."""
        for process in (*self._dying, self._process):
            if process is not None:
                process.close()
        self._process, self._dying, self._replace_at_s = None, [], None

    def _take(self, frame: Frame, now_s: float) -> None:
        """Learn from a frame how the sampler is."""
        self._heard_s = now_s
        self._last_frame_s = max(self._last_frame_s, frame.monotonic_s)
        if now_s - self._started_s > HEALTHY_AFTER_S:
            self._back_off.reset()
        for state in frame.states or ():
            if state.source == "nvml":
                self._wedged_since_s = now_s if state.code == "wedged" else None
        if frame.gpus and self._wedged_since_s is not None:
            self._wedged_since_s = None

    def _plan_replacement(self, reason: str, now_s: float) -> None:
        if self._replace_at_s is None:
            self._replace_at_s = now_s + self._back_off.next_s()
            self._gap = (reason, self._last_frame_s or now_s)

    def _replace_when_due(self, now_s: float) -> None:
        if self._wedged_since_s is not None and now_s - self._wedged_since_s > self._replace_wedged_after_s:
            self._plan_replacement("a call of the NVIDIA driver did not return", now_s)
            self._wedged_since_s = None
        silent_s = now_s - self._heard_s
        if self._process is not None and silent_s > max(SILENT_AFTER_S, 5 * self._host_interval_s):
            self._plan_replacement(f"it sent nothing for {silent_s:.0f} s", now_s)
        if self._replace_at_s is not None and now_s >= self._replace_at_s:
            self._replace_at_s = None
            self._discard()
            try:
                self._spawn()
            except SourceError as error:
                self._plan_replacement(str(error), now_s)

    def _discard(self) -> None:
        """Kill the present sampler; a process that hangs in the kernel may take its time."""
        if self._process is not None:
            self._process.kill()
            self._dying.append(self._process)
            self._process = None

    def _spawn(self) -> None:
        arguments = ["--interval", repr(self._interval_s), "--host-interval", repr(self._host_interval_s)]
        if self._root_pid is not None:
            arguments += ["--root-pid", str(self._root_pid)]
        if self._wedged_after_s is not None:
            arguments += ["--wedged-after", repr(self._wedged_after_s)]
        self._process = SamplerProcess(arguments)
        self._started_s = self._heard_s = time.monotonic()
        self._wedged_since_s = None
        pid = self._process.pid
        if self._gap is None:
            self._notes.append(("sampler_started", {"pid": pid}))
            return
        reason, gap_start_s = self._gap
        self._gap = None
        gap = {"reason": reason, "gap_start_s": gap_start_s, "gap_end_s": self._started_s, "pid": pid}
        self._notes.append(("sampler_replaced", gap))


def _checked(interval_s: float) -> float:
    if not (math.isfinite(interval_s) and interval_s > 0):
        raise UsageError(f"An interval of {interval_s:g} s makes no sense: give a number of seconds above 0, like 0.1.")
    return interval_s
