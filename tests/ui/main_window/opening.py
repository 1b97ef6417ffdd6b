"""What the tests of the window do again and again."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from gpuscope.ui.main_window import MainWindow
from tests.ui.plain_panels import PlainAdvisorPanel, PlainRunPanel

WAIT_MS = 10_000


def open_session(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    with qtbot.waitSignal(window.session.loaded, timeout=WAIT_MS):
        window.start(path)


def kinds_heard(panel: PlainRunPanel | PlainAdvisorPanel) -> list[str]:
    return [kind for kind, _ in panel.heard]
