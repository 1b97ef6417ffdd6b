"""Supervisors that are started by a window and go on without it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from gpuscope.errors import RunError
from gpuscope.runner.processes import spawn_detached
from tests.unit.runner.workloads import wait_for


def test_last_words_of_one_that_refused(tmp_path: Path) -> None:
    text = "import sys\nprint('x' * 10000)\nsys.exit('first\\ngpuscope: There is no script é.')"
    process = spawn_detached([sys.executable, "-c", text], env=dict(os.environ), cwd=tmp_path)
    assert process.wait(20.0) == 1
    assert process.poll() == 1
    assert process.last_words() == "There is no script é."


def test_it_has_a_session_of_its_own_and_nothing_of_ours(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        text = (
            "import os, time\n"
            f"inherited = os.path.exists('/proc/self/fd/{ours.fileno()}') and "
            f"os.readlink('/proc/self/fd/{ours.fileno()}').endswith('/open')\n"
            "open('seen', 'w').write(f'{os.getsid(0) == os.getpid()} {inherited} {os.getcwd()}')\n"
            "os.rename('seen', 'done')\ntime.sleep(300)"
        )
        process = spawn_detached([sys.executable, "-c", text], env=dict(os.environ), cwd=tmp_path)
    try:
        wait_for((tmp_path / "done").exists, "the detached program")
        assert (tmp_path / "done").read_text() == f"True False {tmp_path.resolve()}"
        assert process.wait(0.01) is None
        assert process.last_words() == ""
    finally:
        os.kill(process.pid, signal.SIGKILL)
    assert process.wait(20.0) == -9


def test_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="/no/program cannot be started in the background: No such file or directory"):
        spawn_detached(["/no/program"], env={}, cwd=tmp_path)
