"""`gpuscope selftest` in the source tree; .ci/run does the same with the packaged app."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuscope import paths

STEPS = [
    "record the machine",
    "reach other machines",
    "run the example",
    "advise",
    "write the report",
    "open the window",
]


def selftest(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**paths.app_environment(), "HOME": str(home), "TMPDIR": str(home)}
    environment.pop("DISPLAY", None)
    command = [sys.executable, "-m", "gpuscope", "selftest", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def names_after(word: str, output: str) -> list[str]:
    lines = [line.removeprefix(word).strip() for line in output.splitlines() if line.startswith(word)]
    return [line.split(" (")[0].split(" after ")[0] for line in lines]


@pytest.mark.slow
def test_every_part_works_and_nothing_is_left(tmp_path: Path) -> None:
    done = selftest(tmp_path, "--python", sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    assert names_after("ok", done.stdout) == STEPS
    assert "every part works" in done.stdout
    left = [path for path in tmp_path.iterdir() if path.name.startswith("gpuscope")]
    assert left == []


def test_missing_interpreter_fails_with_a_sentence(tmp_path: Path) -> None:
    done = selftest(tmp_path, "--python", str(tmp_path / "no-python"))
    assert done.returncode == 1
    assert names_after("FAILED", done.stdout) == ["run the example"]
    assert "no-python" in done.stdout
    assert "--without-run" in done.stdout
    assert "Traceback" not in done.stderr


def test_environment_is_put_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from gpuscope.selftest import _own_folder

    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path))
    monkeypatch.delenv("GPUSCOPE_SESSIONS_DIR", raising=False)
    with _own_folder() as folder:
        assert os.environ["GPUSCOPE_STATE_DIR"].startswith(str(folder))
        assert os.environ["GPUSCOPE_SESSIONS_DIR"].startswith(str(folder))
    assert os.environ["GPUSCOPE_STATE_DIR"] == str(tmp_path)
    assert "GPUSCOPE_SESSIONS_DIR" not in os.environ
    assert not folder.exists()
