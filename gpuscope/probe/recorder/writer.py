"""Writes events as JSON lines, one file a process, one system call a line."""

# ruff: noqa: PTH100, PTH118  # pathlib at interpreter start could hide a module of the script's own

from __future__ import annotations

import _thread
import os
import time

# The typing module is not loaded at interpreter start: it would bring half the standard library along.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class EventWriter:
    """Appends events to `FOLDER/probe-PID.jsonl`, which is only made once there is something to say.

    `hold` keeps an event back until the first `write`, so that helper processes of a script (compilers, package
    managers, data-loader workers) leave no file. A file that cannot be written silences the writer.
    """

    def __init__(self, folder: str) -> None:
        self._folder = os.path.abspath(folder)
        self.forget()

    def forget(self) -> None:
        """Start afresh: what a forked child does, whose file is another one."""
        self._lock = _thread.RLock()
        self._held: list[bytes] = []
        self._descriptor: int | None = None
        self._identity: tuple[int, int] | None = None
        self.broken = False

    @property
    def is_open(self) -> bool:
        """True once this process has written something."""
        return self._descriptor is not None

    def hold(self, kind: str, **fields: Any) -> None:
        """Write this event in front of the first one that is worth a file."""
        line = encode(kind, fields)
        with self._lock:
            if self._descriptor is None:
                self._held.append(line)
            else:
                self._put(line)

    def write(self, kind: str, **fields: Any) -> None:
        """Write an event now."""
        self.write_line(encode(kind, fields))

    def write_line(self, line: bytes) -> None:
        """Write one or several encoded lines now."""
        if self.broken:
            return
        with self._lock:
            try:
                if self._descriptor is None:
                    self._open()
                self._put(line)
            except OSError:  # disk full, folder gone, no permission: the script matters more
                self.broken = True

    def _open(self) -> None:
        path = os.path.join(self._folder, "probe-%d.jsonl" % os.getpid())
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(path, flags, 0o600)
        status = os.fstat(descriptor)
        self._descriptor, self._identity = descriptor, (status.st_dev, status.st_ino)
        held, self._held = self._held, []
        for line in held:
            self._put(line)

    def _put(self, line: bytes) -> None:
        descriptor = self._descriptor
        if descriptor is None:
            return
        # A script may close every descriptor and open files of its own under the same numbers: never write into those.
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != self._identity:
            self.broken = True
            return
        os.write(descriptor, line)


def encode(kind: str, fields: dict[str, Any]) -> bytes:
    """One event as a line; `t` is the system's monotonic clock unless the fields bring their own."""
    # Imported late: at interpreter start it could hide a module of the script's own that is called the same.
    import json

    event = {"kind": kind, "t": round(time.monotonic(), 6), "pid": os.getpid()}
    event.update(fields)
    return (json.dumps(event, default=str, separators=(",", ":")) + "\n").encode("utf-8", "backslashreplace")
