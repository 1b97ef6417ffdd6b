"""How the probe's tests run a script the way the runner does, and read what the probe wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpuscope import paths
from gpuscope.domain.events import Event

SCRIPTS = Path(__file__).parents[2] / "data" / "scripts"


@dataclass
class Outcome:
    """What a script printed, how it ended, and the events of its processes."""

    status: int
    output: str
    errors: str
    events_by_pid: dict[int, list[dict[str, Any]]]

    @property
    def events(self) -> list[dict[str, Any]]:
        """Events of the only process that wrote any."""
        assert len(self.events_by_pid) == 1, self.events_by_pid.keys()
        return next(iter(self.events_by_pid.values()))

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]

    def last(self, kind: str) -> dict[str, Any]:
        return self.all(kind)[-1]

    @property
    def result(self) -> dict[str, Any]:
        """The JSON line that the script printed last."""
        found: dict[str, Any] = json.loads(self.output.strip().splitlines()[-1])
        return found

    @property
    def domain_events(self) -> list[Event]:
        return to_events(self.events)


def to_events(rows: list[dict[str, Any]]) -> list[Event]:
    """The probe's lines as the session holds them."""
    return [
        Event(t=row["t"], source=f"probe:{row['pid']}", kind=row["kind"], data={**row}, seq=i)
        for i, row in enumerate(rows)
    ]


def probed_environment(folder: Path, **extra: str) -> dict[str, str]:
    """The environment that the runner gives a script."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV", "GPUSCOPE"))}
    old = extra.pop("PYTHONPATH", "")
    environment["PYTHONPATH"] = str(paths.probe_dir() / "site") + (os.pathsep + old if old else "")
    environment["GPUSCOPE_PROBE_DIR"] = str(folder)
    environment["OMP_NUM_THREADS"] = "1"
    environment.update(extra)
    return environment


def read_events(folder: Path) -> dict[int, list[dict[str, Any]]]:
    files = sorted(folder.glob("probe-*.jsonl")) if folder.is_dir() else []
    return {
        int(file.stem.removeprefix("probe-")): [json.loads(line) for line in file.read_text().splitlines()]
        for file in files
    }


Runner = Callable[..., Outcome]


@pytest.fixture
def run_probed(tmp_path: Path) -> Runner:
    """Runs a script file, or source text, under the probe."""

    def run(
        script: str, *arguments: str, python: str = sys.executable, options: tuple[str, ...] = (), **extra: str
    ) -> Outcome:
        folder = tmp_path / extra.pop("probe_folder_name", "events")
        if extra.pop("make_folder", "yes") == "yes":
            folder.mkdir(exist_ok=True)
        path = SCRIPTS / script
        if not script.endswith(".py"):
            path = tmp_path / "user" / "script.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(script)
        done = subprocess.run(
            [python, *options, str(path), *arguments],
            env=probed_environment(folder, **extra),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr, read_events(folder))

    return run
