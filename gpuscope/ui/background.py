"""Work that takes longer than a frame, done beside the window; only the newest answer is delivered."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from gpuscope.errors import GpuscopeError

LOOK_MS = 15
"""While an answer is awaited, the window's thread looks for it this often.

Looking, instead of emitting a signal from the other thread: the window may be closed while that thread works, and an
emit on an object that is just being deleted ends the whole process.
"""


class Newest(QObject):
    """Runs functions one after another in a thread of its own; what was overtaken by a newer request is dropped.

    The functions must not touch widgets. `finished` and `failed` arrive in the thread that created this object.
    """

    finished = Signal(object)
    """The newest function's result."""
    failed = Signal(str)
    """The newest function's failure as a sentence."""

    def __init__(self, parent: QObject | None = None) -> None:
        """No thread runs until something is asked for."""
        super().__init__(parent)
        self._work = _Work(self.tr("This failed unexpectedly; the terminal shows the details."))
        self._look = QTimer(self, interval=LOOK_MS)
        self._look.timeout.connect(self._deliver)
        self._token = 0

    @property
    def busy(self) -> bool:
        """True while an answer is awaited."""
        return self._look.isActive()

    def submit(self, function: Callable[[], Any]) -> None:
        """Ask for `function()`; an earlier request that has not been answered is forgotten.

        Raises:
            TypeError: the function holds a Qt object. Were it the last to do so, that object would be destroyed in
                the other thread, which ends the process.
        """
        if _holds_qt_object(function):
            raise TypeError(f"{function} holds a Qt object: hand it what it needs instead.")
        self._token += 1
        self._work.put(self._token, function)
        self._look.start()

    def forget(self) -> None:
        """Drop the answer that is awaited."""
        self._token += 1
        self._work.clear()
        self._look.stop()

    def _deliver(self) -> None:
        for token, result, problem in self._work.answers():
            if token != self._token:
                continue
            self._look.stop()
            if problem:
                self.failed.emit(problem)
            else:
                self.finished.emit(result)


def _holds_qt_object(function: Any) -> bool:
    """Whether a function is a Qt object's method, or has one among what it closes over or was given."""
    if isinstance(function, partial):
        held = [function.func, *function.args, *function.keywords.values()]
        return any(_holds_qt_object(part) for part in held)
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return any(isinstance(held, QObject) for held in (function, getattr(function, "__self__", None), *cells))


class _Work:
    """One request waiting, one being worked on, and the answers; knows nothing of Qt, so it may outlive the window."""

    def __init__(self, unexpected: str) -> None:
        self._unexpected = unexpected
        self._lock = threading.Lock()
        self._pending: tuple[int, Callable[[], Any]] | None = None
        self._working = False
        self._answers: queue.SimpleQueue[tuple[int, Any, str]] = queue.SimpleQueue()

    def put(self, token: int, function: Callable[[], Any]) -> None:
        with self._lock:
            self._pending = (token, function)
            if self._working:
                return
            self._working = True
        threading.Thread(target=self._run, name="gpuscope-ui-work", daemon=True).start()

    def clear(self) -> None:
        with self._lock:
            self._pending = None

    def answers(self) -> list[tuple[int, Any, str]]:
        found = []
        while not self._answers.empty():
            found.append(self._answers.get_nowait())
        return found

    def _run(self) -> None:
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
        result, problem = None, self._unexpected
        try:
            result, problem = function(), ""
        except GpuscopeError as error:
            problem = str(error)
        finally:
            self._answers.put((token, result, problem))
