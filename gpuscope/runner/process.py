"""The workload: started, watched, stopped, or taken over from a supervisor that died."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from gpuscope.domain.base import Value, from_json, to_json
from gpuscope.errors import RunError
from gpuscope.runner import processes
from gpuscope.runner.command import LaunchPlan
from gpuscope.runner.environment import probe_dir_entry
from gpuscope.runner.processes import ProcessKey
from gpuscope.runner.stopping import Stopper, StopStage
from gpuscope.runner.tree import ProcessTree

OUTPUT_NAME = "output.log"
NOTE_NAME = "workload.json"


class WorkloadNote(Value, frozen=True, kw_only=True):
    """What the run folder says of the workload's root process, so that another supervisor can take it over."""

    pid: int
    create_time: float
    """Of `processes.create_time`."""
    boot_id: str
    argv: tuple[str, ...] = ()
    """Secrets are replaced."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the workload's root process ended; neither is known of one that was attached: its parent was told."""

    status: int | None
    """Exit status; None: it ended by a signal, or it is not known."""
    signal: int | None = None


class Workload:
    """One running workload and everything it started.

    Not thread-safe. Create it by `start` or `attach`.
    """

    def __init__(self, root: ProcessKey, folder: Path | None, process: subprocess.Popen[bytes] | None = None) -> None:
        """Use `start` or `attach`."""
        mark = None if folder is None else _mark(folder)
        self._process = process
        self._ended: Ended | None = None
        self.tree = ProcessTree(root, mark)
        self.stopper = Stopper(self.tree)

    @staticmethod
    def start(plan: LaunchPlan, folder: Path) -> Workload:
        """Start the workload of `plan`.

        Args:
            plan: what to start.
            folder: existing run folder: output is appended to `output.log` in it, the probe writes there.

        Raises:
            RunError: it cannot be started; the text says why.
        """
        try:
            with _open_private(folder / OUTPUT_NAME) as output:
                process = _spawn(plan, folder, output)
        except OSError as error:
            raise RunError(f"{folder} cannot be written: {error.strerror}.") from error
        # The process is ours until it is polled, so its pid cannot have been used again.
        root = ProcessKey(process.pid, processes.create_time(process.pid) or 0.0)
        note = WorkloadNote(
            pid=root.pid, create_time=root.create_time, boot_id=processes.boot_id(), argv=plan.spec.argv
        )
        _write_note(folder, note)
        return Workload(root, folder, process)

    @staticmethod
    def attach(pid: int, create_time: float, folder: Path | None = None) -> Workload:
        """Take over a workload that somebody else started; how it ends cannot be known.

        Args:
            pid: its root process.
            create_time: of `processes.create_time`; guards against a pid that was used again.
            folder: its run folder; lets `stop` find children that left the tree.
        """
        return Workload(ProcessKey(pid, create_time), folder)

    @property
    def pid(self) -> int:
        """Root process of the workload, also the number of its group and session."""
        return self.tree.root.pid

    @property
    def create_time(self) -> float:
        """Creation time of the root process, as `processes.create_time` gives it."""
        return self.tree.root.create_time

    def poll(self) -> Ended | None:
        """None while the root process runs, or a stop is not through with the whole tree; then how it ended.

        Never waits.
        """
        self._look_at_root()
        stopping = self.stopper.requested and self.stopper.stage is not StopStage.DONE
        return None if stopping else self._ended

    @property
    def stop_requested(self) -> bool:
        """True from the first `request_stop` on."""
        return self.stopper.requested

    def request_stop(self, now: float) -> None:
        """Ask politely; then call `advance` until `poll` tells the end. Each further request is more forceful.

        Args:
            now: monotonic seconds.
        """
        self._look_at_root()
        self.stopper.request(now)

    def advance(self, now: float) -> StopStage:
        """Carry a requested stop on; `DONE` once no process of the workload lives. Never waits."""
        self._look_at_root()
        return self.stopper.advance(now)

    def _look_at_root(self) -> None:
        if self._ended is None:
            if self._process is not None:
                self._ended = _ended(self._process.poll())
            elif not processes.is_alive(self.tree.root):
                self._ended = Ended(None)

    def leftovers(self) -> list[str]:
        """What the workload left running, as `name (pid 1234)`.

        On a normal end it is the script's wish and stays; only a stop ends it.
        """
        return [_label(key) for key in self.tree.leftovers()]

    def unstoppable(self) -> list[str]:
        """What even a kill did not end (it waits in the kernel, or belongs to another user), as in `leftovers`."""
        return [_label(key) for key in self.stopper.unstoppable]


def _label(key: ProcessKey) -> str:
    return f"{processes.process_name(key)} (pid {key.pid})"


def _spawn(plan: LaunchPlan, folder: Path, output: IO[bytes]) -> subprocess.Popen[bytes]:
    program = plan.argv[0]
    environment = {**plan.environment, **dict([probe_dir_entry(folder)])}
    try:
        return processes.spawn(plan.argv, cwd=plan.cwd, environment=environment, output=output)
    except PermissionError as error:
        raise RunError(f"{program} cannot be started: this user may not execute it.") from error
    except FileNotFoundError as error:
        raise RunError(
            f"{program} cannot be started: it, the interpreter that its first line names, or the folder {plan.cwd} "
            "is not there."
        ) from error
    except OSError as error:
        raise RunError(f"{program} cannot be started: {error.strerror or error}.") from error
    except ValueError as error:  # a NUL character in an argument or variable
        raise RunError(f"{program} cannot be started: an argument or variable is not valid ({error}).") from error


def _ended(returncode: int | None) -> Ended | None:
    if returncode is None:
        return None
    return Ended(None, signal=-returncode) if returncode < 0 else Ended(returncode)


def _open_private(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")


def _write_note(folder: Path, note: WorkloadNote) -> None:
    """Written aside and moved into place, so that it is whole or not there."""
    aside = folder / (NOTE_NAME + ".new")
    try:
        aside.write_bytes(to_json(note))
        aside.replace(folder / NOTE_NAME)
    except OSError:
        return  # the disk is full: the run goes on, and is found again by its environment


def read_workload_note(folder: Path) -> WorkloadNote | None:
    """The workload whose run folder this is; None when none was started.

    A supervisor that was killed right after the start left no note; a workload that still runs is then found by its
    environment.
    """
    if not folder.is_dir():
        return None
    try:
        return from_json((folder / NOTE_NAME).read_bytes(), WorkloadNote)
    except (OSError, msgspec.MsgspecError):
        return _note_by_mark(folder)


def workload_alive(note: WorkloadNote | None) -> bool:
    """True while the workload's root process runs on this machine, and the machine has not been restarted."""
    if note is None or note.boot_id != processes.boot_id():
        return False
    return processes.is_alive(ProcessKey(note.pid, note.create_time))


def _note_by_mark(folder: Path) -> WorkloadNote | None:
    marked = set(processes.with_environment_entry(_mark(folder))) - processes.own_ancestry()
    born = {pid: seconds for pid in marked if (seconds := processes.create_time(pid)) is not None}
    if not born:
        return None
    oldest = min(born, key=lambda pid: (born[pid], pid))
    return WorkloadNote(pid=oldest, create_time=born[oldest], boot_id=processes.boot_id())


def _mark(folder: Path) -> str:
    return "=".join(probe_dir_entry(folder))
