"""From what is typed to what is started, and the one sentence when that makes no sense."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpuscope import paths
from gpuscope.errors import RunError, UsageError
from gpuscope.runner.command import LaunchPlan, plan_launch
from tests.unit.runner.conftest import MakePython
from tests.unit.runner.workloads import start, wait_for_end


@pytest.fixture(autouse=True)
def _quiet_machine(this_python: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only the interpreter of the tests and the system's programs are there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)


def script(folder: Path, text: str = "", name: str = "train.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def run(plan: LaunchPlan, folder: Path) -> str:
    folder.mkdir()
    wait_for_end(start(plan, folder))
    return (folder / "output.log").read_text(encoding="utf-8")


def test_script_with_arguments(tmp_path: Path) -> None:
    script(tmp_path, name="my tråin.py")
    plan = plan_launch(["my tråin.py", "--epochs", "3", "-m"], cwd=tmp_path, python=sys.executable, total_steps=9)
    assert plan.argv == (sys.executable, "my tråin.py", "--epochs", "3", "-m")
    assert plan.cwd == tmp_path
    assert plan.spec.target == "script"
    assert plan.spec.display == "'my tråin.py' --epochs 3 -m"
    assert plan.spec.interpreter == sys.executable
    assert plan.spec.total_steps == 9
    assert plan.spec.probe


def test_script_stays_main_in_its_folder_with_its_arguments(tmp_path: Path) -> None:
    text = "import os, sys\nprint(__name__, sys.argv, os.getcwd(), sys.path[0], os.environ['GPUSCOPE_PROBE_DIR'])"
    script(tmp_path, text)
    seen = run(plan_launch(["train.py", "a b"], cwd=tmp_path, python=sys.executable), tmp_path / "run")
    assert seen.splitlines()[-1] == f"__main__ ['train.py', 'a b'] {tmp_path} {tmp_path} {tmp_path / 'run'}"


def test_module(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    script(tmp_path / "pkg", "import sys\nprint(__name__, __package__, sys.argv[1:])")
    plan = plan_launch(["pkg.train", "--x"], target="module", cwd=tmp_path, python=sys.executable)
    assert plan.argv == (sys.executable, "-m", "pkg.train", "--x")
    assert plan.spec.display == "-m pkg.train --x"
    assert run(plan, tmp_path / "run").splitlines()[-1] == "__main__ pkg ['--x']"


def test_module_that_is_installed() -> None:
    assert plan_launch(["json.tool"], target="module", python=sys.executable).argv[1:] == ("-m", "json.tool")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("no_such_module", "has no module no_such_module: install it there"),
        ("json.nothing", "has no module json.nothing"),
        ("json", "json is a package without a __main__ module"),
        ("my-module", "my-module is not the name of a module"),
        ("train.py", "train.py is a file, not a module: leave out -m"),
    ],
)
def test_module_that_cannot_be_run(tmp_path: Path, module: str, message: str) -> None:
    script(tmp_path)
    with pytest.raises(UsageError, match=message):
        plan_launch([module], target="module", cwd=tmp_path, python=sys.executable)


def test_command_on_path() -> None:
    plan = plan_launch(["sh", "-c", "exit"])
    assert plan.argv[1:] == ("-c", "exit")
    assert plan.argv[0].endswith("/bin/sh")
    assert (plan.spec.target, plan.spec.display, plan.spec.interpreter) == ("command", "sh -c exit", None)


def test_command_by_its_path_is_relative_to_the_folder(tmp_path: Path) -> None:
    script(tmp_path, "#!/bin/sh\necho here\n", "go.sh").chmod(0o755)
    plan = plan_launch(["./go.sh"], cwd=tmp_path)
    assert plan.argv == (str(tmp_path / "go.sh"),)
    assert run(plan, tmp_path / "run") == "here\n"


def test_python_that_was_typed_stays(tmp_path: Path) -> None:
    script(tmp_path, "import torch")
    plan = plan_launch([sys.executable, "-u", "train.py"], cwd=tmp_path)
    assert plan.argv == (sys.executable, "-u", "train.py")
    assert plan.spec.interpreter == sys.executable
    assert plan.spec.probe


def test_options_that_keep_the_probe_out_are_said(tmp_path: Path) -> None:
    script(tmp_path)
    plan = plan_launch([sys.executable, "-I", "train.py"], cwd=tmp_path)
    assert not plan.spec.probe
    assert "option -I keeps gpuscope's probe out" in plan.spec.interpreter_note


def test_command_target_takes_a_python_file_as_a_program(tmp_path: Path) -> None:
    script(tmp_path, "#!/bin/sh\n").chmod(0o755)
    assert plan_launch(["./train.py"], target="command", cwd=tmp_path).argv == (str(tmp_path / "train.py"),)


def test_script_target_takes_any_name(tmp_path: Path) -> None:
    script(tmp_path, name="train")
    assert plan_launch(["train"], target="script", cwd=tmp_path, python=sys.executable).argv[1:] == ("train",)


@pytest.mark.parametrize(
    ("args", "target", "message"),
    [
        ([], None, "Nothing to run"),
        (["none.py"], None, r"There is no script none.py in .*: check the name, or give its folder with --cwd"),
        (["folder"], "script", "folder is a folder, not a script"),
        (["x" * 300 + ".py"], None, "cannot be looked at: File name too long"),
        (["./" + "x" * 300], None, "cannot be looked at: File name too long"),
        (["no-such-command"], None, "There is no command no-such-command on PATH"),
        (["plain"], None, r"There is no command plain on PATH: write ./plain"),
        (["./none"], None, "There is no command .*none: check its name"),
        (["./folder"], None, "is a folder, not a command"),
        (["./plain"], None, r"plain is not executable: run chmod \+x"),
        (["python3", "none.py"], None, "There is no script none.py"),
    ],
)
def test_one_sentence_for_what_makes_no_sense(
    tmp_path: Path, args: list[str], target: str | None, message: str
) -> None:
    (tmp_path / "folder").mkdir()
    script(tmp_path, name="plain")
    with pytest.raises(UsageError, match=message) as caught:
        plan_launch(args, target=target, cwd=tmp_path)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no folder .*/none to run in"):
        plan_launch(["sh"], cwd=tmp_path / "none")


def test_interpreter_for_a_command_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="--python is for scripts and modules, but sh is a command"):
        plan_launch(["sh"], python=sys.executable)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_script_that_cannot_be_read(tmp_path: Path) -> None:
    script(tmp_path).chmod(0)
    with pytest.raises(UsageError, match="cannot be read"):
        plan_launch(["train.py"], cwd=tmp_path)


def test_interpreter_without_torch_for_a_script_that_imports_it(tmp_path: Path, make_python: MakePython) -> None:
    python = make_python(tmp_path / "env" / "bin" / "python")
    script(tmp_path, "import torch")
    with pytest.raises(RunError, match=r"env/bin/python \(Python 3.11.4\) has no torch, but train.py imports it"):
        plan_launch(["train.py"], cwd=tmp_path, python=str(python))
    script(tmp_path, "import lightning", "other.py")
    with pytest.raises(RunError, match=r"has no torch, but other.py \(through lightning\) imports it"):
        plan_launch(["other.py"], cwd=tmp_path, python=str(python))
    script(tmp_path, "print(1)", "plain.py")
    assert plan_launch(["plain.py"], cwd=tmp_path, python=str(python)).argv == (str(python), "plain.py")


def test_another_interpreter_is_taken_when_the_first_has_no_torch(tmp_path: Path, make_python: MakePython) -> None:
    make_python(tmp_path / ".venv" / "bin" / "python")
    torch = make_python(tmp_path / "code" / "venv" / "bin" / "python", torch="2.9.0")
    script(tmp_path / "code", "import torch")
    plan = plan_launch(["code/train.py"], cwd=tmp_path)
    assert plan.argv == (str(torch), "code/train.py")
    assert "a nearby virtual environment: Python 3.11.4 with torch 2.9.0" in plan.spec.interpreter_note


def test_secrets_reach_the_workload_and_nothing_else(tmp_path: Path) -> None:
    script(tmp_path, "import os, sys\nprint(sys.argv[2], os.environ['HF_TOKEN'])")
    plan = plan_launch(
        ["train.py", "--api-key", "geheim1"], cwd=tmp_path, python=sys.executable, environment={"HF_TOKEN": "geheim2"}
    )
    assert "geheim" not in repr(plan.spec)
    assert plan.spec.display == "train.py --api-key ***"
    assert plan.spec.environment == {"HF_TOKEN": "***"}
    assert run(plan, tmp_path / "run").splitlines()[-1] == "geheim1 geheim2"
    assert "geheim" not in (tmp_path / "run" / "workload.json").read_text()


def test_probe_is_on_the_path_of_scripts_and_of_commands(tmp_path: Path) -> None:
    script(tmp_path)
    for plan in (plan_launch(["train.py"], cwd=tmp_path, python=sys.executable), plan_launch(["sh"], profile=False)):
        assert plan.environment["PYTHONPATH"].split(os.pathsep)[0] == str(paths.probe_dir() / "site")
    assert plan.environment["GPUSCOPE_PROBE_PROFILE"] == "0"
