"""Small jobs, and gpuscope as a process of its own, for tests that start, kill and look."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

COUNTING = """
import sys, time
print("begin", flush=True)
for number in range(int(sys.argv[1])):
    print("line", number, flush=True)
    time.sleep(0.02)
print("end", flush=True)
"""


def environment(state: Path, extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a gpuscope with a memory of its own."""
    return {
        **os.environ,
        "GPUSCOPE_STATE_DIR": str(state / "state"),
        "GPUSCOPE_SESSIONS_DIR": str(state / "sessions"),
        "QT_QPA_PLATFORM": "offscreen",
        **(extra or {}),
    }


def gpuscope(*arguments: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a gpuscope command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "gpuscope", *map(str, arguments)],
        cwd=cwd,
        env=env or environment(cwd),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def start(*arguments: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a gpuscope command in a session of its own, as a terminal or a window would."""
    return subprocess.Popen(
        [sys.executable, "-m", "gpuscope", *map(str, arguments)],
        cwd=cwd,
        env=env or environment(cwd),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_for(look: Callable[[], T | None], timeout_s: float = 30.0) -> T:
    """What `look` gives as soon as that is true; fails after the time."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"nothing came of {look} within {timeout_s} s")
