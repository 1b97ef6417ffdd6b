"""Follow a session file that somebody else writes: what a live view polls, ten times a second."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from gpuscope.domain.device import Device
from gpuscope.domain.events import Event
from gpuscope.domain.run import Manifest, RunOutcome
from gpuscope.domain.sample import Frame
from gpuscope.domain.series import Past
from gpuscope.errors import SessionError
from gpuscope.store.reader import SessionReader, SessionState

FRAMES_A_POLL = 5000
"""A long finished session is handed over in pieces, so that no poll takes long."""


@dataclass(frozen=True, slots=True)
class Update:
    """What is new since the last poll; everything in it is already on disk."""

    past: Past | None = None
    """In the first poll of a long session: all of it but the last minute or so, whose frames follow."""
    path: Path | None = None
    """The session, for whoever wants more detail of its past."""
    frames: list[Frame] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    output: bytes = b""
    devices: list[Device] | None = None
    """All devices known now; None when nothing changed."""
    state: SessionState = SessionState.LIVE
    outcome: RunOutcome | None = None
    """Set in the poll that finds the session ended."""
    notes: tuple[str, ...] = ()
    more: bool = False
    """More is waiting: poll again at once."""


class Follower:
    """Reads a session from its beginning and then what is added to it.

    With `curves`, the older part of a long session comes as coarse curves of these figures; else every frame comes.

    Not thread-safe: create and poll it in one thread.
    """

    def __init__(self, path: Path, curves: Collection[str] = ()) -> None:
        """Open the session.

        Raises:
            SessionError: it cannot be opened.
        """
        self.path = path
        self._reader = SessionReader(path)
        self.manifest: Manifest = self._reader.manifest
        self._frame = self._event = self._output = 0
        self._curves = curves
        self._begun = False
        self._ended = False
        self._state = SessionState.LIVE

    def poll(self) -> Update:
        """What is new. After the session has ended, updates are empty.

        Raises:
            SessionError: the file was taken away.
        """
        state = self._reader.state()
        if state is SessionState.LIVE and self._state is SessionState.INTERRUPTED:
            self._reopen()  # adopted: what was opened as a file that nobody writes is one that grows now
        self._state = state
        past = self._read_past()
        first = not self._frame or past is not None
        read = self._reader.recorded_frames if self._curves else self._reader.frames
        frames = list(read(self._frame, FRAMES_A_POLL))
        events = list(self._reader.events(self._event))
        output = list(self._reader.output(self._output, FRAMES_A_POLL))
        self._frame = frames[-1][0] if frames else self._frame
        self._event = events[-1].seq if events else self._event
        self._output = output[-1][0] if output else self._output
        more = len(frames) == FRAMES_A_POLL or len(output) == FRAMES_A_POLL
        ended = state is not SessionState.LIVE and not more and not frames and not events and not output
        devices = self._reader.devices() if any(frame.devices for _, frame in frames) else None
        if first and (frames or past) and devices is None:
            devices = self._reader.devices() or None  # of an import, whose frames do not say when a device was found
        update = Update(
            past=past,
            path=self.path,
            frames=[frame for _, frame in frames],
            events=events,
            output=b"".join(piece for _, _, piece in output),
            devices=devices,
            state=state,
            outcome=self._reader.document("outcome", RunOutcome) if ended and not self._ended else None,
            notes=tuple(self._reader.notes),
            more=more,
        )
        if state is SessionState.CLOSED and not self._ended:
            self._reopen()  # lets the writer turn the session into one plain file
        # A session whose writer died is over until somebody adopts it and it goes on.
        self._ended = (self._ended or ended) and state is not SessionState.LIVE
        return update

    def _read_past(self) -> Past | None:
        """The past, in the first poll."""
        if self._begun:
            return None
        self._begun = True
        found = self._reader.past(self._curves) if self._curves else None
        if found is None:
            return None
        past, self._frame = found
        return past

    @property
    def reader(self) -> SessionReader:
        """For documents and whole timelines."""
        return self._reader

    def close(self) -> None:
        """Let go of the file."""
        self._reader.close()

    def _reopen(self) -> None:
        self._reader.close()
        with contextlib.suppress(SessionError):
            self._reader = SessionReader(self.path)
