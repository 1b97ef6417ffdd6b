"""The set-up script says exactly what is missing, and changes nothing when it may not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path("installers") / "linux" / "setup.sh"
NEEDED_TOOLS = ("bash", "dirname", "uname", "grep", "find", "sha256sum", "cut")


class Machine:
    """A checkout in a folder of its own, and a PATH on which only stand-ins and a few basic tools are."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "checkout"
        self.programs = folder / "bin"
        self.programs.mkdir()
        (self.checkout / SCRIPT.parent).mkdir(parents=True)
        shutil.copy(ROOT / SCRIPT, self.checkout / SCRIPT)
        shutil.copy(ROOT / "pyproject.toml", self.checkout)
        for tool in NEEDED_TOOLS:
            found = shutil.which(tool)
            assert found is not None, tool
            (self.programs / tool).symlink_to(found)
        self.add("python3", f'exec "{sys.executable}" "$@"')
        self.add("id", "echo 1000")

    def add(self, name: str, body: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def set_up(self, purpose: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {"PATH": str(self.programs), "HOME": str(self.checkout), **environment}
        command = [str(self.programs / "bash"), str(SCRIPT), purpose]
        return subprocess.run(
            command,
            cwd=self.checkout,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def without_path_extras(script: Path) -> None:
    """Keep the script from finding the real ldconfig in /sbin."""
    text = script.read_text(encoding="utf-8")
    changed = text.replace("PATH=$PATH:/sbin:/usr/sbin ldconfig", "ldconfig")
    assert changed != text
    script.write_text(changed, encoding="utf-8")


@pytest.fixture
def bare_machine(machine: Machine) -> Machine:
    """Not one of Qt's libraries is there."""
    machine.add("ldconfig", "exit 0")
    without_path_extras(machine.checkout / SCRIPT)
    return machine


def test_user_without_rights_gets_the_exact_command(bare_machine: Machine) -> None:
    bare_machine.add("apt-get", "echo apt-get was called; exit 0")
    done = bare_machine.set_up("run")
    assert done.returncode == 1
    assert "sudo apt-get install -y --no-install-recommends libegl1 libgl1 " in done.stderr
    assert "libxcb-cursor0" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "apt-get was called" not in done.stdout
    assert not (bare_machine.checkout / ".venv").exists()


def test_compiler_is_asked_for_by_the_tests_only(bare_machine: Machine) -> None:
    bare_machine.add("apt-get", "exit 0")
    assert " gcc" in bare_machine.set_up("test").stderr
    assert " gcc" not in bare_machine.set_up("run").stderr


def test_root_installs_what_is_missing(bare_machine: Machine) -> None:
    log = bare_machine.checkout / "apt.log"
    bare_machine.add("id", "echo 0")
    bare_machine.add("apt-get", f'echo "$@" >> "{log}"; case "$1" in install) echo no such package; exit 100;; esac')
    done = bare_machine.set_up("run")
    assert done.returncode == 1
    assert "no such package" in done.stderr
    updated, installed = log.read_text(encoding="utf-8").splitlines()
    assert updated.startswith("update")
    assert installed.startswith("install -y --no-install-recommends libegl1 ")


def test_other_systems_are_told_the_debian_names(bare_machine: Machine) -> None:
    done = bare_machine.set_up("run")
    assert done.returncode == 1
    assert "libxkbcommon0" in done.stderr
    assert "make run again" in done.stderr


@pytest.mark.parametrize("python", ["/nowhere/python3", "/bin/false"])
def test_named_python_must_work(machine: Machine, python: str) -> None:
    done = machine.set_up("run", PYTHON=python)
    assert done.returncode == 1
    assert f"{python} is not Python 3.11 or later" in done.stderr


def test_old_python_is_passed_over(machine: Machine) -> None:
    machine.add("python3", "exit 1")
    done = machine.set_up("run")
    assert done.returncode == 1
    assert "no Python 3.11 or later was found" in done.stderr


def test_scripts_can_be_started() -> None:
    scripts = [path for folder in ("installers", ".ci") for path in (ROOT / folder).rglob("*") if path.is_file()]
    assert scripts
    for script in scripts:
        assert os.access(script, os.X_OK), script
        assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
