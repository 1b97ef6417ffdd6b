"""Work that takes longer than a frame, done beside the window; only the newest answer is delivered."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from gpuscope.errors import GpuscopeError


class Newest(QObject):
    """Runs functions one after another in a thread of its own; what was overtaken by a newer request is dropped.

    The functions must not touch widgets. `finished` and `failed` arrive in the thread that created this object.
    """

    finished = Signal(object)
    """The newest function's result."""
    failed = Signal(str)
    """The newest function's failure as a sentence."""
    _done = Signal(int, object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        """No thread runs until something is asked for."""
        super().__init__(parent)
        self._lock = threading.Lock()
        self._token = 0
        self._pending: tuple[int, Callable[[], Any]] | None = None
        self._working = False
        self._busy = False
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """True while an answer is awaited."""
        return self._busy

    def submit(self, function: Callable[[], Any]) -> None:
        """Ask for `function()`; an earlier request that has not been answered is forgotten."""
        self._busy = True
        self._token += 1
        with self._lock:
            self._pending = (self._token, function)
            if self._working:
                return
            self._working = True
        threading.Thread(target=self._work, name="gpuscope-ui-work", daemon=True).start()

    def forget(self) -> None:
        """Drop the answer that is awaited."""
        self._token += 1
        self._busy = False
        with self._lock:
            self._pending = None

    def _work(self) -> None:
        try:
            while (job := self._take()) is not None:
                self._answer(*job)
        except BaseException:
            with self._lock:
                self._working = False  # the next request starts a new thread
            raise

    def _take(self) -> tuple[int, Callable[[], Any]] | None:
        with self._lock:
            job, self._pending = self._pending, None
            self._working = job is not None
            return job

    def _answer(self, token: int, function: Callable[[], Any]) -> None:
        result, problem = None, self.tr("This failed unexpectedly; the terminal shows the details.")
        try:
            result, problem = function(), ""
        except GpuscopeError as error:
            problem = str(error)
        finally:
            with contextlib.suppress(RuntimeError):  # the window was closed meanwhile: nobody waits for the answer
                self._done.emit(token, result, problem)

    def _deliver(self, token: int, result: object, problem: str) -> None:
        if token != self._token:
            return
        self._busy = False
        if problem:
            self.failed.emit(problem)
        else:
            self.finished.emit(result)
