"""Frames from a machine that is reached by ssh: what the sampler's client is for this machine."""

from __future__ import annotations

import time
from typing import Any

from gpuscope.domain.device import Host
from gpuscope.domain.sample import Frame, SourceState
from gpuscope.errors import SourceError
from gpuscope.sources.driver import wedged_state
from gpuscope.sources.remote.clock import ClockOffset
from gpuscope.sources.remote.connection import Connection
from gpuscope.sources.remote.failures import sentence_of
from gpuscope.sources.remote.hosts import RemoteHost
from gpuscope.sources.remote.messages import Message, device_of, driver_state, gpu_sample, no_binding_state
from gpuscope.sources.remote.parcel import far_parcel
from gpuscope.sources.ticker import BackOff

SOURCE = "ssh"
PING_S = 5.0
FIRST_PINGS_S = 0.2
"""Until the far clock is settled."""
SILENT_AFTER_S = 30.0
"""The host's figures come every second: a connection without anything for so long is given up."""
HELLO_S = 60.0
"""Within this a slow machine has started a Python."""
HEALTHY_AFTER_S = 60.0
"""A connection that has held so long is made anew after a second when it ends."""
WEDGED_AFTER_S = 5.0
"""A driver call that takes longer will probably not come back."""
WAIT_STEP_S = 0.02


class RemoteClient:
    """A stream of frames that goes on when the connection was cut and is back.

    Use it from one thread. Frames are on this machine's clock.
    """

    def __init__(
        self, host: RemoteHost, interval_s: float, host_interval_s: float = 1.0, *, command: list[str] | None = None
    ) -> None:
        """Nothing is started yet; `command` takes the place of ssh."""
        self.host = host
        self.facts: Host | None = None
        """The machine's own; known once `await_hello` has returned."""
        self._command = command or host.command()
        self._intervals_s = (interval_s, host_interval_s)
        self._parcel = b""
        self._connection: Connection | None = None
        self._back_off = BackOff()
        self._clock = ClockOffset()
        self._waiting: list[Frame] = []
        self._early: list[Message] = []
        self._notes: list[tuple[str, dict[str, Any]]] = []
        self._states: list[SourceState] = []
        self._started_s = self._heard_s = self._next_ping_s = self._last_frame_s = 0.0
        self._greeted = self._wedged = self._cut = False
        self._retry_s = 0.0
        self._gap: tuple[str, float] | None = None

    def start(self) -> None:
        """Connect; `await_hello` says whether it worked.

        Raises:
            SourceError: there is no ssh here.
        """
        self._parcel = far_parcel(*self._intervals_s)
        self._connect(time.monotonic())

    def await_hello(self) -> Host:
        """Wait until the far side has said what machine it is.

        Raises:
            SourceError: it cannot be reached, with what to do.
        """
        while self.facts is None:
            self._waiting += self.poll()
            if self._gap is not None:
                raise SourceError(self._gap[0])
            time.sleep(WAIT_STEP_S)
        return self.facts

    def poll(self) -> list[Frame]:
        """The frames that have come since the last call; never blocks. Looks after the connection as well."""
        now_s = time.monotonic()
        frames, self._waiting = self._waiting, []
        if self._connection is None:
            if now_s >= self._retry_s:
                self._reconnect(now_s)
        else:
            for received_s, message in self._connection.messages():
                frames += self._take(received_s, message)
        if self._connection is not None:
            self._look_after(self._connection, now_s)
        states, self._states = self._states, []
        if states:
            frames.append(Frame(monotonic_s=now_s, wall_s=time.time(), states=tuple(states)))
        return frames

    def notes(self) -> list[tuple[str, dict[str, Any]]]:
        """Drain what happened.

        `sampler_started` {pid, host}, `sampler_replaced` {reason, gap_start_s, gap_end_s, pid, host}, and
        `remote_clock` {host, uncertainty_s, wall_ahead_s} once the far clock is settled.
        """
        notes, self._notes = self._notes, []
        return notes

    def stop(self) -> None:
        """End the far side and wait until ssh is gone; harmless when done twice."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._retry_s = None, float("inf")

    def _connect(self, now_s: float) -> None:
        self._connection = Connection(self._command, self._parcel)
        self._started_s = self._heard_s = now_s
        self._greeted = self._wedged = False
        self._clock, self._early = ClockOffset(), []  # it may have been started again meanwhile

    def _reconnect(self, now_s: float) -> None:
        try:
            self._connect(now_s)
        except SourceError as error:  # such as no more processes: it may pass
            self._cut_off(str(error), now_s)

    def _look_after(self, connection: Connection, now_s: float) -> None:
        if connection.damage is not None:
            self._cut_off(f"What {self.host.name} sent was damaged: {connection.damage}", now_s)
        elif connection.ended():
            self._cut_off(sentence_of(self.host, *connection.last_words()), now_s)
        elif now_s - self._heard_s > (SILENT_AFTER_S if self._greeted else HELLO_S):
            self._cut_off(f"{self.host.name} has not answered for {now_s - self._heard_s:.0f} s.", now_s)
        elif self._greeted and now_s >= self._next_ping_s:
            connection.ping()
            self._next_ping_s = now_s + (PING_S if self._clock.settled else FIRST_PINGS_S)

    def _cut_off(self, sentence: str, now_s: float) -> None:
        """The connection has gone: say so, and plan the next one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._greeted and now_s - self._started_s > HEALTHY_AFTER_S:
            self._back_off.reset()
        self._retry_s = now_s + self._back_off.next_s()
        if self._gap is None:
            self._gap = (sentence, self._last_frame_s or now_s)
        if not self._cut:
            sentence += " It is tried again."
            self._states.append(SourceState(source=SOURCE, ok=False, code="error", sentence=sentence))
        self._cut = True

    def _take(self, received_s: float, message: Message) -> list[Frame]:
        """The frames of a message; those that come before the far clock is known wait for it."""
        self._heard_s = received_s
        if message.hello is not None:
            self._greet(message.hello, message.pid, received_s)
            return []
        if message.pong is not None and message.wall_s is not None:
            return self._learn_clock(received_s, message.pong, message)
        if not self._clock.known:
            self._early.append(message)
            return []
        return self._frames(message)

    def _greet(self, facts: Host, pid: int | None, received_s: float) -> None:
        self.facts = facts
        self._greeted, self._next_ping_s = True, received_s
        if self._cut:
            self._states.append(SourceState(source=SOURCE, ok=True))
        self._cut = False
        if self._gap is None:
            self._notes.append(("sampler_started", {"pid": pid, "host": self.host.name}))
            return
        reason, start_s = self._gap
        self._gap = None
        gap = {"reason": reason, "gap_start_s": start_s, "gap_end_s": received_s, "pid": pid, "host": self.host.name}
        self._notes.append(("sampler_replaced", gap))

    def _learn_clock(self, received_s: float, sent_s: float, message: Message) -> list[Frame]:
        first, settled = not self._clock.known, self._clock.settled
        wall_s = time.time() - (time.monotonic() - received_s)
        far_wall_s = message.wall_s or wall_s
        self._clock.add(sent_s=sent_s, far_s=message.t, received_s=received_s, far_wall_s=far_wall_s, wall_s=wall_s)
        if self._clock.settled and not settled:
            clock = {"uncertainty_s": self._clock.uncertainty_s, "wall_ahead_s": self._clock.wall_ahead_s}
            self._notes.append(("remote_clock", {"host": self.host.name, **clock}))
        if not first:
            return []
        early, self._early = self._early, []
        return [frame for waiting in early for frame in self._frames(waiting)]

    def _frames(self, message: Message) -> list[Frame]:
        """What a message says of GPUs and host, on this machine's clock; damaged ones end the connection."""
        try:
            return [self._frame(message)]
        except (ValueError, TypeError) as error:
            self._cut_off(f"What {self.host.name} sent was damaged: {error}", time.monotonic())
            return []

    def _frame(self, message: Message) -> Frame:
        offset_s = self._clock.offset_s
        at_s = max(self._last_frame_s, message.t + offset_s)  # a better offset must not make time run backwards
        self._last_frame_s = at_s
        name = self.host.name
        devices = None if message.devices is None else tuple(device_of(facts, name) for facts in message.devices)
        return Frame(
            monotonic_s=at_s,
            wall_s=time.time() - (time.monotonic() - at_s),
            gpus=None if message.gpus is None else tuple(gpu_sample(reading, offset_s) for reading in message.gpus),
            host=message.host,
            devices=devices or None,
            states=self._state(message) or None,
        )

    def _state(self, message: Message) -> tuple[SourceState, ...]:
        if message.no_binding:
            return (no_binding_state(),)
        if message.nvml_code is not None:
            return (driver_state(message.nvml_code, has_gpus=bool(message.devices)),)
        busy_s = message.driver_busy_s
        if busy_s is None or (busy_s > WEDGED_AFTER_S) == self._wedged:
            return ()
        self._wedged = not self._wedged
        return (wedged_state(busy_s, 0) if self._wedged else driver_state(0, has_gpus=True),)
