"""Frames of a cluster as they come."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from gpuscope.domain.sample import Frame
from gpuscope.errors import SourceError
from gpuscope.sources.prometheus.live import PrometheusClient
from gpuscope.sources.prometheus.selection import Selection
from gpuscope.sources.prometheus.server import Server
from tests.unit.sources.prometheus import cluster
from tests.unit.sources.prometheus.fake import Query, answering

PATIENCE_S = 10.0


def _frames(client: PrometheusClient, count: int) -> list[Frame]:
    """The first frames, waited for."""
    frames: list[Frame] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(frames) < count and time.monotonic() < deadline_s:
        frames += client.poll()
        time.sleep(0.005)
    return frames


def _started(url: str) -> PrometheusClient:
    client = PrometheusClient(Server(url), Selection(), interval_s=0.02)
    client.start()
    return client


def test_frames_with_devices_once() -> None:
    with answering(cluster.answer()) as fake:
        client = _started(fake.url)
        first, second, *_ = _frames(client, 2)
        client.stop()
    assert [device.uuid for device in first.devices or ()] == ["GPU-a0", "GPU-a1", "GPU-b0", "GPU-b0 MIG 3"]
    assert second.devices is None
    sample = (first.gpus or ())[0]
    assert (sample.utilization_gpu_percent, sample.memory_used_bytes) == (50.0, 1024 * 1024**2)
    assert sample.temperature_memory_c is None  # DCGM's number for "no value"
    assert first.host is None  # two machines: neither is "the host"


def test_the_host_of_gpus_in_one_machine() -> None:
    with answering(cluster.answer(lambda labels: labels["Hostname"] == "alpha")) as fake:
        client = _started(fake.url)
        frame = _frames(client, 1)[0]
        client.stop()
    assert frame.host is not None
    assert (frame.host.cpu_percent, frame.host.memory_total_bytes) == (42.0, 42)


def test_figures_that_have_gone_stale_are_missing() -> None:
    """A server goes on answering for five minutes after an exporter has died."""

    def answer(endpoint: str, query: Query) -> Any:
        data = cluster.answer()(endpoint, query)
        if "timestamp(" in query.get("query", [""])[0]:
            for found in data["result"]:
                if found["metric"]["instance"] == "beta:9400":
                    found["value"] = (time.time(), str(time.time() - 200.0))
        return data

    with answering(answer) as fake:
        client = PrometheusClient(Server(fake.url), Selection())
        client.start()
        frame = _frames(client, 1)[0]
        client.stop()
    assert [sample.uuid for sample in frame.gpus or ()] == ["GPU-a0", "GPU-a1"]


def test_a_server_that_goes_away_and_comes_back() -> None:
    away = threading.Event()

    def answer(endpoint: str, query: Query) -> Any:
        return (503, b"restarting") if away.is_set() else cluster.answer()(endpoint, query)

    with answering(answer) as fake:
        client = _started(fake.url)
        _frames(client, 1)
        away.set()
        silent = next(frame for frame in _until(client, lambda frame: frame.gpus is None))
        away.clear()
        back = next(frame for frame in _until(client, lambda frame: frame.gpus is not None))
        client.stop()
    assert silent.states is not None
    assert (silent.states[0].ok, silent.states[0].source) == (False, "prometheus")
    assert "HTTP 503" in silent.states[0].sentence
    assert back.states is not None
    assert back.states[0].ok


def _until(client: PrometheusClient, wanted: Any) -> list[Frame]:
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        found = [frame for frame in client.poll() if wanted(frame)]
        if found:
            return found
        time.sleep(0.005)
    return []


def test_without_gpus_it_does_not_start() -> None:
    with (
        answering(cluster.answer(lambda _labels: False)) as fake,
        pytest.raises(SourceError, match="no present figures"),
    ):
        _started(fake.url)
