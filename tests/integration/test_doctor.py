"""`gpuscope doctor` on machines with and without GPUs, folders and displays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuscope import paths
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, NvmlError, Scenario

DRIVER_NOT_LOADED = 9


def doctor(*options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpuscope", "doctor", *options]
    environment = {**paths.app_environment(), **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def checks(**variables: str) -> dict[str, dict[str, Any]]:
    done = doctor("--json", **variables)
    assert not done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "gpuscope.doctor/1"
    assert document["ok"] is (done.returncode == 0)
    return {check["name"]: check for check in document["checks"]}


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GPUSCOPE_STATE_DIR", "GPUSCOPE_SESSIONS_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))


def test_eight_gpus_are_listed(use_nvml_scenario: MakeWorld) -> None:
    scenario = Scenario()
    for _ in range(8):
        scenario.add_gpu(H100)
    use_nvml_scenario(scenario)
    nvidia = checks()["nvidia"]
    assert nvidia["ok"] is True
    assert "8 GPUs" in nvidia["detail"]
    assert "H100" in nvidia["detail"]
    assert "nvidia-ml-py" in nvidia["detail"]


def test_how_gpus_are_connected_is_shown(use_nvml_scenario: MakeWorld) -> None:
    scenario = Scenario()
    for _ in range(2):
        scenario.add_gpu(H100)
    use_nvml_scenario(scenario)
    lines = [line.split() for line in doctor().stdout.splitlines()]
    heading = next(line for line in lines if line[:2] == ["GPU0", "GPU1"])
    assert heading[-2:] == ["NUMA", "CPUs"]
    assert lines[lines.index(heading) + 1][:2] == ["GPU0", "X"]
    topology = json.loads(doctor("--json").stdout)["topology"]
    assert [part["name"] for part in topology["parts"] if part["kind"] == "gpu"] == ["GPU0", "GPU1"]


def test_the_host_and_what_it_does_not_offer() -> None:
    host = checks()["host"]
    assert host["ok"] is True
    assert " CPUs" in host["detail"]
    assert " of memory" in host["detail"]


def test_missing_driver_is_no_failure_and_says_what_to_do(use_nvml_scenario: MakeWorld) -> None:
    scenario = Scenario()
    scenario.system.values["init"] = NvmlError(DRIVER_NOT_LOADED)
    use_nvml_scenario(scenario)
    found = checks()
    assert found["nvidia"]["ok"] is None
    assert found["nvidia"]["remedy"]
    assert not found["nvidia"]["essential"]


def test_folder_that_cannot_be_written_is_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.write_text("", encoding="utf-8")
    done = doctor(GPUSCOPE_SESSIONS_DIR=str(file / "sessions"))
    assert done.returncode == 1
    assert "GPUSCOPE_SESSIONS_DIR" in done.stdout
    assert "Traceback" not in done.stderr


def test_display_is_examined() -> None:
    assert checks(DISPLAY="", WAYLAND_DISPLAY="")["display"]["ok"] is None
    with_display = checks(DISPLAY=":7")["display"]
    assert ":7" in with_display["detail"]
    assert with_display["ok"] is True or "apt-get install" in with_display["remedy"]


def test_this_interpreter_is_found_with_its_torch() -> None:
    interpreters = checks(VIRTUAL_ENV=sys.prefix)["interpreters"]
    assert interpreters["ok"] is True
    assert "(torch 2." in interpreters["detail"]


def test_text_has_a_line_a_check_and_remedies_below() -> None:
    done = doctor(DISPLAY="", WAYLAND_DISPLAY="")
    assert done.returncode == 0, done.stdout
    names = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert names == [
        "gpuscope", "packages", "catalogue", "nvidia", "host", "interpreters", "sessions_folder", "state_folder",
        "display",
    ]  # fmt: skip
    assert "→" in done.stdout
