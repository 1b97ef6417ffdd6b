"""The thread that follows a session file for the window."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gpuscope.engine.follow import Follower, Update
from gpuscope.engine.session import open_session
from gpuscope.errors import SessionError
from gpuscope.store.reader import SessionState
from gpuscope.ui.bridge import SessionBridge
from gpuscope.ui.monitor_model import PLOTTED_FIELDS

POLL_INTERVAL_S = 0.1
UNWATCHED_INTERVAL_S = 1.0
"""While nobody can see the window; state and output are still noticed in time to say so."""
SAMPLES_A_PIECE = 400
"""Samples of GPUs, and of the host, handed over at once: the window takes them in a few milliseconds."""
EVENTS_A_PIECE = 1000


class SessionWorker(threading.Thread):
    """Reads a session from its beginning, then what is added ten times a second, until it has ended."""

    def __init__(self, path: Path, bridge: SessionBridge) -> None:
        """Not started yet; `bridge` is closed to stop it."""
        super().__init__(name="gpuscope-follow", daemon=True)
        self._path = path
        self._bridge = bridge
        self._watched = True

    def set_watched(self, *, watched: bool) -> None:
        """Whether somebody can see what is followed; may be called from any thread."""
        self._watched = watched

    def run(self) -> None:
        """Follow; every failure reaches the window as one sentence."""
        try:
            open_session(self._path).close()  # completes what an interrupted run left behind
            with contextlib.closing(Follower(self._path, PLOTTED_FIELDS)) as follower:
                if self._bridge.post("opened", follower.manifest, self._path):
                    self._follow(follower)
        except SessionError as error:
            self._bridge.post("failed", str(error))

    def _follow(self, follower: Follower) -> None:
        zero = follower.manifest.created_monotonic_s
        loading = True
        while not self._bridge.wait_closed(0):
            update = follower.poll()
            for piece in pieces(update):
                self._bridge.post("updated", piece)
            if update.more:
                if update.frames:
                    self._bridge.post("progress", update.frames[-1].monotonic_s - zero)
                continue
            if loading:
                loading = False
                self._bridge.post("loaded")
            if _has_ended(update):
                self._bridge.post("ended", update.outcome)
                return
            if self._bridge.wait_closed(POLL_INTERVAL_S if self._watched else UNWATCHED_INTERVAL_S):
                return

    def stop(self) -> None:
        """Let nothing more through, and end at the next occasion; does not wait."""
        self._bridge.close()


def pieces(update: Update) -> Iterator[Update]:
    """An update in parts that the window takes in a few milliseconds each; nothing at all when it holds nothing new."""
    if not (update.past or update.frames or update.events or update.output or update.notes or update.outcome):
        return
    frames, devices, past = update.frames, update.devices, update.past
    gpus = max((len(frame.gpus or ()) for frame in frames[-1:]), default=0)
    size = max(1, SAMPLES_A_PIECE // (1 + gpus))
    for start in range(0, len(frames) - size, size):
        yield Update(
            past=past, path=update.path, frames=frames[start : start + size], devices=devices, state=update.state,
            more=True,
        )  # fmt: skip
        devices, past = None, None
    last = (len(frames) - 1) // size * size if frames else 0
    events = update.events
    last_event = (len(events) - 1) // EVENTS_A_PIECE * EVENTS_A_PIECE if events else 0
    for start in range(0, last_event, EVENTS_A_PIECE):
        yield Update(events=events[start : start + EVENTS_A_PIECE], state=update.state, more=True)
    yield replace(update, frames=frames[last:], events=events[last_event:], devices=devices, past=past)


def _has_ended(update: Update) -> bool:
    nothing_new = not (update.more or update.frames or update.events or update.output)
    return update.state is not SessionState.LIVE and nothing_new
