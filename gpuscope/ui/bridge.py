"""The way from the thread that follows a session to the widgets."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, Qt, Signal

POSTED_AT_MOST = 2
"""Updates on their way at once: a long session does not pile up in the event queue."""


class SessionBridge(QObject):
    """Carries what a follower finds into the window's thread, in order.

    All public signals are emitted in the thread that created the bridge; after `close` none is.
    """

    opened = Signal(object, object)
    """Manifest, Path: the session could be opened."""
    updated = Signal(object)
    """Update: what is new since the last one."""
    progress = Signal(float)
    """A long session is being read: session seconds handed over so far."""
    loaded = Signal()
    """Everything that was in the file when it was opened has been handed over."""
    ended = Signal(object)
    """RunOutcome, or None when the session has none."""
    failed = Signal(str)
    """One sentence: the session cannot be opened, or was taken away."""
    _arrived = Signal(str, tuple)

    def __init__(self, parent: QObject | None = None) -> None:
        """Open until `close`."""
        super().__init__(parent)
        self._room = threading.Semaphore(POSTED_AT_MOST)
        self._closed = threading.Event()
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def post(self, signal: str, *arguments: object) -> bool:
        """Hand over one of the public signals by name; for the follower's thread.

        Waits while the window is behind. Returns False once the bridge is closed.
        """
        while not self._room.acquire(timeout=0.1):
            if self._closed.is_set():
                return False
        if self._closed.is_set():
            return False
        self._arrived.emit(signal, arguments)
        return True

    def close(self) -> None:
        """Let nothing through any more, not even what is on its way."""
        self._closed.set()

    def wait_closed(self, seconds: float) -> bool:
        """Sleep in the follower's thread; True as soon as the bridge is closed."""
        return self._closed.wait(seconds)

    def _deliver(self, signal: str, arguments: tuple[object, ...]) -> None:
        try:
            if not self._closed.is_set():
                getattr(self, signal).emit(*arguments)
        finally:
            self._room.release()
