"""The real Prometheus and node-exporter of Debian, a target in dcgm-exporter's format, and gpuscope's command line."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.engine.session import open_session
from gpuscope.errors import SourceError
from gpuscope.sources.prometheus.server import Server

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / "build" / "prometheus" / "usr" / "bin"
PATIENCE_S = 60.0
SCRAPES = 6

CONFIGURATION = """
global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: dcgm
  static_configs: [{{targets: ["127.0.0.1:{dcgm}"]}}]
- job_name: node
  static_configs: [{{targets: ["127.0.0.1:{node}"]}}]
  relabel_configs: [{{target_label: instance, replacement: "node0:9100"}}]
"""


def _program(name: str) -> str | None:
    unpacked = UNPACKED / name
    return str(unpacked) if unpacked.exists() else shutil.which(name)


PROMETHEUS, NODE_EXPORTER = _program("prometheus"), _program("prometheus-node-exporter")
PROMTOOL = _program("promtool")
pytestmark = pytest.mark.skipif(
    None in {PROMETHEUS, NODE_EXPORTER, PROMTOOL}, reason="no Prometheus here: make test-fleet fetches it"
)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that has scraped three made-up machines and this real one for some seconds."""
    folder = tmp_path_factory.mktemp("prometheus")
    ports = {name: _free_port() for name in ("dcgm", "node", "server")}
    (folder / "prometheus.yml").write_text(CONFIGURATION.format(**ports), encoding="utf-8")
    exporter = [sys.executable, str(ROOT / "tests" / "integration" / "dcgm_exporter.py"), str(ports["dcgm"]), "3", "2"]
    server = [
        str(PROMETHEUS),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{ports['server']}",
    ]
    commands = [exporter, [str(NODE_EXPORTER), f"--web.listen-address=127.0.0.1:{ports['node']}"], server]
    quiet = subprocess.DEVNULL
    processes = [subprocess.Popen(command, stdout=quiet, stderr=quiet) for command in commands]
    try:
        address = f"http://127.0.0.1:{ports['server']}"
        _wait_for_scrapes(Server(address))
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _wait_for_scrapes(server: Server) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        try:
            counts = server.instant("min(count_over_time(up[1m]))")
            rates = server.instant('count(rate(node_cpu_seconds_total{mode="idle"}[10s]))')
            if counts and counts[0].values[0] >= SCRAPES and rates:
                return
        except SourceError:
            pass  # it is starting
        time.sleep(0.2)
    pytest.fail("Prometheus did not scrape its targets in time")


def _gpuscope(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gpuscope", *arguments], capture_output=True, text=True, timeout=120)


def test_the_past_of_a_job_and_its_footprint(url: str, tmp_path: Path) -> None:
    path = tmp_path / "job.gpuscope"
    done = _gpuscope("record", "--prometheus", url, "--from", "5s ago", "--job", "job0", "-o", str(path))
    assert done.returncode == 0, done.stderr
    assert "4 GPUs of 2 machines, every 1 s" in done.stderr
    with open_session(path) as reader:
        timeline = reader.timeline()
        assert {device.hostname for device in reader.devices()} == {"node0", "node1"}
        assert set(timeline.get("GPU-0001-1", "power_w").known) == {450.5}
        assert len(timeline.get("GPU-0001-1", "temperature_memory_c").known) == 0
        assert len(timeline.get("host:node0", "cpu_percent").known) > 0
        assert all(0 <= value <= 100 for value in timeline.get("host:node0", "cpu_percent").known)
    footprint = json.loads(_gpuscope("footprint", str(path), "--json").stdout)
    assert footprint["memory"]["peak_device_bytes"]["mid"] == 40_000 * 1024**2
    assert footprint["utilization"]["gpu"]["mean"] == pytest.approx(75)


def test_live_figures_of_all_machines(url: str, tmp_path: Path) -> None:
    path = tmp_path / "live.gpuscope"
    done = _gpuscope("record", "--prometheus", url, "--seconds", "3", "-o", str(path))
    assert done.returncode == 0, done.stderr
    with open_session(path) as reader:
        frames = [frame for _, frame in reader.frames()]
        assert len(reader.devices()) == 6
    assert len(frames) >= 3
    assert all(len(frame.gpus or ()) == 6 for frame in frames)
    assert frames[1].monotonic_s - frames[0].monotonic_s == pytest.approx(1.0, abs=0.5)  # as the server scrapes


def test_an_export_goes_into_another_prometheus(url: str, tmp_path: Path) -> None:
    session, text = tmp_path / "past.gpuscope", tmp_path / "past.prom"
    assert _gpuscope("record", "--prometheus", url, "--from", "5s ago", "-o", str(session)).returncode == 0
    assert _gpuscope("export", str(session), "-o", str(text)).returncode == 0
    promtool = [str(PROMTOOL), "tsdb", "create-blocks-from", "openmetrics", str(text), str(tmp_path / "blocks")]
    done = subprocess.run(promtool, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert any(path.name == "meta.json" for path in (tmp_path / "blocks").rglob("*"))


def test_a_job_that_is_not_there(url: str, tmp_path: Path) -> None:
    done = _gpuscope("record", "--prometheus", url, "--job", "nobody", "-o", str(tmp_path / "x.gpuscope"))
    assert done.returncode == 2
    assert "there are job0, job1" in done.stderr
    assert list(tmp_path.iterdir()) == []
