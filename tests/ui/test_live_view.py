"""The window's live view over the whole real way: driver (the stand-in), sampler, supervisor, session, screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.ui.app import create_window
from gpuscope.ui.main_window import MainWindow
from tests.nvml.fixtures import MakeWorld
from tests.nvml.scenario import H100, NvmlError, Scenario

WAIT_MS = 40_000
NOT_SUPPORTED = 3


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MainWindow]:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GPUSCOPE_SESSIONS_DIR", str(tmp_path / "sessions"))
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    made = create_window(application)
    made.show()
    yield made
    made.close()
    made.deleteLater()


def test_what_the_driver_says_is_on_the_screen(
    qtbot: QtBot, window: MainWindow, use_nvml_scenario: MakeWorld, tmp_path: Path
) -> None:
    scenario = Scenario()
    for index in range(3):
        scenario.add_gpu(H100, utilization_gpu=10 + index, power_mw=NvmlError(NOT_SUPPORTED) if index else 412_000)
    use_nvml_scenario(scenario)
    window.start()
    monitor = window.monitor_panel
    qtbot.waitUntil(lambda: len(monitor.cards.gpu_cards) == 3, timeout=WAIT_MS)
    cards = list(monitor.cards.gpu_cards.values())
    qtbot.waitUntil(lambda: cards[2].busy.plain_text() == "12 %", timeout=WAIT_MS)
    assert [card.busy.plain_text() for card in cards] == ["10 %", "11 %", "12 %"]
    assert cards[0].name.toolTip().startswith("NVIDIA H100 80GB HBM3\n")
    qtbot.waitUntil(lambda: cards[0].details["power"].plain_text() == "412 W", timeout=WAIT_MS)
    assert cards[1].details["power"].plain_text() == "–"
    assert cards[1].details["power"].toolTip()
    assert window.header.state.text() == "live view"
    assert not monitor.problem.isVisible()
    session = window.session.path
    assert session is not None
    window.close()
    assert not session.exists()
