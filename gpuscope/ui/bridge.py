"""The signals by which the thread that follows a session reaches the widgets."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class SessionBridge(QObject):
    """Lives in the window's thread; the follower's thread emits its signals, Qt queues them.

    Connect methods of QObjects only: a plain function would run in the follower's thread.

    Every `updated` has to be answered with `SessionWorker.taken()`, which lets the next one come.
    """

    opened = Signal(object, object)
    """Manifest, Path: the session could be opened."""
    updated = Signal(object)
    """Update: what is new since the last one."""
    loaded = Signal()
    """Everything that was in the file when it was opened has been handed over."""
    progress = Signal(float)
    """Share of a long session that has been handed over so far, 0 to 1."""
    ended = Signal(object)
    """RunOutcome, or None when the session ended without one."""
    failed = Signal(str)
    """One sentence: the session cannot be opened, or was taken away."""
