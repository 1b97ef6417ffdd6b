"""How a process ends, and what the probe says of it: exceptions, memory that ran out, exits, children."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuscope.domain.steps import steps_of
from gpuscope.probe.recorder.failures import out_of_memory_fields

from .conftest import Runner, probed_environment, read_events, to_events

TORCH_LOOP = (
    "import torch\n"
    "p = torch.nn.Parameter(torch.ones(4))\n"
    "o = torch.optim.SGD([p], lr=0.1)\n"
    "def step():\n    p.sum().backward(); o.step(); o.zero_grad()\n"
)


def test_uncaught_exception(run_probed: Runner) -> None:
    outcome = run_probed("def inner():\n    raise ValueError('wrong shape')\ninner()\n")
    event = outcome.last("exception")
    assert outcome.status == 1
    assert (event["type"], event["message"], event["line"]) == ("ValueError", "wrong shape", 2)
    assert event["file"].endswith("script.py")
    assert event["traceback"][-1] == "ValueError: wrong shape"
    assert outcome.errors.splitlines() == event["traceback"]  # the person sees what Python prints, nothing else
    assert (outcome.last("exit")["status"], outcome.last("exit")["reason"]) == (1, "exception")


def test_exception_where_the_script_has_its_own_hook(run_probed: Runner) -> None:
    outcome = run_probed("import sys\nsys.excepthook = lambda *a: print('mine')\nraise OSError('gone')\n")
    assert outcome.output == "mine\n"
    assert outcome.last("exception")["message"] == "gone"


def test_hook_that_was_there_before_is_called(run_probed: Runner, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    hook = "import sys\nsys.excepthook = lambda *a: sys.stderr.write('first hook\\n')\n"
    (tmp_path / "own" / "sitecustomize.py").write_text(hook)
    outcome = run_probed("raise OSError('gone')\n", PYTHONPATH=str(tmp_path / "own"))
    assert outcome.errors == "first hook\n"
    assert outcome.last("exception")["message"] == "gone"


@pytest.mark.parametrize("ending", ["raise SystemExit(3)", "import sys; sys.exit(3)", "import os; os._exit(3)"])
def test_exit_status_is_the_scripts(run_probed: Runner, ending: str) -> None:
    outcome = run_probed(TORCH_LOOP + "step()\nstep()\n" + ending)
    assert (outcome.status, outcome.errors) == (3, "")
    assert len(steps_of(outcome.domain_events)) == 2
    ends = outcome.all("exit")
    assert [end["status"] for end in ends] == ([] if "_exit" in ending else [None])
    assert not outcome.all("exception")


def test_memory_that_ran_out_is_told_apart(run_probed: Runner) -> None:
    outcome = run_probed(
        "import torch\nraise torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 20.00 MiB')"
    )
    assert outcome.status == 1
    event = outcome.last("out_of_memory")
    assert event["message"] == "CUDA out of memory. Tried to allocate 20.00 MiB"
    assert event["allocated_bytes"] is None  # no device here: unknown, not 0
    assert outcome.last("exception")["type"].endswith("OutOfMemoryError")


def _raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "device"),
    [
        (RuntimeError("CUDA error: out of memory"), "cuda"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
            "cpu",
        ),
        (MemoryError(), "cpu"),
        (_raised(Exception("rank 0 failed"), RuntimeError("HIP out of memory.")), "cuda"),
        (Exception("-- Process 1 terminated with the following error: ... CUDA out of memory."), "cuda"),
        (ValueError("ran out of memory cards"), None),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), None),
    ],
)
def test_errors_that_mean_that_memory_ran_out(error: BaseException, device: str | None) -> None:
    fields = out_of_memory_fields(error, {"device": "cuda:1", "allocated_bytes": 5, "reserved_bytes": 7})
    if device is None:
        assert fields is None
    else:
        assert fields is not None
        expected = ("cuda:1", 5, 7) if device == "cuda" else ("cpu", None, None)
        assert (fields["device"], fields["allocated_bytes"], fields["reserved_bytes"]) == expected


def test_interrupt(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(TORCH_LOOP + "step()\nprint('ready', flush=True)\nimport time\ntime.sleep(60)\n")
    (tmp_path / "events").mkdir()
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=probed_environment(tmp_path / "events"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        process.wait(30)
    events = read_events(tmp_path / "events")[process.pid]
    assert [event["type"] for event in events if event["kind"] == "exception"] == ["KeyboardInterrupt"]
    assert events[-1]["kind"] == "exit"


def test_killed_in_the_middle_leaves_whole_lines_and_all_steps(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        TORCH_LOOP + "import time\nfor i in range(10**6):\n    step(); time.sleep(0.03); print(flush=True)\n"
    )
    (tmp_path / "events").mkdir()
    with subprocess.Popen(
        [sys.executable, str(script)], env=probed_environment(tmp_path / "events"), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        for _ in range(12):
            process.stdout.readline()
        process.kill()
    rows = read_events(tmp_path / "events")[process.pid]
    assert len(steps_of(to_events(rows))) in (12, 13)


def test_helper_processes_that_use_no_framework_leave_no_file(run_probed: Runner) -> None:
    source = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import json; print(1)'], check=True)\n"
    outcome = run_probed(source)
    assert (outcome.output, outcome.events_by_pid) == ("1\n", {})


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_of_multiprocessing_that_train_write_their_own_file(run_probed: Runner, method: str) -> None:
    source = (
        "import multiprocessing, os\n" + TORCH_LOOP + "def work(n):\n    torch.set_num_threads(1)\n"
        "    for _ in range(n):\n        step()\n"
        "if __name__ == '__main__':\n"
        "    step()\n"
        f"    context = multiprocessing.get_context('{method}')\n"
        "    children = [context.Process(target=work, args=(n,)) for n in (0, 150)]\n"
        "    [c.start() for c in children]; [c.join() for c in children]\n"
        "    print(os.getpid(), children[0].pid, children[1].pid, [c.exitcode for c in children])\n"
    )
    outcome = run_probed(source)
    parent, idle, busy, codes = outcome.output.split(maxsplit=3)
    assert codes.strip() == "[0, 0]"
    assert int(idle) not in outcome.events_by_pid
    steps = {pid: len(steps_of(to_events(rows))) for pid, rows in outcome.events_by_pid.items()}
    # 150 very short steps are written several at a time, the last ones when the process ends.
    assert steps == {int(parent): 1, int(busy): 150}
    child = outcome.events_by_pid[int(busy)]
    assert [event["kind"] for event in child[:2]] == ["process_start", "framework"]
    assert child[0]["ppid"] == int(parent)
    assert all(event["pid"] == int(busy) for event in child)


def test_ranks_are_told(run_probed: Runner) -> None:
    outcome = run_probed("raise KeyError(1)", RANK="3", LOCAL_RANK="1", WORLD_SIZE="8")
    start = outcome.last("process_start")
    assert (start["rank"], start["local_rank"], start["world_size"]) == (3, 1, 8)
    assert start["script"].endswith("script.py")
    assert start["executable"] == sys.executable


def test_script_that_closes_all_descriptors_keeps_its_own_files_clean(run_probed: Runner, tmp_path: Path) -> None:
    source = (
        TORCH_LOOP + "step()\nimport os\nos.closerange(3, 200)\n"
        "files = [open(f'own{i}.txt', 'w') for i in range(8)]\n"
        "for _ in range(3):\n    step()\n"
        "[f.close() for f in files]\n"
    )
    outcome = run_probed(source)
    assert outcome.status == 0
    assert [path.read_text() for path in sorted(tmp_path.glob("own*.txt"))] == [""] * 8


def test_times_are_the_systems_monotonic_clock(run_probed: Runner) -> None:
    before = time.monotonic()
    outcome = run_probed("raise KeyError(1)")
    assert before <= outcome.last("process_start")["t"] <= outcome.last("exit")["t"] <= time.monotonic()


def test_events_are_private_to_the_user(run_probed: Runner, tmp_path: Path) -> None:
    run_probed("raise KeyError(1)")
    (file,) = (tmp_path / "events").iterdir()
    assert file.stat().st_mode & 0o077 == 0
