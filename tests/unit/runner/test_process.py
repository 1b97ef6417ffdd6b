"""Real workloads: started, drained, stopped with everything they started, taken over."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from gpuscope.domain.base import to_json
from gpuscope.errors import RunError
from gpuscope.runner import processes, stopping
from gpuscope.runner.process import Ended, Workload, WorkloadNote, read_workload_note, workload_alive
from gpuscope.runner.processes import ProcessKey
from gpuscope.runner.stopping import StopStage
from gpuscope.runner.tail import READ_LIMIT_BYTES, FileTail
from tests.unit.runner.workloads import plan, python, start, stop_at_once, wait_for, wait_for_end, wait_for_output

STRAY = """
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
if os.fork() == 0:                       # a daemon: no parent, no session, no group of ours
    os.setsid()
    if os.fork() == 0:
        print("daemon", os.getpid(), flush=True)
        time.sleep(300)
    os._exit(0)
os.wait()
print("ready", flush=True)
"""
SAVES = """
import time
try:
    print("on", flush=True)
    time.sleep(300)
except KeyboardInterrupt:
    print("saved")
"""
DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("on", flush=True)
time.sleep(300)
"""


@pytest.fixture
def short_graces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stopping._GRACE_S, StopStage.INTERRUPT, 0.5)
    monkeypatch.setitem(stopping._GRACE_S, StopStage.TERMINATE, 0.5)
    monkeypatch.setattr(stopping, "LEFTOVER_GRACE_S", 0.3)


def output(folder: Path) -> str:
    return (folder / "output.log").read_text(encoding="utf-8")


def daemon_pid(folder: Path) -> int:
    return int(next(line.split()[1] for line in output(folder).splitlines() if line.startswith("daemon")))


def test_exit_status_and_output_of_both_streams(tmp_path: Path) -> None:
    text = "import sys\nprint('out é', sys.stdin.read() == '', __name__)\nprint('err', file=sys.stderr)\nsys.exit(7)\n"
    workload = python(text, tmp_path)
    assert wait_for_end(workload) == Ended(7)
    assert sorted(output(tmp_path).splitlines()) == ["err", "out é True __main__"]
    assert stat.S_IMODE((tmp_path / "output.log").stat().st_mode) == 0o600


def test_it_leads_a_session_of_its_own(tmp_path: Path) -> None:
    workload = python("import os\nprint(os.getsid(0), os.getpgid(0), os.getpid())", tmp_path)
    wait_for_end(workload)
    assert output(tmp_path).split() == [str(workload.pid)] * 3


def test_end_by_a_signal(tmp_path: Path) -> None:
    workload = python("import os\nos.kill(os.getpid(), 9)", tmp_path)
    assert wait_for_end(workload) == Ended(None, signal=9)


def test_script_may_close_its_output(tmp_path: Path) -> None:
    workload = python("import os\nprint('before', flush=True)\nos.close(1)\nos.close(2)\nos._exit(3)", tmp_path)
    assert wait_for_end(workload) == Ended(3)
    assert output(tmp_path) == "before\n"


def test_flood_is_drained_in_bounded_pieces(tmp_path: Path) -> None:
    workload = python("import sys\nfor _ in range(80):\n    sys.stdout.write('x' * 65535 + '\\n')", tmp_path)
    tail, total, largest = FileTail(tmp_path / "output.log"), 0, 0
    while (ended := workload.poll()) is None or tail.offset < (tmp_path / "output.log").stat().st_size:
        piece = tail.read()
        total, largest = total + len(piece), max(largest, len(piece))
    assert ended == Ended(0)
    assert total == 80 * 65536
    assert largest <= READ_LIMIT_BYTES


def test_polite_stop_lets_the_script_save(tmp_path: Path) -> None:
    workload = python(SAVES, tmp_path)
    wait_for_output(tmp_path, "on")
    workload.request_stop(time.monotonic())
    assert workload.poll() is None
    assert wait_for_end(workload) == Ended(0)
    assert output(tmp_path) == "on\nsaved\n"
    assert workload.stopper.last_push is StopStage.INTERRUPT
    assert workload.stop_requested


@pytest.mark.usefixtures("short_graces")
def test_ignored_interrupts_escalate(tmp_path: Path) -> None:
    workload = python(DEAF, tmp_path)
    wait_for_output(tmp_path, "on")
    workload.request_stop(time.monotonic())
    assert wait_for_end(workload) == Ended(None, signal=9)
    assert workload.stopper.last_push is StopStage.KILL


def test_paused_script_is_stopped(tmp_path: Path) -> None:
    workload = python("import time\nprint('on', flush=True)\ntime.sleep(300)", tmp_path)
    wait_for_output(tmp_path, "on")
    os.kill(workload.pid, signal.SIGSTOP)
    workload.request_stop(time.monotonic())
    wait_for_end(workload)
    assert workload.stopper.last_push is StopStage.INTERRUPT


def test_stop_while_starting(tmp_path: Path) -> None:
    workload = python("import time\ntime.sleep(300)", tmp_path)
    workload.request_stop(time.monotonic())
    ended = wait_for_end(workload)
    assert ended != Ended(0)
    assert workload.stopper.last_push is StopStage.INTERRUPT


@pytest.mark.usefixtures("short_graces")
def test_stop_takes_children_that_left(tmp_path: Path) -> None:
    workload = python(STRAY + "time.sleep(300)", tmp_path)
    wait_for_output(tmp_path, "ready")
    wait_for_output(tmp_path, "daemon")
    assert len(workload.leftovers()) == 2
    workload.request_stop(time.monotonic())
    wait_for_end(workload)
    assert not psutil.pid_exists(daemon_pid(tmp_path)) or not processes.process_alive(daemon_pid(tmp_path))
    assert workload.leftovers() == []
    assert workload.unstoppable() == []


def test_normal_end_leaves_what_the_script_left(tmp_path: Path) -> None:
    workload = python(STRAY, tmp_path)
    assert wait_for_end(workload) == Ended(0)
    wait_for_output(tmp_path, "daemon")  # it may say so after its parent has ended
    left = workload.leftovers()
    assert any(f"(pid {daemon_pid(tmp_path)})" in label for label in left)
    assert len(left) == 2
    stop_at_once(workload)
    assert workload.leftovers() == []


@pytest.mark.usefixtures("short_graces")
def test_shell_and_its_background_jobs(tmp_path: Path) -> None:
    line = "sleep 300 & trap '' INT; echo on; sleep 300; sleep 300"
    workload = start(plan("/bin/sh", "-c", line, cwd=tmp_path), tmp_path)
    wait_for_output(tmp_path, "on")
    workload.request_stop(time.monotonic())
    wait_for_end(workload)
    assert workload.leftovers() == []


def test_interrupt_reaches_scripts_though_we_ignore_it(tmp_path: Path) -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        workload = python("import signal\nprint(signal.getsignal(2).__name__)", tmp_path)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)
    wait_for_end(workload)
    assert output(tmp_path) == "default_int_handler\n"


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (b"\x00\x01\x02", 0o755, "cannot be started: Exec format error"),
        (b"#!/no/such/interpreter\n", 0o755, "the interpreter that its first line names"),
        (b"#!/bin/sh\n", 0o644, "may not execute it"),
    ],
)
def test_program_that_cannot_be_executed(tmp_path: Path, content: bytes, mode: int, message: str) -> None:
    program = tmp_path / "my program"
    program.write_bytes(content)
    program.chmod(mode)
    with pytest.raises(RunError, match=message):
        Workload.start(plan(str(program), cwd=tmp_path), tmp_path)
    assert read_workload_note(tmp_path) is None


def test_run_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be written"):
        Workload.start(plan("/bin/true", cwd=tmp_path), tmp_path / "gone")


def test_argument_that_no_program_can_get(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not valid"):
        Workload.start(plan("/bin/true", "a\0b", cwd=tmp_path), tmp_path)


def test_taking_over(tmp_path: Path) -> None:
    started = python(SAVES, tmp_path)
    wait_for_output(tmp_path, "on")
    note = read_workload_note(tmp_path)
    assert note is not None
    assert workload_alive(note)
    assert (note.pid, note.argv) == (started.pid, (sys.executable, str(tmp_path / "script é.py")))
    adopted = Workload.attach(note.pid, note.create_time, tmp_path)
    assert adopted.poll() is None
    adopted.request_stop(time.monotonic())
    assert wait_for_end(adopted) == Ended(None)
    assert wait_for_end(started) == Ended(0)
    assert not workload_alive(note)
    assert output(tmp_path) == "on\nsaved\n"


def test_taking_over_without_a_note(tmp_path: Path) -> None:
    workload = python(SAVES, tmp_path)
    wait_for_output(tmp_path, "on")
    written = read_workload_note(tmp_path)
    (tmp_path / "workload.json").write_text('{"pid": 1')
    found = read_workload_note(tmp_path)
    assert written is not None
    assert found is not None
    assert (found.pid, found.create_time) == (written.pid, written.create_time)
    stop_at_once(workload)
    assert read_workload_note(tmp_path) is None


def test_a_number_that_was_used_again_is_not_the_workload(tmp_path: Path) -> None:
    bystander = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True)
    try:
        born = processes.create_time(bystander.pid)
        assert born is not None
        workload = Workload.attach(bystander.pid, born - 5.0, tmp_path)
        assert workload.poll() == Ended(None)
        stop_at_once(workload)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_note_of_another_boot_is_not_alive(tmp_path: Path) -> None:
    born = processes.create_time(os.getpid())
    assert born is not None
    here = WorkloadNote(pid=os.getpid(), create_time=born, boot_id=processes.boot_id())
    (tmp_path / "workload.json").write_bytes(to_json(here))
    assert workload_alive(read_workload_note(tmp_path))
    (tmp_path / "workload.json").write_bytes(to_json(WorkloadNote(pid=here.pid, create_time=born, boot_id="x")))
    assert not workload_alive(read_workload_note(tmp_path))
    assert not workload_alive(None)


def test_we_and_those_above_us_are_never_members(tmp_path: Path) -> None:
    born = processes.create_time(os.getpid())
    assert born is not None
    workload = python("import time\ntime.sleep(300)", tmp_path)
    workload.tree._members[os.getppid()] = ProcessKey(os.getppid(), -1.0)
    members = {key.pid for key in workload.tree.look()}
    assert os.getpid() not in members
    assert os.getppid() not in members
    stop_at_once(workload)


def test_zombie_is_not_alive() -> None:
    child = subprocess.Popen(["/bin/true"])
    born = processes.create_time(child.pid)
    assert born is not None
    wait_for(lambda: not processes.is_alive(ProcessKey(child.pid, born)), "the end of the child")
    assert psutil.pid_exists(child.pid)
    child.wait()
    assert not processes.process_alive(child.pid)
