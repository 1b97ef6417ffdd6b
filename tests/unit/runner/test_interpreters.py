"""Finding interpreters in a made-up home, asking them, remembering the answers, choosing one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuscope.errors import RunError, UsageError
from gpuscope.runner import interrogate
from gpuscope.runner.interpreters import choose_interpreter, find_interpreters
from gpuscope.runner.interrogate import AnswerCache, ask
from tests.unit.runner.conftest import MakePython


@pytest.fixture(autouse=True)
def _packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the packaged app, the interpreter of the tests is not a candidate."""
    monkeypatch.setattr("sys.frozen", True, raising=False)


def starts(python: Path) -> int:
    file = Path(f"{python}.starts")
    return len(file.read_text().split()) if file.exists() else 0


def test_everywhere_in_order(tmp_path: Path, make_python: MakePython, cache: AnswerCache) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "my project" / "src"
    project.mkdir(parents=True)
    made = {
        "the active virtual environment": make_python(tmp_path / "active" / "bin" / "python"),
        "the active conda environment": make_python(tmp_path / "conda-active" / "bin" / "python", torch="2.1.0"),
        "a nearby virtual environment": make_python(project.parent / ".venv" / "bin" / "python", torch="2.13.0+cpu"),
        "PATH": make_python(tmp_path / "usr" / "bin" / "python3"),
        "pyenv": make_python(home / ".pyenv" / "versions" / "3.12.1" / "bin" / "python", version="3.12.1"),
    }
    listed = make_python(tmp_path / "data" / "envs" / "x" / "bin" / "python")
    unlisted = make_python(home / "miniconda3" / "envs" / "y" / "bin" / "python")
    (home / ".conda").mkdir()
    (home / ".conda" / "environments.txt").write_text(f"{listed.parent.parent}\n/gone\n\n")
    environment = {
        "VIRTUAL_ENV": str(tmp_path / "active"),
        "CONDA_PREFIX": str(tmp_path / "conda-active"),
        "PATH": os.pathsep.join(["/nowhere", "/x/.pyenv/shims", "", str(tmp_path / "usr" / "bin")]),
    }
    found = find_interpreters(project, environment=environment, home=home, cache=cache)
    expected = {**made, "a conda environment": listed}
    order = [*list(made)[:4], "a conda environment", "a conda environment", "pyenv"]
    assert [interpreter.origin for interpreter in found] == order
    assert {interpreter.path for interpreter in found} == {str(unlisted), *map(str, expected.values())}
    assert [interpreter.torch_version for interpreter in found][:3] == [None, "2.1.0", "2.13.0+cpu"]


def test_links_to_one_environment_appear_once(tmp_path: Path, make_python: MakePython, cache: AnswerCache) -> None:
    base = make_python(tmp_path / "bin" / "python3")
    (tmp_path / "bin" / "python").symlink_to("python3")
    environment = make_python(tmp_path / "project" / "venv" / "bin" / "python", prefix="/venv")
    found = find_interpreters(
        tmp_path / "project", environment={"PATH": str(tmp_path / "bin")}, home=tmp_path, cache=cache
    )
    assert [interpreter.path for interpreter in found] == [str(environment), str(base)]


def test_broken_interpreters_are_left_out(tmp_path: Path, cache: AnswerCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrogate, "PATIENCE_S", 0.3)
    scripts = {"a": "exit 1", "b": "echo no json", "c": "/bin/sleep 60", "d": "echo '{}'"}
    for name, line in scripts.items():
        program = tmp_path / name / "bin" / "python"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    path = os.pathsep.join(str(tmp_path / name / "bin") for name in scripts)
    assert find_interpreters(tmp_path, environment={"PATH": path}, home=tmp_path, cache=cache) == []


def test_answers_are_remembered_until_something_changes(tmp_path: Path, make_python: MakePython) -> None:
    python = make_python(tmp_path / "env" / "bin" / "python")
    file = tmp_path / "interpreters.json"

    def find() -> None:
        find_interpreters(tmp_path, environment={"PATH": ""}, home=tmp_path, cache=AnswerCache(file))

    find()
    find()
    assert starts(python) == 1
    os.utime(tmp_path / "env" / "site-packages", (1, 1))  # as when torch is installed
    find()
    assert starts(python) == 2
    file.write_text("[no json")
    find()
    assert starts(python) == 3


def test_real_interpreter_tells_torch_without_importing_it(tmp_path: Path) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "version.py").write_text(
        "from typing import Optional\n__version__ = '2.9.0+cu128'\ncuda: Optional[str] = '12.8'\nhip = None\n"
    )
    answer = ask(Path(sys.executable), {"PYTHONPATH": str(tmp_path)})
    assert answer is not None
    assert (answer.torch_version, answer.cuda_version) == ("2.9.0+cu128", "12.8")
    assert answer.prefix == sys.prefix
    (package / "version.py").unlink()
    (package / "__init__.py").write_text("")
    answer = ask(Path(sys.executable), {"PYTHONPATH": str(tmp_path)})
    assert answer is not None
    assert answer.torch_version == "unknown"


def test_venv_is_told_from_the_python_it_links_to(tmp_path: Path, cache: AnswerCache) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    base = os.path.realpath(sys.executable)
    found = find_interpreters(
        tmp_path, environment={"PATH": str(Path(base).parent)}, home=tmp_path / "home", cache=cache
    )
    assert found[0].path == str(tmp_path / "venv" / "bin" / "python")
    assert found[0].torch_version is None
    assert len({interpreter.path for interpreter in found}) == len(found) >= 2


def test_choice_says_why(tmp_path: Path, make_python: MakePython, cache: AnswerCache) -> None:
    make_python(tmp_path / ".venv" / "bin" / "python")
    torch = make_python(tmp_path / "usr" / "bin" / "python3", torch="2.9.0")
    environment = {"PATH": str(torch.parent)}
    chosen, why = choose_interpreter(tmp_path, None, True, environment=environment, home=tmp_path, cache=cache)
    assert chosen.path == str(torch)
    assert why == (
        f"{torch} was taken, from PATH: Python 3.11.4 with torch 2.9.0; 1 that would come first has no torch."
    )
    chosen, why = choose_interpreter(tmp_path, None, False, environment=environment, home=tmp_path, cache=cache)
    assert chosen.path == str(tmp_path / ".venv" / "bin" / "python")
    assert "a nearby virtual environment" in why


def test_script_folder_is_nearer_than_the_working_folder(
    tmp_path: Path, make_python: MakePython, cache: AnswerCache
) -> None:
    make_python(tmp_path / "work" / "venv" / "bin" / "python")
    near = make_python(tmp_path / "code" / "venv" / "bin" / "python")
    chosen, _ = choose_interpreter(
        tmp_path / "work", None, False, script_folder=tmp_path / "code",
        environment={"PATH": ""}, home=tmp_path, cache=cache,
    )  # fmt: skip
    assert chosen.path == str(near)


@pytest.mark.parametrize("form", ["program", "relative", "environment", "name"])
def test_named_interpreter(tmp_path: Path, make_python: MakePython, cache: AnswerCache, form: str) -> None:
    python = make_python(tmp_path / "my env" / "bin" / "python", torch="2.9.0")
    named = {
        "program": str(python),
        "relative": "my env/bin/python",
        "environment": str(tmp_path / "my env"),
        "name": "python",
    }[form]
    chosen, why = choose_interpreter(tmp_path, named, True, environment={"PATH": str(python.parent)}, cache=cache)
    assert chosen.path == str(python)
    assert "was named" in why


def test_named_interpreter_that_is_none(tmp_path: Path, cache: AnswerCache) -> None:
    with pytest.raises(UsageError, match=r"There is no interpreter /no/python: name a Python program"):
        choose_interpreter(tmp_path, "/no/python", False, environment={}, cache=cache)
    text = tmp_path / "text"
    text.write_text("hello")
    with pytest.raises(UsageError, match="is not a working Python interpreter"):
        choose_interpreter(tmp_path, str(text), False, environment={}, cache=cache)
    with pytest.raises(UsageError, match="There is no interpreter"):
        choose_interpreter(tmp_path, str(tmp_path), False, environment={}, cache=cache)


def test_torch_is_needed_and_nobody_has_it(tmp_path: Path, make_python: MakePython, cache: AnswerCache) -> None:
    python = make_python(tmp_path / "venv" / "bin" / "python")
    with pytest.raises(RunError, match=r"has no torch, but train.py imports it: install torch there"):
        choose_interpreter(tmp_path, str(python), True, what="train.py", environment={}, cache=cache)
    with pytest.raises(RunError, match=r"train.py needs torch, but none of the 1 Python interpreters found here"):
        choose_interpreter(tmp_path, None, True, what="train.py", environment={}, home=tmp_path, cache=cache)
    with pytest.raises(RunError, match="no Python was found"):
        choose_interpreter("/", None, True, what="train.py", environment={}, home=tmp_path / "nobody", cache=cache)


def test_without_a_folder_to_remember_in_interpreters_are_found_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(folder))
        cache = AnswerCache()
        assert cache.get(Path(sys.executable), {}) is not None
        cache.save()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_user_without_a_home_folder(tmp_path: Path, make_python: MakePython, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    nearby = make_python(tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(Path, "home", no_home)
    for name in ("GPUSCOPE_STATE_DIR", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert [Path(found.path) for found in find_interpreters(tmp_path, environment={"PATH": ""})] == [nearby]


def test_the_home_of_nobody_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="~nobody-here/bin begins with a home folder"):
        choose_interpreter(tmp_path, "~nobody-here/bin", needs_torch=False)
