"""Panels that only note what the window tells them, and a live view that is a session of the test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel

from gpuscope.domain.recommendation import Constraints


class PlainRunPanel(QLabel):
    run_requested = Signal(object)
    stop_requested = Signal()
    open_requested = Signal(Path)

    def __init__(self) -> None:
        super().__init__("Run")
        self.heard: list[tuple[str, Any]] = []

    def run(self) -> None:
        self.heard.append(("run", None))

    def on_session_opened(self, manifest: Any) -> None:
        self.heard.append(("opened", manifest))

    def on_update(self, update: Any) -> None:
        self.heard.append(("update", update))

    def on_session_ended(self, outcome: Any) -> None:
        self.heard.append(("ended", outcome))


class PlainAdvisorPanel(QLabel):
    status = Signal(str)
    export_requested = Signal()
    constraints = Constraints()
    estimating = False
    footprint = None
    mix = None

    def __init__(self) -> None:
        super().__init__("Advisor")
        self.heard: list[tuple[str, Any]] = []

    def on_session_opened(self, manifest: Any, path: Path) -> None:
        self.heard.append(("opened", (manifest, path)))

    def on_session_ended(self, outcome: Any) -> None:
        self.heard.append(("ended", outcome))


class PlainMonitorHandle:
    """Stands for a monitor-only recording."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True
