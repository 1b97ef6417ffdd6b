"""The one loop that writes a session: sampler frames, workload output and probe events go to disk as they come."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Self

from gpuscope.domain.events import SUPERVISOR
from gpuscope.domain.sample import SourceState
from gpuscope.engine.frame_source import FrameSource
from gpuscope.engine.listener import Listener
from gpuscope.runner.process import Workload
from gpuscope.runner.tail import FileTail, JsonLinesTail
from gpuscope.store.reader import SessionReader
from gpuscope.store.schema import run_folder
from gpuscope.store.writer import SessionWriter

TICK_S = 0.05
"""Output and frames reach the file this often; a viewer looks ten times a second."""
REMEMBERED_LINES = 40
STOP_FILE = "stop"
TOPOLOGY = "topology"
"""The document with the last `Topology` that the sampler told."""
GAP_TIMES = ("gap_start_s", "gap_end_s")
"""The sampler's client tells them in the monotonic clock."""
ENDING_KINDS = frozenset({"exception", "out_of_memory", "exit"})


class StopSignals:
    """Counts interrupt and terminate signals while it is installed, and ignores a terminal that goes away."""

    def __init__(self) -> None:
        """Install with `with`; only the main thread may."""
        self.count = 0
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        """Install the handlers."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._handle)
            if hasattr(signal, "SIGHUP"):
                # Not SIG_IGN, which the workload would inherit.
                self._previous[signal.SIGHUP] = signal.signal(signal.SIGHUP, lambda _number, _frame: None)
        return self

    def __exit__(self, *_: object) -> None:
        """Put the old handlers back."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


class Supervisor:
    """Feeds one session file until its workload has ended, or it is told to stop.

    Attributes:
        writer: where everything goes.
        last_lines: the last lines of the workload's output.
    """

    def __init__(
        self,
        writer: SessionWriter,
        sampler: FrameSource | None,
        workload: Workload | None = None,
        listener: Listener = Listener(),
    ) -> None:
        """Take over an open writer and started sampler and workload."""
        self.writer = writer
        self._ending_events: list[tuple[str, dict[str, Any]]] = []
        self.last_lines: deque[str] = deque(maxlen=REMEMBERED_LINES)
        self._sampler = sampler
        self._workload = workload
        self._listener = listener
        self._noticed: dict[str, str] = {}
        self._folder = run_folder(writer.path)
        self._output = FileTail(self._folder / "output.log", offset=int(writer.get_meta("output_offset", 0)))
        self._probe = JsonLinesTail(self._folder, offsets=dict(writer.get_meta("probe_offsets", {})))
        self._partial_line = b""
        self._earlier = self._read_earlier()

    def run(
        self, stop: StopSignals, *, deadline_s: float | None = None, watched: Callable[[], bool] | None = None
    ) -> None:
        """Work until the workload ended, the deadline (monotonic) passed, `watched` is False, or a stop was asked for.

        With a workload, a stop asks it to end, and the loop goes on until it did; a second signal is more forceful.

        Raises:
            SessionError: the session cannot be written any more.
        """
        handled = 0
        while True:
            now = time.monotonic()
            self.tick(now)
            if self._workload is None:
                if stop.count or self._stop_requests() or (deadline_s is not None and now >= deadline_s):
                    return
                if watched is not None and not watched():
                    return
            else:
                if self._workload.poll() is not None:
                    return
                handled = self._pass_on_stop(now, stop, handled)
                self._workload.advance(now)
            time.sleep(TICK_S)

    def tick(self, now: float) -> None:
        """Move everything that is there to the session and commit."""
        if self._sampler is not None:
            for frame in self._sampler.poll():
                self.writer.add_frame(frame)
                self._notice(frame.states or ())
                if frame.topology is not None:
                    self.writer.put_document(TOPOLOGY, frame.topology)
                for event in frame.events or ():
                    self.writer.add_event(event.monotonic_s, event.kind, event.facts())
            for kind, data in self._sampler.notes():
                self.writer.add_event(now, kind, self._in_session_time(data))
        self.drain(now)
        self.writer.commit()
        self.writer.compact()

    def drain(self, now: float, *, final: bool = False) -> bool:
        """Move output and probe events to the session, not yet committed; False when there was nothing.

        Args:
            now: monotonic seconds.
            final: the workload has ended: an event line without its end is not waited for.
        """
        piece = self._output.read()
        if piece:
            self.writer.add_output(now, piece)
            self.writer.put_meta("output_offset", self._output.offset)
            self._remember_lines(piece)
            self._listener.on_output(piece)
        records = self._probe.read(final=final)
        for source, fields in records:
            data = {key: value for key, value in fields.items() if key not in {"t", "kind"}}
            t = fields.get("t")
            event_s = float(t) if isinstance(t, (int, float)) and math.isfinite(t) else now
            self.writer.add_event(event_s, str(fields.get("kind", "unknown")), data, source)
            if fields.get("kind") in ENDING_KINDS:
                self._ending_events.append((source, fields))
        if records:
            self.writer.put_meta("probe_offsets", self._probe.offsets)
        return bool(piece or records)

    def drain_all(self, at: float | None = None) -> None:
        """Everything that the ended workload left.

        Args:
            at: monotonic time to note for output; None: the present. Given when nobody knows when it was printed.
        """
        while self.drain(time.monotonic() if at is None else at):
            self.writer.commit()
        self.drain(time.monotonic() if at is None else at, final=True)
        self.writer.commit()

    def probe_events(self) -> list[tuple[str, dict[str, Any]]]:
        """The probe's events that say how a process ended, as (source, fields); earlier supervisors' included."""
        return [*self._earlier, *self._ending_events]

    def _notice(self, states: Sequence[SourceState]) -> None:
        """Pass on what a source says of itself, once for each change."""
        for state in states:
            before, self._noticed[state.source] = self._noticed.get(state.source, ""), state.sentence
            if state.sentence and state.sentence != before:
                self._listener.on_notice(state.sentence)

    def note(self, kind: str, **data: Any) -> None:
        """Add a supervisor event."""
        self.writer.add_event(time.monotonic(), kind, data, SUPERVISOR)

    def _pass_on_stop(self, now: float, stop: StopSignals, handled: int) -> int:
        assert self._workload is not None
        wanted = max(stop.count, self._stop_requests())
        if wanted > handled:
            self.note("stop_requested", how="again" if handled else "asked")
            self._workload.request_stop(now)
        return max(wanted, handled)

    def _in_session_time(self, data: dict[str, Any]) -> dict[str, Any]:
        gap: dict[str, Any] = {name: self.writer.session_time(data[name]) for name in GAP_TIMES if name in data}
        return {**data, **gap}

    def _read_earlier(self) -> list[tuple[str, dict[str, Any]]]:
        """What a supervisor that died had already written to the session."""
        with contextlib.closing(SessionReader(self.writer.path)) as reader:
            for _, _, piece in reader.output():
                self._remember_lines(piece)
            return [
                (event.source, {"kind": event.kind, **event.data})
                for event in reader.events()
                if event.kind in ENDING_KINDS
            ]

    def _stop_requests(self) -> int:
        """How often somebody asked through the stop file: a line each."""
        try:
            return (self._folder / STOP_FILE).read_bytes().count(b"\n")
        except OSError:
            return 0

    def _remember_lines(self, piece: bytes) -> None:
        *lines, self._partial_line = (self._partial_line + piece).split(b"\n")
        self._partial_line = self._partial_line[-4096:]
        self.last_lines.extend(line.decode("utf-8", "replace")[-4096:] for line in lines if line.strip())

    @property
    def last_output(self) -> tuple[str, ...]:
        """The last lines, with one that lacks its newline."""
        rest = self._partial_line.decode("utf-8", "replace").strip()
        return (*self.last_lines, rest)[-REMEMBERED_LINES:] if rest else tuple(self.last_lines)
