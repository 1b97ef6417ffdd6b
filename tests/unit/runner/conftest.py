"""Stand-in interpreters: small programs that answer the question as a Python with or without torch would."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope.runner.interrogate import AnswerCache
from tests.unit.runner.workloads import end_all

MakePython = Callable[..., Path]


@pytest.fixture(autouse=True)
def _workloads_end() -> Iterator[None]:
    yield
    end_all()


@pytest.fixture
def make_python() -> MakePython:
    """Create a program at `path` that answers like a Python; it also counts its starts in a file beside it."""

    def make(path: Path, *, torch: str | None = None, version: str = "3.11.4", prefix: str | None = None) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        packages = path.parent.parent / "site-packages"
        packages.mkdir(exist_ok=True)
        answer = {
            "version": version,
            "prefix": prefix or str(path.parent.parent),
            "torch_version": torch,
            "cuda_version": None if torch is None else "12.8",
            "package_folders": [str(packages)],
        }
        path.write_text(f"#!/bin/sh\necho x >> '{path}.starts'\necho '{json.dumps(answer)}'\n")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def cache(tmp_path: Path) -> AnswerCache:
    """A cache of the test's own."""
    return AnswerCache(tmp_path / "interpreters.json")


@pytest.fixture
def this_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The interpreter of the tests; answers are kept in a folder of the test's own."""
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    return sys.executable
