"""Sessions of machines that a server watches."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from gpuscope.domain.run import CLUSTER, OutcomeKind
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.listener import Listener
from gpuscope.engine.record_cluster import ClusterQuestion, import_cluster, record_cluster
from gpuscope.engine.session import open_session
from gpuscope.errors import SourceError, UsageError
from tests.unit.sources.prometheus import cluster
from tests.unit.sources.prometheus.fake import answering

END = datetime(2026, 11, 24, 18, 0, tzinfo=UTC)
START = END - timedelta(hours=1)


def test_the_past_as_a_session(tmp_path: Path) -> None:
    path = tmp_path / "tuesday.gpuscope"
    with answering(cluster.answer()) as fake:
        import_cluster(path, ClusterQuestion(fake.url), START, END)
    with open_session(path) as reader:
        timeline = reader.timeline()
        footprint = footprint_of(reader)
        assert (reader.manifest.kind, reader.manifest.created_wall_s) == (CLUSTER, START.timestamp())
        assert {device.hostname for device in reader.devices()} == {"alpha", "beta"}
        assert timeline.get("GPU-b0", "memory_used_bytes").t.tolist() == np.arange(0.0, 3601.0, 15.0).tolist()
        assert set(timeline.get("host:alpha", "cpu_percent").values) == {42.0}
        assert len(timeline.get("host", "cpu_percent").t) == 0  # of two machines neither is the session's own
    assert footprint.memory is not None
    assert footprint.memory.peak_device_bytes is not None
    assert footprint.memory.peak_device_bytes.mid == 1024 * 1024**2


def test_one_machine_is_the_host(tmp_path: Path) -> None:
    path = tmp_path / "alpha.gpuscope"
    with answering(cluster.answer()) as fake:
        import_cluster(path, ClusterQuestion(fake.url, job="train-7b"), START, END, step_s=60.0)
    with open_session(path) as reader:
        timeline = reader.timeline()
        assert set(timeline.get("host", "cpu_percent").values) == {42.0}
        assert len(timeline.get("GPU-a0", "utilization_gpu_percent").t) == 61


def test_cancelling_leaves_no_file(tmp_path: Path) -> None:
    def cancel(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    with answering(cluster.answer()) as fake, pytest.raises(KeyboardInterrupt):
        import_cluster(tmp_path / "x.gpuscope", ClusterQuestion(fake.url), START, END, progress=cancel)
    assert list(tmp_path.iterdir()) == []


def test_live_figures_as_a_session(tmp_path: Path) -> None:
    path = tmp_path / "live.gpuscope"
    started = threading.Event()
    with answering(cluster.answer()) as fake:
        outcome = record_cluster(
            path,
            ClusterQuestion(fake.url, matchers=["Hostname=alpha"]),
            seconds=0.5,
            interval_s=0.05,
            listener=Listener(on_start=started.set),
        )
        assert 'Hostname="alpha"' in fake.asked[-1][1]["query"][0] or "node_" in fake.asked[-1][1]["query"][0]
    assert started.is_set()
    assert outcome.kind is OutcomeKind.RECORDED
    with open_session(path) as reader:
        assert {device.uuid for device in reader.devices()} == {"GPU-a0", "GPU-a1"}
        assert len(list(reader.frames())) >= 3


def test_a_server_that_is_away_leaves_no_file(tmp_path: Path) -> None:
    with answering(cluster.answer()) as fake:
        url = fake.url
    with pytest.raises(SourceError, match="cannot be reached"):
        record_cluster(tmp_path / "x.gpuscope", ClusterQuestion(url), seconds=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"two words", b"\xff\xfe", b"x" * 100_000])
def test_a_token_file_that_holds_none(tmp_path: Path, content: bytes) -> None:
    token = tmp_path / "token"
    token.write_bytes(content)
    with pytest.raises(UsageError, match="token"):
        ClusterQuestion("http://localhost:1", token_file=token).server()


def test_the_token_reaches_the_server(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("abc\n", encoding="utf-8")
    with answering(cluster.answer()) as fake:
        ClusterQuestion(fake.url, token_file=token).server().instant("topk(1, x)")
    assert fake.headers["Authorization"] == "Bearer abc"
