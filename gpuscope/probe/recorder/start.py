"""Start of the recorder in one process: what it says at the start and at the end, and how it waits for a framework.

Runs at the start of every Python process below a run, so it only imports what the interpreter has loaded anyway.
"""

from __future__ import annotations

import atexit
import os
import sys

from .switch import Switch
from .watch import ImportWatcher
from .writer import EventWriter

# The typing module is not loaded at interpreter start: it would bring half the standard library along.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROBE_VERSION = "1"


class Probe:
    """The recorder of one process."""

    def __init__(self, folder: str) -> None:
        self.writer = EventWriter(folder)
        self.switch = Switch(lambda reason: self.writer.write("probe_off", reason=reason))
        self._watcher = ImportWatcher("torch", self.switch.guarded(self._on_torch))
        self._training: Any = None
        self._uncaught = False
        self._start_s: float | None = _now()

    def install(self) -> None:
        """Wait for the framework, for an uncaught exception, for the end, for forks."""
        self._chain_excepthook()
        atexit.register(self.switch.guarded(self._on_exit))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.switch.guarded(self._on_fork))
        self.switch.on_off(self._watcher.remove)
        self._watcher.install()

    def _say_start(self) -> None:
        """Hold the event of this process's start, once, with the time when it happened."""
        if self._start_s is None:
            return
        start_s, self._start_s = self._start_s, None
        self.writer.hold(
            "process_start",
            ppid=os.getppid(),
            python=sys.version.split()[0],
            executable=sys.executable,
            script=_script(),
            rank=_integer("RANK"),
            local_rank=_integer("LOCAL_RANK"),
            world_size=_integer("WORLD_SIZE"),
            probe_version=PROBE_VERSION,
            t=start_s,
        )

    def _on_torch(self, torch: Any) -> None:
        self._say_start()
        from .torch_hooks import install

        self._training = install(torch, self.writer, self.switch, quiet=_is_worker_process())

    def _on_fork(self) -> None:
        self.writer.forget()
        self._uncaught = False
        self._start_s = _now()
        if self._training is not None:
            self._say_start()
            self._training.forget()

    def _chain_excepthook(self) -> None:
        previous = sys.excepthook
        note = self.switch.guarded(self._on_exception)

        def excepthook(kind: Any, error: Any, traceback: Any) -> None:
            note(error)
            previous(kind, error, traceback)

        sys.excepthook = excepthook

    def _on_exception(self, error: BaseException) -> None:
        from .failures import exception_fields, out_of_memory_fields

        self._uncaught = True
        self._say_start()
        counters = self._training.memory_counters() if self._training is not None else {}
        out_of_memory = out_of_memory_fields(error, counters)
        if out_of_memory is not None:
            self.writer.write("out_of_memory", **out_of_memory)
        self.writer.write("exception", **exception_fields(error))

    def _on_exit(self) -> None:
        self._report_unseen_exception()
        if self._training is not None:
            self._training.finish()
        if self.writer.is_open:
            reason = "exception" if self._uncaught else "normal"
            self.writer.write("exit", status=1 if self._uncaught else None, reason=reason)

    def _report_unseen_exception(self) -> None:
        """Catch up where the script put in an excepthook that does not call the one before."""
        error = getattr(sys, "last_value", None)
        interactive = hasattr(sys, "ps1") or sys.flags.interactive
        if error is not None and not self._uncaught and not interactive:
            self._on_exception(error)


def start(folder: str) -> Probe:
    """Start recording this process into `folder`."""
    probe = Probe(folder)
    probe.install()
    return probe


def _now() -> float:
    import time

    return round(time.monotonic(), 6)


def _script() -> str | None:
    arguments = getattr(sys, "argv", None) or [""]
    return arguments[0] or None


def _integer(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else None


def _is_worker_process() -> bool:
    """True in a child of multiprocessing, such as a data-loader worker: it only speaks once it trains or fails."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    # A spawned child imports the parent's script before it knows its parent; it is marked like this meanwhile.
    return process.parent_process() is not None or hasattr(process.current_process(), "_inheriting")
