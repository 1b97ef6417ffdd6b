"""What `doctor` learns about the driver."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from gpuscope import paths
from gpuscope.sources.diagnose import nvml_report
from tests.nvml.build import LIBRARY_NAME
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, NvmlError, Scenario


def test_a_driver_with_a_gpu(use_nvml_scenario: MakeWorld, nvml_library_folder: Path) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    use_nvml_scenario(scenario)
    report = nvml_report()
    assert report.state.ok
    assert report.driver_version == "580.65.06"
    assert report.library_path == str(nvml_library_folder / LIBRARY_NAME)
    assert report.binding_package == "nvidia-ml-py"
    assert report.binding_version
    assert [device.name for device in report.devices] == ["NVIDIA H100 80GB HBM3"]
    assert report.devices[0].cuda_version == "13.0"


def test_a_driver_that_does_not_match_its_library(use_nvml_scenario: MakeWorld) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    scenario.system.values["init"] = NvmlError(18)
    use_nvml_scenario(scenario)
    report = nvml_report()
    assert report.state.code == "library_mismatch"
    assert "reboot" in report.state.sentence
    assert report.devices == ()


def test_a_driver_that_hangs_does_not_hang_us(use_nvml_scenario: MakeWorld) -> None:
    scenario = Scenario()
    scenario.add_gpu(H100)
    scenario.rule("nvmlInitWithFlags")
    use_nvml_scenario(scenario)
    start_s = time.monotonic()
    report = nvml_report(timeout_s=1.5)
    assert time.monotonic() - start_s < 10
    assert report.state.code == "wedged"


def test_wrong_pynvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pynvml.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    report = nvml_report()
    assert report.state.code == "wrong_binding"
    assert str(tmp_path) in report.state.sentence


def test_a_child_that_answers_nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "app_command", lambda: [sys.executable, "-c", "print('hello')"])
    report = nvml_report()
    assert report.state.code == "error"
    assert "cannot start itself" in report.state.sentence
