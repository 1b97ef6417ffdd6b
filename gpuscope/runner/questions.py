"""Start a program for a moment to ask it something."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuscope.runner.processes import Push, push_group, spawn

_ANSWER_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """What a short-lived program said."""

    status: int
    output: bytes
    errors: bytes


def ask_program(argv: Sequence[str], *, environment: Mapping[str, str], timeout_s: float, cwd: Path) -> Reply | None:
    """Run a program that should end soon; None when it cannot be started or does not end in time (then it is killed).

    Its output goes to files: a pipe that a forgotten child of it holds open would be waited for without end.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = spawn(argv, cwd=cwd, environment=environment, output=output, errors=errors)
        except (OSError, ValueError):
            return None
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            push_group(process.pid, Push.KILL)
            process.wait()
            return None
        output.seek(0)
        errors.seek(0)
        return Reply(status, output.read(_ANSWER_BYTES), errors.read(_ANSWER_BYTES))
