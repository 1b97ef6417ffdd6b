"""Run a workload under the monitors, and take over runs whose supervisor died."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine import registry
from gpuscope.engine.footprint import compute_footprint
from gpuscope.engine.listener import Listener
from gpuscope.engine.manifest import new_manifest
from gpuscope.engine.outcome import outcome_of
from gpuscope.engine.record import check_interval
from gpuscope.engine.supervisor import StopSignals, Supervisor
from gpuscope.errors import RunError, SessionError, SourceError
from gpuscope.runner.command import LaunchPlan
from gpuscope.runner.process import Ended, Workload, read_workload_note, workload_alive
from gpuscope.sources.client import SamplerClient
from gpuscope.store.reader import SessionReader
from gpuscope.store.schema import run_folder
from gpuscope.store.writer import SessionWriter

SETTLING_S = 1.0
STARTED = "workload_started_s"
"""Session time at which the workload was started, for whoever takes it over."""


def profile(
    path: Path,
    plan: LaunchPlan,
    *,
    interval_s: float = 0.1,
    listener: Listener = Listener(),
) -> RunOutcome:
    """Run a workload and write everything about it into a new session.

    Args:
        path: session file to create.
        plan: what to start.
        interval_s: distance of the fast GPU samples.
        listener: is told of the start, the workload's output, and sources that do not work.

    Raises:
        SessionError: the session cannot be created (then nothing was started) or written (then the run goes on
            without being recorded).
        RunError, SourceError: the workload or the sampler could not be started; the session says so.
        UsageError: the interval is out of range.
    """
    check_interval(interval_s)
    with StopSignals() as stop:  # from here on: one that came in between would leave half a session, or a lost run
        writer = SessionWriter.create(path, new_manifest("run", interval_s, run=plan.spec))
        registry.remember(path, writer.manifest)
        listener.on_start()
        sampler = SamplerClient(interval_s)
        try:
            workload = _start(writer, sampler, plan)
            return _supervise(writer, sampler, workload, listener, stop)
        finally:
            sampler.stop()


def adopt(path: Path) -> RunOutcome:
    """Go on with a session whose supervisor died: follow the workload if it still runs, fold in what it left.

    Raises:
        SessionError: the session is being written, is finished, is not a session, or cannot be written.
    """
    with contextlib.closing(SessionReader(path)) as reader:
        last_seen_s = reader.last_frame_s()
    with StopSignals() as stop:
        return _adopt(SessionWriter.adopt(path), last_seen_s, stop)


def _adopt(writer: SessionWriter, last_seen_s: float, stop: StopSignals) -> RunOutcome:
    folder = run_folder(writer.path)
    note = read_workload_note(folder)
    if note is None or not workload_alive(note):
        return _finish_unwatched(writer, note.pid if note else None, last_seen_s)
    workload = Workload.attach(note.pid, note.create_time, folder)
    now_s = writer.session_time(time.monotonic())
    sampler = SamplerClient(writer.manifest.interval_s, root_pid=workload.pid)
    sampler.start()
    try:
        gap = {"gap_start_s": last_seen_s, "gap_end_s": now_s}
        writer.add_event(time.monotonic(), "supervisor_adopted", gap)
        return _supervise(writer, sampler, workload, Listener(), stop)
    finally:
        sampler.stop()


def _start(writer: SessionWriter, sampler: SamplerClient, plan: LaunchPlan) -> Workload:
    try:
        sampler.start()
        workload = Workload.start(plan, run_folder(writer.path))
    except (RunError, SourceError) as error:
        outcome = RunOutcome(kind=OutcomeKind.NOT_STARTED, sentence=str(error), started_s=0.0, ended_s=0.0)
        writer.put_document("outcome", outcome)
        writer.close()
        raise
    writer.put_meta(STARTED, writer.session_time(time.monotonic()))
    sampler.set_root_pid(workload.pid)
    return workload


def _supervise(
    writer: SessionWriter, sampler: SamplerClient, workload: Workload, listener: Listener, stop: StopSignals
) -> RunOutcome:
    supervisor = Supervisor(writer, sampler, workload, listener)
    try:
        supervisor.run(stop)
    except SessionError as error:
        writer.abandon()
        if workload.poll() is not None:
            raise
        raise SessionError(
            f"{error} The run (process {workload.pid}) goes on unrecorded: mend that and open the session in "
            "gpuscope's window, which takes the run over."
        ) from error
    ended_s = writer.session_time(time.monotonic())
    supervisor.tick(time.monotonic())
    supervisor.drain_all()
    ending = workload.poll() or Ended(None)
    _note_leftovers(supervisor, workload)
    outcome = outcome_of(
        exit_status=ending.status,
        exit_signal=ending.signal,
        stopped=workload.stop_requested,
        events=supervisor.probe_events(),
        last_output=supervisor.last_output,
        started_s=float(writer.get_meta(STARTED, 0.0)),
        ended_s=ended_s,
        root_pid=workload.pid,
    )
    _finish(writer, outcome)
    return outcome


def _note_leftovers(supervisor: Supervisor, workload: Workload) -> None:
    """Processes that the job left running on purpose are not ours to end, but worth knowing of."""
    unstoppable = workload.unstoppable()
    deadline = time.monotonic() + SETTLING_S
    while not unstoppable and workload.leftovers() and time.monotonic() < deadline:
        time.sleep(0.05)  # data-loader workers end by themselves, a moment after the script
    left = unstoppable or workload.leftovers()
    if left:
        verb = "could not be stopped" if unstoppable else "still run"
        supervisor.note("note", sentence=f"Processes that the job started {verb}: {', '.join(left)}.")


def _finish_unwatched(writer: SessionWriter, root_pid: int | None, last_seen_s: float) -> RunOutcome:
    """Close a session whose supervisor and workload are both gone."""
    if writer.manifest.kind != "run":
        sentence = "The recording ended when its supervisor did, which was not told to."
        outcome = RunOutcome(kind=OutcomeKind.RECORDED, sentence=sentence, started_s=0.0, ended_s=last_seen_s)
        writer.put_document("outcome", outcome)
        writer.close()
        return outcome
    if root_pid is None:
        sentence = "The supervisor ended before it had started the run."
        outcome = RunOutcome(kind=OutcomeKind.NOT_STARTED, sentence=sentence, started_s=0.0, ended_s=last_seen_s)
        _finish(writer, outcome)
        return outcome
    supervisor = Supervisor(writer, None)
    # The present may be of another start of the machine, whose monotonic clock knows nothing of this session's.
    last_seen = writer.manifest.created_monotonic_s + last_seen_s
    supervisor.drain_all(at=last_seen)
    events = supervisor.probe_events()
    ended_s = max(
        [last_seen_s, *(writer.session_time(f["t"]) for _, f in events if isinstance(f.get("t"), (int, float)))]
    )
    writer.add_event(last_seen, "note", {"sentence": _unwatched_sentence(last_seen_s, ended_s)})
    outcome = outcome_of(
        exit_status=None,
        exit_signal=None,
        stopped=False,
        events=events,
        last_output=supervisor.last_output,
        started_s=float(writer.get_meta(STARTED, 0.0)),
        ended_s=ended_s,
        root_pid=root_pid,
    )
    _finish(writer, outcome)
    return outcome


def _unwatched_sentence(last_seen_s: float, ended_s: float) -> str:
    if ended_s - last_seen_s > 1:
        return f"The supervisor ended early: from {last_seen_s:.0f} s to {ended_s:.0f} s there are no samples."
    return f"The supervisor ended early: from {last_seen_s:.0f} s on there are no samples."


def _finish(writer: SessionWriter, outcome: RunOutcome) -> None:
    writer.put_document("outcome", outcome)
    writer.commit()
    if writer.path.exists():  # a session that was moved meanwhile is completed where it is now, but cannot be read
        with contextlib.closing(SessionReader(writer.path)) as reader:
            footprint = compute_footprint(reader)
        writer.put_document("footprint", footprint)
    writer.close()
