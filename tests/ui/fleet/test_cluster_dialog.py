"""The dialog that opens machines of a Prometheus server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpuscope.domain.device import Device
from gpuscope.engine.record_cluster import ClusterQuestion
from gpuscope.engine.session import open_session
from gpuscope.errors import SourceError
from gpuscope.sources.prometheus.overview import Overview
from gpuscope.ui.fleet.cluster_dialog import ClusterDialog
from gpuscope.ui.settings import WindowSettings
from tests.unit.sources.prometheus import cluster
from tests.unit.sources.prometheus.fake import FakeServer, Query, answering

WAIT_MS = 10_000
SEEN = Overview(
    tuple(Device(uuid=f"GPU-{number}", index=number, name="NVIDIA L40S", hostname="alpha") for number in range(3)),
    {"GPU-0": 90.0, "GPU-1": 10.0},
    ("train-7b",),
)


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GPUSCOPE_SESSIONS_DIR", str(tmp_path / "sessions"))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with answering(cluster.answer()) as fake:
        yield fake


def _dialog(qtbot: QtBot, address: str) -> ClusterDialog:
    dialog = ClusterDialog(WindowSettings())
    qtbot.addWidget(dialog)
    dialog.address.setText(address)
    dialog.show()
    return dialog


def test_a_look_shows_the_gpus_and_offers_the_jobs(qtbot: QtBot, server: FakeServer) -> None:
    dialog = _dialog(qtbot, server.url)
    qtbot.mouseClick(dialog.look_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.map.isVisible, timeout=WAIT_MS)
    assert not dialog.map.map.place_of("GPU-a0").isEmpty()
    assert [dialog.job.itemText(place) for place in range(dialog.job.count())] == ["", "serve", "train-7b"]
    assert dialog.look_button.isEnabled()


def test_opening_makes_a_session_of_the_job(qtbot: QtBot, server: FakeServer) -> None:
    dialog = _dialog(qtbot, server.url)
    dialog.job.setEditText("train-7b")
    with qtbot.waitSignal(dialog.opened, timeout=WAIT_MS) as told:
        qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    with open_session(told.args[0]) as reader:
        assert {device.uuid for device in reader.devices()} == {"GPU-a0", "GPU-a1"}
    assert not dialog.isVisible()


def test_what_was_asked_is_there_the_next_time(qtbot: QtBot, server: FakeServer) -> None:
    dialog = _dialog(qtbot, server.url)
    dialog.start.setText("3h ago")
    dialog.look()
    again = _dialog(qtbot, "")
    again_fresh = ClusterDialog(WindowSettings())
    qtbot.addWidget(again_fresh)
    assert (again_fresh.address.text(), again_fresh.start.text()) == (server.url, "3h ago")
    qtbot.waitUntil(lambda: not dialog.busy, timeout=WAIT_MS)
    again.close()


@pytest.mark.parametrize(
    ("address", "start", "sentence"),
    [
        ("", "1h ago", "Type in the server's address"),
        ("http://x", "once", "is no moment"),
        ("nowhere", "1h ago", "is no address"),
    ],
)
def test_what_is_wrong_is_said(qtbot: QtBot, address: str, start: str, sentence: str) -> None:
    dialog = _dialog(qtbot, address)
    dialog.start.setText(start)
    dialog.look()
    qtbot.waitUntil(lambda: sentence in dialog.sentence.text(), timeout=WAIT_MS)
    assert dialog.open_button.isEnabled()


def test_a_refusal_of_the_server_is_said(qtbot: QtBot) -> None:
    def refuse(*_: object) -> Overview:
        raise SourceError("The server is away.")

    dialog = ClusterDialog(WindowSettings(), look=refuse)
    qtbot.addWidget(dialog)
    dialog.address.setText("http://x")
    dialog.look()
    qtbot.waitUntil(lambda: dialog.sentence.text() == "The server is away.", timeout=WAIT_MS)


def test_what_a_server_says_is_shown_as_it_is(qtbot: QtBot) -> None:
    def refuse(*_: object) -> Overview:
        raise SourceError("The Prometheus server says: <b>no</b> data.")

    dialog = ClusterDialog(WindowSettings(), look=refuse)
    qtbot.addWidget(dialog)
    dialog.address.setText("http://prometheus:9090")
    dialog.look()
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.sentence.text() == "The Prometheus server says: <b>no</b> data."
    assert dialog.sentence.textFormat() is Qt.TextFormat.PlainText


def test_a_look_that_takes_long_can_be_cancelled(qtbot: QtBot) -> None:
    go_on = threading.Event()

    def slow(_question: ClusterQuestion, _start: datetime, _end: datetime) -> Overview:
        go_on.wait(10)
        return SEEN

    dialog = ClusterDialog(WindowSettings(), look=slow)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.address.setText("http://x")
    dialog.look()
    assert dialog.progress.isVisible()
    qtbot.mouseClick(dialog.cancel_button, Qt.MouseButton.LeftButton)
    assert not dialog.progress.isVisible()
    go_on.set()
    assert not dialog.map.isVisible()


def test_cancelling_an_opening_leaves_no_session(qtbot: QtBot, tmp_path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()
    plain = cluster.answer()

    def answer(endpoint: str, query: Query) -> object:
        if endpoint == "query_range":
            reached.set()
            go_on.wait(10)
        return plain(endpoint, query)

    with answering(answer) as fake:
        dialog = _dialog(qtbot, fake.url)
        dialog.open()
        qtbot.waitUntil(reached.is_set, timeout=WAIT_MS)
        dialog.cancel()
        go_on.set()
        qtbot.waitUntil(lambda: "nothing was kept" in dialog.sentence.text(), timeout=WAIT_MS)
    assert list((tmp_path / "sessions").iterdir()) == []
