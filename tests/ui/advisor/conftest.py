"""An Advisor panel over an engine that remembers what it was asked."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuscope.ui import theme
from gpuscope.ui.advisor.panel import AdvisorPanel
from tests.ui.advisor.panel_driving import Recorder, wait_until_idle


@pytest.fixture
def engine() -> Recorder:
    return Recorder()


@pytest.fixture
def panel(qtbot: QtBot, qapp: QApplication, engine: Recorder) -> AdvisorPanel:
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    widget = AdvisorPanel(sources=engine.sources())
    qtbot.addWidget(widget, before_close_func=lambda panel: wait_until_idle(qtbot, panel))
    widget.resize(400, 900)
    widget.show()
    qtbot.waitUntil(lambda: not widget._choosing.busy)
    return widget
