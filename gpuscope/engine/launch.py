"""Start supervisors as processes of their own, and find those that were started before."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from gpuscope import paths
from gpuscope.domain.base import Value
from gpuscope.domain.run import LIVE_VIEW
from gpuscope.engine import registry
from gpuscope.engine.manifest import default_session_name
from gpuscope.engine.registry import SessionSummary
from gpuscope.engine.session import is_orphan
from gpuscope.engine.supervisor import STOP_FILE
from gpuscope.errors import RunError, SessionError
from gpuscope.runner.processes import DetachedProcess, spawn_detached
from gpuscope.store.reader import SessionReader, SessionState
from gpuscope.store.schema import run_folder
from gpuscope.store.writer import delete_session

START_PATIENCE_S = 20.0


class RunRequest(Value, frozen=True, kw_only=True):
    """A run as the person filled it in."""

    target: str
    """script, module or command"""
    args: tuple[str, ...]
    """The script, module or command first, then its arguments."""
    python: str | None = None
    cwd: str | None = None
    env: dict[str, str] = {}
    interval_s: float = 0.1
    total_steps: int | None = None
    profile: bool = True
    output: Path | None = None


class UnfinishedRun(Value, frozen=True, kw_only=True):
    """A run that somebody started earlier and that still goes on."""

    path: Path
    title: str
    started_wall_s: float
    live: bool
    """It has a supervisor; otherwise its supervisor died and it has to be adopted to be followed."""


class MonitorHandle:
    """A monitor-only recording that ends with the process that started it, or when stopped."""

    def __init__(self, path: Path, process: DetachedProcess) -> None:
        """Use `start_monitor`."""
        self.path = path
        self._process = process

    def stop(self) -> None:
        """End the recording and delete its file: it was only a live view."""
        request_stop(self.path)
        self._process.wait(5.0)
        self.path.unlink(missing_ok=True)


def start_run(request: RunRequest) -> Path:
    """Start a run under a supervisor that outlives this process; returns its session once that can be opened.

    Raises:
        RunError: the supervisor refused; the text is its own sentence.
    """
    folder = Path(request.cwd) if request.cwd else Path.cwd()
    path = request.output or default_session_name(paths.sessions_dir(), Path(request.args[0]).stem)
    command = [*paths.app_command(), "run", "-o", str(path), "--interval", str(request.interval_s)]
    if request.python:
        command += ["--python", request.python]
    for name, value in request.env.items():
        command += ["--env", f"{name}={value}"]
    if request.total_steps:
        command += ["--total-steps", str(request.total_steps)]
    if not request.profile:
        command.append("--no-profile")
    command += ["--cwd", str(folder)]
    command += {"module": ["-m"], "command": ["--command", "--"]}.get(request.target, ["--"])
    process = spawn_detached([*command, *request.args], env=paths.app_environment(), cwd=folder)
    return _wait_for_session(path, process)


def start_monitor(interval_s: float = 0.1) -> MonitorHandle:
    """Start the live view of this machine: a recording that ends with this process.

    Raises:
        RunError: the recorder refused; the text is its own sentence.
    """
    path = default_session_name(paths.sessions_dir(), f"live-{os.getpid()}")
    command = [
        *paths.app_command(),
        "record",
        "-o",
        str(path),
        "--interval",
        str(interval_s),
        "--parent",
        str(os.getpid()),
    ]
    process = spawn_detached(command, env=paths.app_environment(), cwd=paths.sessions_dir())
    return MonitorHandle(_wait_for_session(path, process), process)


def request_stop(session: Path) -> None:
    """Ask the supervisor of a session to stop; each further time it is more forceful. Nothing happens without one."""
    with contextlib.suppress(OSError), (run_folder(session) / STOP_FILE).open("a", encoding="utf-8") as file:
        file.write("stop\n")


def adopt_detached(path: Path) -> None:
    """Give an orphaned run a new supervisor.

    Raises:
        RunError: the supervisor refused.
    """
    process = spawn_detached([*paths.app_command(), "_adopt", str(path)], env=paths.app_environment(), cwd=path.parent)
    deadline = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.closing(SessionReader(path)) as reader:
            if reader.state() is not SessionState.INTERRUPTED:
                return
        if process.poll() is not None:
            raise RunError(process.last_words() or f"{path.name} could not be taken over.")
        time.sleep(0.05)
    raise RunError(f"{path.name} could not be taken over in time: try again.")


def unfinished_sessions() -> list[UnfinishedRun]:
    """Runs that still go on, newest first; those that only need closing are left to `open_session`."""
    found = []
    for summary in registry.sessions(("run",)):
        live = summary.state is SessionState.LIVE
        if live or (summary.state is SessionState.INTERRUPTED and is_orphan(summary.path)):
            run = UnfinishedRun(
                path=summary.path, title=summary.title, started_wall_s=summary.created_wall_s, live=live
            )
            found.append(run)
    return found


def recent_sessions(limit: int = 20) -> list[SessionSummary]:
    """Sessions that this user made lately, newest first; a window's own live views are not among them."""
    return registry.sessions(limit=limit)


def clean_live_views() -> None:
    """Delete live views whose window is gone."""
    for summary in registry.sessions((LIVE_VIEW,)):
        if summary.state is not SessionState.LIVE:
            delete_session(summary.path)


def _wait_for_session(path: Path, process: DetachedProcess) -> Path:
    deadline = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(SessionError), SessionReader(path):
            return path
        if process.poll() is not None:
            raise RunError(process.last_words() or "The run could not be started.")
        time.sleep(0.03)
    raise RunError("The supervisor did not start in time: try again, or run `gpuscope doctor`.")
