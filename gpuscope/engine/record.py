"""Monitor without a workload of ours: the whole machine, or a process tree that already runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

from gpuscope.domain.run import LIVE_VIEW, OutcomeKind, RunOutcome
from gpuscope.engine import registry
from gpuscope.engine.listener import Listener
from gpuscope.engine.manifest import new_manifest
from gpuscope.engine.supervisor import StopSignals, Supervisor
from gpuscope.errors import SourceError, UsageError
from gpuscope.runner.processes import process_alive
from gpuscope.sources.client import SamplerClient
from gpuscope.store.writer import SessionWriter, delete_session

MIN_INTERVAL_S = 0.02
MAX_INTERVAL_S = 60.0
LEAST_KEPT_S = 60.0


def record(
    path: Path,
    *,
    seconds: float | None = None,
    interval_s: float = 0.1,
    pid: int | None = None,
    parent_pid: int | None = None,
    keep_s: float | None = None,
    listener: Listener = Listener(),
) -> RunOutcome:
    """Record live figures into a new session until the time is up, a signal comes, or the followed process ends.

    Args:
        path: session file to create.
        seconds: how long; None: until stopped.
        interval_s: distance of the fast GPU samples; the host is sampled once a second.
        pid: root of a process tree to follow.
        parent_pid: the process that started this one and that it ends with: a window's own live view.
        keep_s: about how much of the end is kept, while older figures make room for new ones; None: everything.
        listener: is told of the start and of sources that do not work.

    Raises:
        UsageError: an argument is out of range, or there is no such process.
        SessionError: the file cannot be created or written.
        SourceError: no sampler can be started; no file is left.
    """
    check_limits(interval_s, seconds, keep_s)
    if pid is not None and not process_alive(pid):
        raise UsageError(f"There is no process {pid}: give the number of one that runs now (see ps).")
    with StopSignals() as stop:  # from here on: one that came in between would leave half a session
        kind = LIVE_VIEW if parent_pid is not None else "record"
        writer = SessionWriter.create(path, new_manifest(kind, interval_s, followed_pid=pid, keep_s=keep_s))
        registry.remember(path, writer.manifest)
        listener.on_start()
        sampler = SamplerClient(interval_s, root_pid=pid)
        try:
            sampler.start()
            deadline = None if seconds is None else time.monotonic() + seconds
            supervisor = Supervisor(writer, sampler, listener=listener)
            supervisor.run(stop, deadline_s=deadline, watched=_watch(pid, parent_pid))
        except SourceError:  # nothing was recorded
            writer.close()
            delete_session(path)
            raise
        finally:
            sampler.stop()
        return _finish(writer, pid)


def _finish(writer: SessionWriter, pid: int | None) -> RunOutcome:
    ended = writer.session_time(time.monotonic())
    sentence = f"The process {pid} ended." if pid is not None and not process_alive(pid) else "The recording ended."
    outcome = RunOutcome(kind=OutcomeKind.RECORDED, sentence=sentence, started_s=0.0, ended_s=ended)
    writer.put_document("outcome", outcome)
    writer.close()
    return outcome


def check_limits(interval_s: float, seconds: float | None, keep_s: float | None) -> None:
    """Refuse distances of samples and lengths of time that no recording can have.

    Raises:
        UsageError: one is out of range.
    """
    check_interval(interval_s)
    if seconds is not None and not seconds > 0:
        raise UsageError(f"--seconds {seconds:g} is not a length of time: give a number above 0.")
    if keep_s is not None and not LEAST_KEPT_S <= keep_s < math.inf:
        raise UsageError(f"--keep {keep_s:g} s is out of range: give a minute or more, as in 30min or 2h.")


def check_interval(interval_s: float) -> None:
    """Refuse intervals that no sampler can keep.

    Raises:
        UsageError: it is out of range.
    """
    if not MIN_INTERVAL_S <= interval_s <= MAX_INTERVAL_S:
        raise UsageError(f"--interval {interval_s:g} is out of range: give seconds between 0.02 and 60.")


def _watch(pid: int | None, parent_pid: int | None) -> Callable[[], bool]:
    def go_on() -> bool:
        if parent_pid is not None and not process_alive(parent_pid):
            return False
        return pid is None or process_alive(pid)

    return go_on
