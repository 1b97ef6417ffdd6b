"""A real sshd, the stand-in NVML behind it, and gpuscope's command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope.engine.session import open_session
from tests.integration.ssh_server import MISSING, SshServer, ssh_server
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, Scenario

pytestmark = pytest.mark.skipif(MISSING, reason="no sshd here: make test-fleet fetches it")
PATIENCE_S = 30.0


@pytest.fixture
def server(tmp_path: Path, nvml_scenario: MakeWorld) -> Iterator[SshServer]:
    scenario = Scenario()
    scenario.add_gpu(H100)
    world = nvml_scenario(scenario)
    (tmp_path / "sshd").mkdir()
    (tmp_path / "far_tmp").mkdir()
    with ssh_server(tmp_path / "sshd", {**world.variables, "TMPDIR": str(tmp_path / "far_tmp")}) as started:
        yield started


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "gpuscope", "record", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def _wait(until: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline_s, "in vain"
        time.sleep(0.05)


def _frames_with_gpus(path: Path) -> int:
    if not path.exists():
        return 0
    with open_session(path) as reader:
        return sum(bool(frame.gpus) for _, frame in reader.frames())


def test_recorded_cut_and_back_and_nothing_left_behind(server: SshServer, tmp_path: Path) -> None:
    path = tmp_path / "far.gpuscope"
    recorder = _start(server.client_folder(), "--host", "box", "-o", str(path))
    try:
        _wait(lambda: _frames_with_gpus(path) > 10)
        first = [process.pid for process in server.far_sides()]
        server.cut()
        _wait(lambda: any(process.pid not in first for process in server.far_sides()))
        before = _frames_with_gpus(path)
        _wait(lambda: _frames_with_gpus(path) > before + 10)
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=PATIENCE_S)
    finally:
        recorder.kill()
        recorder.wait()
    assert recorder.returncode == 0, said
    assert "It is tried again." in said
    assert server.far_sides() == []
    assert list(server.home.rglob("*")) == []
    assert list((tmp_path / "far_tmp").rglob("*")) == []
    with open_session(path) as reader:
        device = reader.devices()[0]
        gaps = [event.data for event in reader.events() if event.kind == "sampler_replaced"]
        power = reader.timeline().get(device.uuid, "power_w")
        clock = next(event.data for event in reader.events() if event.kind == "remote_clock")
    assert (device.hostname, set(power.known)) == ("box", {412.345})
    assert len(gaps) == 1
    assert gaps[0]["gap_end_s"] - gaps[0]["gap_start_s"] > 0.9
    assert not any(gaps[0]["gap_start_s"] + 0.1 < t < gaps[0]["gap_end_s"] - 0.1 for t in power.t)
    assert clock["uncertainty_s"] < 0.1


@pytest.mark.parametrize(
    ("client", "sentence"),
    [
        ({"identity": "stranger_key"}, "set up a key with `ssh-copy-id box`"),
        ({"known": "no_hosts"}, "The host key of box is not known here"),
        ({"known": "changed_hosts"}, "box has another host key than before"),
    ],
)
def test_what_would_need_a_person_is_refused(
    server: SshServer, tmp_path: Path, client: dict[str, str], sentence: str
) -> None:
    path = tmp_path / "none.gpuscope"
    recorder = _start(server.client_folder(**client), "--host", "box", "-o", str(path))
    _, said = recorder.communicate(timeout=PATIENCE_S)
    assert recorder.returncode == 1
    assert sentence in said
    assert not path.exists()
