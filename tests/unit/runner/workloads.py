"""Small workloads for the tests, and how they are started and ended."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from gpuscope.domain.run import RunSpec
from gpuscope.runner.command import LaunchPlan
from gpuscope.runner.environment import outside_environment
from gpuscope.runner.process import Ended, Workload

PATIENCE_S = 20.0
STARTED: list[Workload] = []


def plan(*argv: str, cwd: Path) -> LaunchPlan:
    """A plan for a command as it is, without looking for an interpreter."""
    spec = RunSpec(argv=argv, cwd=str(cwd), target="command", display=" ".join(argv))
    return LaunchPlan(argv, cwd, outside_environment(), spec)


def python(text: str, folder: Path) -> Workload:
    """Start this text in the interpreter of the tests; `folder` becomes the run folder."""
    folder.mkdir(exist_ok=True)
    script = folder / "script é.py"
    script.write_text(text, encoding="utf-8")
    return start(plan(sys.executable, str(script), cwd=folder), folder)


def start(launch: LaunchPlan, folder: Path) -> Workload:
    """Start it; a test that fails half-way leaves it to `end_all`."""
    workload = Workload.start(launch, folder)
    STARTED.append(workload)
    return workload


def end_all() -> None:
    """Kill what the tests have started and not ended."""
    while STARTED:
        stop_at_once(STARTED.pop())


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition is true; fails after `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def wait_for_output(folder: Path, text: str) -> None:
    """Wait until the workload has printed `text`."""
    wait_for(lambda: text.encode() in (folder / "output.log").read_bytes(), f"{text!r} in the output")


def wait_for_end(workload: Workload) -> Ended:
    """Wait for the end as a supervisor does: poll, advance."""
    wait_for(lambda: workload.poll() or not workload.advance(time.monotonic()), "the end")
    ended = workload.poll()
    assert ended is not None
    return ended


def stop_at_once(workload: Workload) -> Ended:
    """Stop with all force."""
    for _ in range(3):
        workload.request_stop(time.monotonic())
    return wait_for_end(workload)
