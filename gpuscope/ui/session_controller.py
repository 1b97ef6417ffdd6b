"""Which session the window looks at: opens, starts, stops and leaves sessions, and keeps the live view going."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpuscope.domain.run import Manifest, RunOutcome
from gpuscope.engine import launch
from gpuscope.engine.follow import Update
from gpuscope.store.reader import SessionState
from gpuscope.ui.background import Newest
from gpuscope.ui.bridge import SessionBridge
from gpuscope.ui.session_worker import SessionWorker


class SessionController(QObject):
    """One session at a time; while there is none of the person's, the live view of this machine.

    Attributes:
        path: the session that is followed, also the live view's.
        manifest: of that session, once it is open.
        monitor_only: True while it is the live view.
        live: whether more is to come.
    """

    opened = Signal(object, object)
    """Manifest, Path."""
    updated = Signal(object)
    """Update."""
    progress = Signal(float)
    loaded = Signal()
    ended = Signal(object)
    """RunOutcome or None."""
    failed = Signal(str)
    """One sentence."""
    working = Signal(str)
    """What takes a moment, as a sentence; empty when it is done."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing is followed yet."""
        super().__init__(parent)
        self.path: Path | None = None
        self.manifest: Manifest | None = None
        self.monitor_only = False
        self.live = False
        self._watched = True
        self._worker: SessionWorker | None = None
        self._monitors: list[launch.MonitorHandle] = []
        self._ending: list[threading.Thread] = []
        self._monitor_start = Newest(self)
        self._monitor_start.finished.connect(self._on_monitor_started)
        self._monitor_start.failed.connect(self._on_start_failed)
        self._run_start = Newest(self)
        self._run_start.finished.connect(self.open)
        self._run_start.failed.connect(self._on_start_failed)

    @property
    def run_is_live(self) -> bool:
        """Whether the session that is followed is a run that goes on."""
        return self.live and not self.monitor_only and self.manifest is not None and self.manifest.run is not None

    def set_watched(self, watched: bool) -> None:
        """Whether somebody can see the window: else the session is looked at less often."""
        self._watched = watched
        if self._worker is not None:
            self._worker.set_watched(watched=watched)

    def open(self, path: Path) -> None:
        """Follow a session from its beginning."""
        self._leave()
        self._stop_monitors()
        self._follow(path, monitor_only=False)

    def start_run(self, request: launch.RunRequest) -> None:
        """Start a run that outlives the window, and follow it."""
        self.working.emit(self.tr("Starting the run…"))
        self._run_start.submit(lambda: launch.start_run(request))

    def follow_again(self, path: Path) -> None:
        """Give a run that lost its supervisor a new one, and follow it."""
        self.working.emit(self.tr("Taking the run over…"))
        self._run_start.submit(lambda: _adopted(path))

    def stop_run(self) -> None:
        """Ask the run to stop; it ends politely if it can."""
        if self.path is not None and self.run_is_live:
            self.working.emit(self.tr("Stopping the run…"))
            launch.request_stop(self.path)

    def show_live(self) -> None:
        """Leave the session for the live view of this machine."""
        self._leave()
        self.working.emit(self.tr("Starting the live view…"))
        self._monitor_start.submit(partial(_start_monitor, self._monitors))

    def close(self) -> None:
        """Let go of everything; runs go on, the live view ends."""
        self._leave()
        self._monitor_start.forget()
        self._run_start.forget()
        self._stop_monitors()
        for thread in self._ending:
            thread.join()

    def _on_monitor_started(self, handle: launch.MonitorHandle) -> None:
        if self.path is not None:
            self._stop_monitors()  # a session was opened meanwhile
            return
        self._follow(handle.path, monitor_only=True)

    def _on_start_failed(self, sentence: str) -> None:
        self.working.emit("")
        self.failed.emit(sentence)

    def _follow(self, path: Path, *, monitor_only: bool) -> None:
        self.path, self.monitor_only = path, monitor_only
        bridge = SessionBridge(self)
        bridge.opened.connect(self._on_opened)
        bridge.updated.connect(self._on_updated)
        bridge.progress.connect(self.progress)
        bridge.loaded.connect(self.loaded)
        bridge.ended.connect(self._on_ended)
        bridge.failed.connect(self._on_failed)
        self._worker = SessionWorker(path, bridge)
        self._worker.set_watched(watched=self._watched)
        self._worker.start()

    def _leave(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._ending = [*(each for each in self._ending if each.is_alive()), self._worker]
            self._worker = None
        self.path = self.manifest = None
        self.monitor_only = self.live = False

    def _stop_monitors(self) -> None:
        while self._monitors:
            thread = threading.Thread(target=self._monitors.pop().stop, name="gpuscope-stop-monitor")
            self._ending.append(thread)
            thread.start()

    def _on_opened(self, manifest: Manifest, path: Path) -> None:
        self.manifest, self.live = manifest, True
        self.working.emit("")
        self.opened.emit(manifest, path)

    def _on_updated(self, update: Update) -> None:
        self.live = update.state is SessionState.LIVE
        self.updated.emit(update)

    def _on_ended(self, outcome: RunOutcome | None) -> None:
        self.live = False
        self.working.emit("")
        self.ended.emit(outcome)

    def _on_failed(self, sentence: str) -> None:
        self._leave()
        self.working.emit("")
        self.failed.emit(sentence)


def _start_monitor(monitors: list[launch.MonitorHandle]) -> launch.MonitorHandle:
    """Start a live view; it is noted at once, so that it ends with the window whatever comes between."""
    handle = launch.start_monitor()
    monitors.append(handle)
    return handle


def _adopted(path: Path) -> Path:
    launch.adopt_detached(path)
    return path
