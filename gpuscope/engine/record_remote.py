"""Sessions of machines that are reached by ssh: the sampler runs there, the session grows here."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gpuscope import __version__
from gpuscope.domain.device import Host
from gpuscope.domain.run import CLUSTER, Manifest, OutcomeKind, RunOutcome
from gpuscope.domain.sample import Frame, HostSample, SourceState
from gpuscope.domain.sample_fields import HOST_FIGURES
from gpuscope.domain.series import HOST_KEY
from gpuscope.engine import registry
from gpuscope.engine.listener import Listener
from gpuscope.engine.record import check_limits
from gpuscope.engine.supervisor import StopSignals, Supervisor
from gpuscope.sources.remote.client import RemoteClient
from gpuscope.sources.remote.hosts import parse_hosts
from gpuscope.store.writer import SessionWriter

HOSTS_WRITTEN_EVERY_S = 10.0
"""Figures of several hosts are written as columns, so many at a time: short columns take much more room."""


def record_remote(
    path: Path,
    typed: Sequence[str],
    *,
    seconds: float | None = None,
    interval_s: float = 0.1,
    keep_s: float | None = None,
    listener: Listener = Listener(),
) -> RunOutcome:
    """Record other machines until the time is up or a signal comes.

    Args:
        path: session file to create, here.
        typed: the machines as for ssh.
        seconds: how long; None: until stopped.
        interval_s: distance of the fast GPU samples; the hosts are sampled once a second.
        keep_s: about how much of the end is kept; None: everything.
        listener: is told of the start and of connections that are cut.

    Raises:
        UsageError: an argument is out of range, or a name is none of a machine.
        SourceError: a machine cannot be reached; no file is left.
        SessionError: the file cannot be created or written.
    """
    check_limits(interval_s, seconds, keep_s)
    clients = [RemoteClient(host, interval_s) for host in parse_hosts(list(typed))]
    with StopSignals() as stop, contextlib.ExitStack() as at_end:
        fleet = Fleet(clients)
        at_end.callback(fleet.stop)
        fleet.start()
        writer = SessionWriter.create(path, _manifest(clients, interval_s, keep_s))
        registry.remember(path, writer.manifest)
        fleet.write_to(writer)
        listener.on_start()
        supervisor = Supervisor(writer, fleet, listener=listener)
        supervisor.run(stop, deadline_s=None if seconds is None else time.monotonic() + seconds)
        fleet.flush()
        return _close(writer, ", ".join(client.host.name for client in clients))


class Fleet:
    """Several machines as one source of frames.

    Of one machine, the host's figures are the session's own; of several, each machine's go to `host:NAME`.
    """

    def __init__(self, clients: Sequence[RemoteClient]) -> None:
        """Nothing is started yet."""
        self._clients = clients
        self._writer: SessionWriter | None = None
        self._hosts: dict[str, list[tuple[float, HostSample]]] = {}
        self._written_s = time.monotonic()
        self._machine_of: dict[str, str] = {}

    def write_to(self, writer: SessionWriter) -> None:
        """Where figures of several hosts go, which frames have no room for."""
        self._writer = writer

    def start(self) -> None:
        """Connect to all at once and wait for all.

        Raises:
            SourceError: one cannot be reached.
        """
        for client in self._clients:
            client.start()
        for client in self._clients:
            client.await_hello()

    def poll(self) -> list[Frame]:
        """The frames that have come, in the order of their times."""
        frames = [self._own(client.host.name, frame) for client in self._clients for frame in client.poll()]
        if time.monotonic() - self._written_s >= HOSTS_WRITTEN_EVERY_S:
            self.flush()
        return sorted(frames, key=lambda frame: frame.monotonic_s)

    def notes(self) -> list[tuple[str, dict[str, Any]]]:
        """What happened to all of them."""
        return [note for client in self._clients for note in client.notes()]

    def stop(self) -> None:
        """End all far sides."""
        for client in self._clients:
            client.stop()

    def flush(self) -> None:
        """Write the hosts' figures that have been kept so far."""
        self._written_s = time.monotonic()
        hosts, self._hosts = self._hosts, {}
        for name, samples in hosts.items():
            self._write(f"{HOST_KEY}:{name}", samples)

    def _write(self, key: str, samples: list[tuple[float, HostSample]]) -> None:
        if self._writer is None:
            return
        columns = {}
        for field in HOST_FIGURES:
            values = np.array([getattr(sample, field) for _, sample in samples], dtype=np.float64)  # None becomes NaN
            if not np.isnan(values).all():
                columns[field] = values
        times_s = np.array([self._writer.session_time(at_s) for at_s, _ in samples])
        reasons = {name: why for _, sample in samples for name, why in sample.unavailable.items() if name in columns}
        self._writer.add_columns(key, times_s, columns, reasons)

    def _own(self, name: str, frame: Frame) -> Frame:
        """A frame as it goes into the session: states say of which machine, GPUs belong to one machine only."""
        states = tuple(self._named(name, state) for state in frame.states or ())
        for device in frame.devices or ():
            if self._machine_of.setdefault(device.uuid, name) != name:
                states += (_twice(name, device.name, self._machine_of[device.uuid]),)
        devices = tuple(device for device in frame.devices or () if self._machine_of[device.uuid] == name)
        gpus = tuple(gpu for gpu in frame.gpus or () if self._machine_of.get(gpu.uuid) == name)
        host = frame.host
        if host is not None and len(self._clients) > 1:
            self._hosts.setdefault(name, []).append((frame.monotonic_s, host))
            host = None
        return msgspec.structs.replace(
            frame, states=states or None, devices=devices or None, gpus=gpus or None, host=host
        )

    def _named(self, name: str, state: SourceState) -> SourceState:
        source = state.source if len(self._clients) == 1 else f"{state.source}:{name}"
        about = f"{name}: {state.sentence}" if state.sentence and name not in state.sentence else state.sentence
        return msgspec.structs.replace(state, source=source, sentence=about)


def _twice(name: str, gpu: str, other: str) -> SourceState:
    sentence = f"{name} shows the same {gpu} as {other}: it is the same machine; the GPU is recorded once."
    return SourceState(source=f"same:{name}", ok=False, code="error", sentence=sentence)


def _manifest(clients: Sequence[RemoteClient], interval_s: float, keep_s: float | None) -> Manifest:
    known = [client.facts for client in clients if client.facts is not None]
    names = ", ".join(client.host.name for client in clients)
    return Manifest(
        session_id=uuid.uuid4().hex,
        kind="record" if len(clients) == 1 else CLUSTER,
        created_wall_s=time.time(),
        created_monotonic_s=time.monotonic(),
        gpuscope_version=__version__,
        host=known[0] if len(clients) == 1 else Host(hostname=names, os="unknown"),
        interval_s=interval_s,
        keep_s=keep_s,
    )


def _close(writer: SessionWriter, names: str) -> RunOutcome:
    ended_s = writer.session_time(time.monotonic())
    sentence = f"The recording of {names} ended."
    outcome = RunOutcome(kind=OutcomeKind.RECORDED, sentence=sentence, started_s=0.0, ended_s=ended_s)
    writer.put_document("outcome", outcome)
    writer.close()
    return outcome
