"""Fixtures that run gpuscope against a scenario of the stand-in NVML library."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.nvml.build import LIBRARY_NAME, build_library
from tests.nvml.scenario import Scenario

COUNTER = struct.Struct("=56sQ")


@dataclass(frozen=True)
class NvmlWorld:
    """A written scenario, and what a process needs to live in it."""

    scenario: Scenario
    path: Path
    variables: dict[str, str]
    """Only what differs from the tests' own environment."""

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment for a subprocess."""
        return {**os.environ, **self.variables}

    def counts(self) -> dict[str, int]:
        """How often each NVML function has been called in this world."""
        data = Path(self.variables["NVML_STANDIN_COUNTS"]).read_bytes()
        pairs = (COUNTER.unpack_from(data, at) for at in range(0, len(data), COUNTER.size))
        return {name.rstrip(b"\0").decode(): count for name, count in pairs if count}

    def rewrite(self) -> None:
        """Write the changed scenario: seen at the next initialisation."""
        self.scenario.write(self.path)


MakeWorld = Callable[[Scenario], NvmlWorld]


@pytest.fixture(scope="session")
def nvml_library_folder() -> Path:
    """Folder of the built stand-in library, for LD_LIBRARY_PATH."""
    return build_library()


@pytest.fixture
def nvml_scenario(tmp_path: Path, nvml_library_folder: Path) -> MakeWorld:
    """Makes a world of a scenario: run any `gpuscope` subprocess with `world.environment`."""
    made: list[NvmlWorld] = []

    def make(scenario: Scenario) -> NvmlWorld:
        path = tmp_path / f"nvml-{len(made)}.scenario"
        old = os.environ.get("LD_LIBRARY_PATH")
        variables = {
            "LD_LIBRARY_PATH": str(nvml_library_folder) + (os.pathsep + old if old else ""),
            "NVML_STANDIN_SCENARIO": str(path),
            "NVML_STANDIN_COUNTS": str(path.with_suffix(".counts")),
        }
        scenario.write(path)
        made.append(NvmlWorld(scenario, path, variables))
        return made[-1]

    return make


@pytest.fixture
def use_nvml_scenario(nvml_scenario: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> MakeWorld:
    """As `nvml_scenario`, and all children that this test starts live in it."""

    def make(scenario: Scenario) -> NvmlWorld:
        world = nvml_scenario(scenario)
        for name, value in world.variables.items():
            monkeypatch.setenv(name, value)
        return world

    return make


@pytest.fixture
def nvml_in_process(use_nvml_scenario: MakeWorld, nvml_library_folder: Path) -> MakeWorld:
    """As `use_nvml_scenario`, and the test's own process has the library: faster, and errors show where they arise.

    A library that is loaded once stays: other tests in this process that use NVML must ask for this fixture, too.
    """
    ctypes.CDLL(str(nvml_library_folder / LIBRARY_NAME))  # found by its name from now on
    return use_nvml_scenario
