"""What the system knows of a process that the driver reports: its name, its user, when it began."""

from __future__ import annotations

import os
import sys
from typing import Any

import psutil

from gpuscope.domain.reasons import Reason

INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""Inode of the machine's own PID namespace (PROC_PID_INIT_INO in Linux' include/linux/proc_ns.h)."""
_FACTS = ("name", "user", "started_wall_s")


class ProcessFacts:
    """Looks a process up once, and again only when its number belongs to another one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[psutil.Process, dict[str, Any]]] = {}

    def of(self, pid: int) -> dict[str, Any]:
        """Each fact, or the reason why it is missing.

        Inside a container the driver's process numbers are the host's: looked up here, they would name strangers.
        """
        if not sees_host_pids():
            return dict.fromkeys(_FACTS, Reason.PID_NAMESPACE)
        process, facts = self._known.get(pid, (None, {}))
        if process is not None and process.is_running():
            return facts
        try:
            process = psutil.Process(pid)
        except psutil.NoSuchProcess:
            self._known.pop(pid, None)
            return dict.fromkeys(_FACTS, Reason.PROCESS_ENDED)
        except psutil.AccessDenied:
            return dict.fromkeys(_FACTS, Reason.NO_PERMISSION)
        facts = {
            "name": _asked(process.name),
            "user": _asked(process.username),
            "started_wall_s": _asked(process.create_time),
        }
        self._known[pid] = (process, facts)
        return facts

    def forget_all_but(self, pids: set[int]) -> None:
        """Drop what is no longer on the device, so that a long session does not grow."""
        self._known = {pid: known for pid, known in self._known.items() if pid in pids}


def sees_host_pids() -> bool:
    """True where the driver's process numbers mean the same as the system's."""
    if sys.platform != "linux":
        return True
    try:
        return os.stat("/proc/self/ns/pid").st_ino == INITIAL_PID_NAMESPACE  # noqa: PTH116 # a magic link, not a path
    except OSError:
        return False


def _asked(ask: Any) -> Any:
    try:
        return ask()
    except psutil.NoSuchProcess:
        return Reason.PROCESS_ENDED
    except (psutil.AccessDenied, KeyError):  # KeyError: a user without an entry in the password file
        return Reason.NO_PERMISSION
