"""Signals, process groups, /proc and their Windows counterparts: everything here that differs by system.

A process is named by its pid and its creation time together, because pids are used again.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO, Any

import psutil

from gpuscope.errors import RunError


class Push(Enum):
    """How strongly a process is asked to end."""

    INTERRUPT = "interrupt"
    """What Ctrl-C in a terminal does."""
    TERMINATE = "terminate"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class ProcessKey:
    """One process, told from later ones that get the same pid."""

    pid: int
    create_time: float


def create_time(pid: int) -> float | None:
    """When the process was created; None when there is none. Only to be compared with another such value.

    On Linux seconds since boot (a changed clock does not change it), elsewhere Unix time.
    """
    if sys.platform == "linux":
        fields = _stat_fields(pid)
        return None if fields is None else _start_s(fields)
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def is_alive(key: ProcessKey) -> bool:
    """True while this very process runs; one that has ended but was not collected by its parent is not alive."""
    if sys.platform == "linux":
        fields = _stat_fields(key.pid)
        return fields is not None and fields[0] not in "ZX" and _start_s(fields) == key.create_time
    try:
        process = psutil.Process(key.pid)
        return process.status() != psutil.STATUS_ZOMBIE and float(process.create_time()) == key.create_time
    except psutil.Error:
        return False


def _start_s(stat_fields: list[str]) -> float:
    """Field 22 of proc(5): clock ticks since boot."""
    return int(stat_fields[19]) / os.sysconf("SC_CLK_TCK")


def _stat_fields(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the state (field 3 in proc(5)) on; the name before it may hold blanks."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def process_alive(pid: int) -> bool:
    """True while a process with this number runs, whichever it is."""
    born = create_time(pid)
    return born is not None and is_alive(ProcessKey(pid, born))


def process_name(key: ProcessKey) -> str:
    """Name of the program, for a sentence; `?` when it cannot be read."""
    try:
        return str(psutil.Process(key.pid).name())
    except psutil.Error:
        return "?"


def boot_id() -> str:
    """Tells this machine since its last start from every other; empty where the system has no such thing."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class ProcessLink:
    """Where a process hangs: its parent and its session (None where there are no sessions)."""

    pid: int
    parent_pid: int
    session_id: int | None


def all_processes() -> list[ProcessLink]:
    """Every process of the machine that can be seen, in one pass."""
    if sys.platform == "linux":
        links = []
        for pid in psutil.pids():
            fields = _stat_fields(pid)
            if fields is not None:
                links.append(ProcessLink(pid, int(fields[1]), int(fields[3])))
        return links
    return [
        ProcessLink(process.pid, process.info["ppid"] or 0, _session_id(process.pid))
        for process in psutil.process_iter(["ppid"])
    ]


def _session_id(pid: int) -> int | None:
    if sys.platform == "win32":
        return None
    try:
        return os.getsid(pid)
    except OSError:
        return None


def with_environment_entry(entry: str) -> Iterator[int]:
    """Pids of our own processes that were started with this `NAME=value` in their environment (Linux only).

    This finds children that left the session, the group and their parent.
    """
    wanted = entry.encode("utf-8", "surrogateescape")
    for folder in Path("/proc").glob("[0-9]*") if sys.platform == "linux" else ():
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)


def own_ancestry() -> set[int]:
    """This process and those above it: never to be stopped."""
    try:
        return {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    except psutil.Error:
        return {os.getpid()}


def push_process(key: ProcessKey, push: Push) -> None:
    """Ask one process to end; nothing happens when it already has, or is not ours."""
    if not is_alive(key):
        return
    with contextlib.suppress(OSError, psutil.Error):
        if sys.platform == "win32":
            _push_windows(key.pid, push)
        else:
            _push_posix(os.kill, key.pid, push)


def push_group(group_id: int, push: Push) -> None:
    """Ask all members of a process group that `spawn` made; on Windows its leader, which passes the event on."""
    with contextlib.suppress(OSError, psutil.Error):
        if sys.platform == "win32":
            _push_windows(group_id, push)
        else:
            _push_posix(os.killpg, group_id, push)


def _push_posix(send: Callable[[int, int], None], target: int, push: Push) -> None:
    number = {Push.INTERRUPT: signal.SIGINT, Push.TERMINATE: signal.SIGTERM, Push.KILL: signal.SIGKILL}[push]
    send(target, number)
    if push is not Push.KILL:
        send(target, signal.SIGCONT)  # a paused process hears the signal only when it goes on


_CTRL_BREAK: int = getattr(signal, "CTRL_BREAK_EVENT", 0)
"""Windows only; a process without a console of its own is reached by no other event."""


def _push_windows(pid: int, push: Push) -> None:
    if push is Push.INTERRUPT:
        os.kill(pid, _CTRL_BREAK)
    else:
        psutil.Process(pid).kill()


def spawn(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    output: IO[bytes],
    errors: IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program in a session and group of its own: no terminal, no input, output into a file.

    Args:
        argv: program and arguments.
        cwd: folder to run in.
        environment: all of its variables.
        output: gets standard output.
        errors: gets standard error; None: `output` does.

    Raises:
        OSError: the system does not start it.
    """
    with _default_interrupt():
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if errors is None else errors,
            **_own_group(),
        )


class DetachedProcess:
    """A program that goes on when we end; as long as we live we can see what became of it."""

    def __init__(self, process: subprocess.Popen[bytes], errors_fd: int) -> None:
        """Use `spawn_detached`."""
        self._process = process
        self._errors_fd = errors_fd
        self._last_words: str | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def poll(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end, at most so long; None when it still runs."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def last_words(self) -> str:
        """Once it has ended: the last line that it wrote to standard error, without our own prefix, or nothing."""
        if self.poll() is None:  # the place in the file is shared: reading would move where it writes
            return ""
        if self._last_words is None:
            with os.fdopen(self._errors_fd, "rb") as errors:
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - _LAST_WORDS_BYTES))
                lines = errors.read().decode("utf-8", "replace").strip().splitlines()
            self._last_words = lines[-1].removeprefix("gpuscope: ") if lines else ""
        return self._last_words


def spawn_detached(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> DetachedProcess:
    """Start a program that goes on when we end: own session, no input, output dropped.

    What it writes to standard error goes to a file without a name, which is gone when nobody has it open any more.

    Raises:
        RunError: it cannot be started.
    """
    try:
        with Path(os.devnull).open("wb") as nowhere, tempfile.TemporaryFile() as errors:
            process = spawn(argv, cwd=cwd, environment=env, output=nowhere, errors=errors)
            handle = DetachedProcess(process, os.dup(errors.fileno()))
    except OSError as error:
        raise RunError(f"{argv[0]} cannot be started in the background: {error.strerror or error}.") from error
    _DETACHED.append(handle)
    return handle


_LAST_WORDS_BYTES = 4096
_DETACHED: list[DetachedProcess] = []
"""Kept for ever (there are few): a handle that is dropped while its program runs is reported by Python as a leak."""


def _own_group() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


@contextlib.contextmanager
def _default_interrupt() -> Iterator[None]:
    """While a child is started: it must not inherit that we ignore SIGINT (as background jobs of a shell do).

    A Python that starts with SIGINT ignored never sees KeyboardInterrupt. Only the main thread may change handlers.
    """
    previous: Any = None
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            previous = signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:
        previous = None
    try:
        yield
    finally:
        if previous is not None:
            signal.signal(signal.SIGINT, previous)
