"""What a person can get wrong: one clear sentence, a status that is not zero, no traceback of ours, nothing lost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.store.reader import SessionReader
from tests.builders import build_session
from tests.integration.jobs import environment, gpuscope, wait_for
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import NvmlError, Scenario


def refused(done: subprocess.CompletedProcess[str], *words: str, status: int = 2) -> None:
    """One sentence of ours, and no traceback."""
    assert done.returncode == status, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("gpuscope:")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in lines[0], lines[0]
    assert lines[0].endswith((".", ")"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "-o", "a.gpuscope", "--", "nope.py"], ["nope.py"]),
        (["run", "-o", "a.gpuscope", "--", "no-such-command-here"], ["no-such-command-here"]),
        (["run", "-o", "a.gpuscope", "-m", "no_such_module_here"], ["no_such_module_here"]),
        (["run", "-o", "a.gpuscope", "--python", "/no/python", "--", "job.py"], ["/no/python"]),
        (["run", "-o", "a.gpuscope", "--python", "/bin/cat", "--", "job.py"], ["/bin/cat"]),
        (["run", "-o", "a.gpuscope", "--cwd", "/no/folder", "--", "job.py"], ["/no/folder"]),
        (["run", "-o", "a.gpuscope", "--env", "NOVALUE", "--", "job.py"], ["NOVALUE"]),
        (["run", "-o", "a.gpuscope", "--total-steps", "-5", "--", "job.py"], ["--total-steps", "above 0"]),
        (["run", "-o", "a.gpuscope"], ["what to run"]),
        (["run", "--frobnicate", "--", "job.py"], ["--frobnicate", "gpuscope run --help"]),
        (["record", "--interval", "-1", "-o", "a.gpuscope"], ["--interval"]),
        (["record", "--seconds", "nan", "-o", "a.gpuscope"], ["--seconds"]),
        (["record", "--pid", "999999999", "-o", "a.gpuscope"], ["999999999"]),
        (["frobnicate"], ["frobnicate"]),
        (["advise"], ["--footprint"]),
        (["advise", "--footprint", "job.py"], ["job.py"]),
        (["advise", "--footprint", "none.json"], ["none.json"]),
        (["advise", "a.gpuscope", "--counts", "x"], ["--counts", "like 1,2,4"]),
        (["estimate", "--params", "many"], ["many", "7B"]),
        (["estimate", "--params", "7B", "--dtype", "fp99"], ["fp99", "fp16"]),
        (["estimate", "--params", "7B", "--stage", "training", "--optimizer", "magic"], ["magic", "adamw"]),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    (tmp_path / "job.py").write_text("print('hello')")
    refused(gpuscope(*arguments, cwd=tmp_path), *words)
    assert not (tmp_path / "a.gpuscope").exists()


@pytest.mark.parametrize("command", ["footprint", "advise", "open"])
def test_files_that_are_no_sessions(tmp_path: Path, command: str) -> None:
    (tmp_path / "x.gpuscope").write_bytes(b"hello")
    refused(gpuscope(command, "x.gpuscope", cwd=tmp_path), "x.gpuscope", "not a gpuscope session", status=2)
    refused(gpuscope(command, "none.gpuscope", cwd=tmp_path), "none.gpuscope", status=2)


def test_a_report_of_an_unknown_kind_or_place(tmp_path: Path) -> None:
    build_session(tmp_path / "a.gpuscope")
    refused(gpuscope("report", "a.gpuscope", "-o", "a.doc", cwd=tmp_path), ".pdf", status=2)
    refused(gpuscope("report", "a.gpuscope", "-o", "no/a.pdf", cwd=tmp_path), "no", status=1)


def test_an_existing_session_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("print('hello')")
    build_session(tmp_path / "a.gpuscope")
    before = (tmp_path / "a.gpuscope").read_bytes()
    done = gpuscope("run", "-o", "a.gpuscope", "--", "job.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "exists already" in done.stderr
    assert (tmp_path / "a.gpuscope").read_bytes() == before


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder that refuses even root")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("print('hello')")
    done = gpuscope("run", "-o", "/proc/self/a.gpuscope", "--", "job.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hello" not in done.stdout, "nothing is started when nothing can be recorded"


def outcome_in(path: Path) -> RunOutcome:
    with SessionReader(path) as reader:
        outcome = reader.document("outcome", RunOutcome)
    assert outcome is not None
    return outcome


def test_a_script_that_fails_keeps_its_status_and_its_words(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import no_such_library_at_all")
    done = gpuscope("run", "-o", "a.gpuscope", "--", "job.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stdout
    assert "gpuscope" not in done.stdout, "the traceback is the script's own"
    assert "nothing to advise on; next: gpuscope footprint a.gpuscope" in done.stderr
    outcome = outcome_in(tmp_path / "a.gpuscope")
    assert outcome.kind is OutcomeKind.FAILED
    assert any("no_such_library_at_all" in line for line in outcome.last_output)


@pytest.mark.parametrize("status", [0, 3, 42])
def test_the_scripts_own_status(tmp_path: Path, status: int) -> None:
    (tmp_path / "job.py").write_text(f"import sys; sys.exit({status})")
    assert gpuscope("run", "-o", "a.gpuscope", "--", "job.py", cwd=tmp_path).returncode == status
    assert outcome_in(tmp_path / "a.gpuscope").exit_status == status


def test_an_interpreter_without_the_torch_that_the_script_imports(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    (tmp_path / "job.py").write_text("import torch")
    python = tmp_path / "bare" / "bin" / "python"
    done = gpuscope("run", "-o", "a.gpuscope", "--python", python, "--", "job.py", cwd=tmp_path)
    refused(done, "torch", "job.py", status=1)
    assert not (tmp_path / "a.gpuscope").exists()


def test_secrets_do_not_reach_the_session(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import os, sys; assert os.environ['MY_TOKEN'] == 'hunter2xyz'; sys.argv[1:]")
    arguments = ["--env", "MY_TOKEN=hunter2xyz", "--", "job.py", "--api-key", "swordfish99", "--tokenizer", "bert"]
    done = gpuscope("run", "-o", "a.gpuscope", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    content = (tmp_path / "a.gpuscope").read_bytes()
    assert b"hunter2xyz" not in content
    assert b"swordfish99" not in content
    assert b"bert" in content


def test_a_cut_session_and_one_without_its_wal_open(tmp_path: Path) -> None:
    build_session(tmp_path / "a.gpuscope")
    whole = (tmp_path / "a.gpuscope").read_bytes()
    (tmp_path / "cut.gpuscope").write_bytes(whole[: len(whole) * 2 // 3])
    build_session(tmp_path / "open.gpuscope", close=False)
    (tmp_path / "nowal.gpuscope").write_bytes((tmp_path / "open.gpuscope").read_bytes())
    for name, word in (("cut.gpuscope", "cut off"), ("nowal.gpuscope", "-wal")):
        for command in (["footprint", name], ["footprint", name, "--json"], ["report", name, "-o", f"{name}.pdf"]):
            done = gpuscope(*command, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert word in done.stderr
            assert "Traceback" not in done.stderr


def test_output_that_nobody_reads_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m gpuscope estimate --params 7B --json | true",
        shell=True,
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""


@pytest.mark.parametrize("ending", ["", " --json"])
def test_output_to_a_full_disk_is_a_sentence(tmp_path: Path, ending: str) -> None:
    done = in_shell(f"estimate --params 7B{ending} > /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (1, "gpuscope: The output cannot be written: No space left on device.\n")


def test_closed_streams_and_old_code_pages_are_no_error(tmp_path: Path) -> None:
    build_session(tmp_path / "a.gpuscope")
    for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
        done = in_shell(f"run -o b.gpuscope --json -- sh -c 'echo hello; exit 3' {closed}", tmp_path)
        assert done.returncode == 3, closed
        assert "Traceback" not in done.stderr
        with SessionReader(tmp_path / "b.gpuscope") as reader:
            assert [piece for _, _, piece in reader.output()] == [b"hello\n"]
        (tmp_path / "b.gpuscope").unlink()
        assert in_shell(f"advise a.gpuscope {closed}", tmp_path).returncode == 0, closed
    for page in ("ascii", "latin-1"):
        text = in_shell("advise a.gpuscope", tmp_path, PYTHONIOENCODING=page)
        assert (text.returncode, text.stderr) == (0, "")
        document = in_shell("advise a.gpuscope --json", tmp_path, PYTHONIOENCODING=page)
        assert document.stdout == in_shell("advise a.gpuscope --json", tmp_path).stdout, "JSON is UTF-8"


@pytest.mark.parametrize("command", ["run -- echo hi", "record --seconds 1", "doctor"])
def test_a_folder_that_was_deleted(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = f"cd {folder} && rmdir {folder} && exec {sys.executable} -m gpuscope {command}"
    done = subprocess.run(
        ["sh", "-c", script], env=environment(tmp_path), capture_output=True, text=True, check=False, timeout=60
    )
    refused(done, "was deleted")


def in_shell(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m gpuscope {command}"],
        cwd=folder,
        env={**environment(folder), **variables},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=60,
    )


def test_estimate_knows_its_numbers(tmp_path: Path) -> None:
    text = gpuscope("estimate", "--params", "7B", "--dtype", "fp32", "--task", "inference", cwd=tmp_path).stdout
    assert "28 GB" in text
    training = json.loads(gpuscope("estimate", "--params", "7B", "--stage", "training", "--json", cwd=tmp_path).stdout)
    assert training["memory"]["breakdown"]["parameters_bytes"] == 28_000_000_000
    assert training["memory"]["peak_allocated_bytes"]["mid"] == pytest.approx(140e9, rel=0.01)
    half = json.loads(gpuscope("estimate", "--params", "7B", "--dtype", "fp16", "--json", cwd=tmp_path).stdout)
    assert half["memory"]["breakdown"]["parameters_bytes"] == 14_000_000_000


@pytest.mark.parametrize("command", ["run", "record", "advise", "estimate", "open", "footprint", "report", "doctor"])
def test_help_helps(tmp_path: Path, command: str) -> None:
    done = gpuscope(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert re.search(rf"gpuscope {command}", done.stdout)
    assert len(done.stdout.splitlines()) > 4


def test_record_follows_a_process_and_ends_with_it(tmp_path: Path) -> None:
    job = subprocess.Popen([sys.executable, "-c", "sum(i * i for i in range(30_000_000))"])
    done = gpuscope("record", "-o", "a.gpuscope", "--pid", str(job.pid), cwd=tmp_path)
    assert wait_for(lambda: job.poll() is not None)
    assert done.returncode == 0
    assert str(job.pid) in done.stderr
    with SessionReader(tmp_path / "a.gpuscope") as reader:
        assert reader.manifest.followed_pid == job.pid
        rss = reader.timeline().get("host", "workload_rss_bytes").known
    assert len(rss) > 0
    assert rss.max() > 1e6


@pytest.mark.parametrize(("code", "words"), [(9, "driver"), (18, "reboot")])
def test_a_driver_that_does_not_work_is_one_sentence_and_the_host_is_recorded(
    tmp_path: Path, nvml_scenario: MakeWorld, code: int, words: str
) -> None:
    scenario = Scenario()
    scenario.system.values["init"] = NvmlError(code)
    env = environment(tmp_path, nvml_scenario(scenario).variables)
    done = gpuscope("record", "-o", "a.gpuscope", "--seconds", "2.5", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    notices = [line for line in done.stderr.splitlines() if "NVIDIA" in line or "driver" in line]
    assert len(notices) == 1, done.stderr
    assert words in notices[0]
    with SessionReader(tmp_path / "a.gpuscope") as reader:
        timeline = reader.timeline()
    assert len(timeline.get("host", "memory_used_bytes").known) >= 1
