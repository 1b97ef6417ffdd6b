"""Sessions of machines that a Prometheus server watches: as they come, or of the past."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gpuscope import __version__
from gpuscope.domain.device import Host
from gpuscope.domain.run import CLUSTER, Manifest, OutcomeKind, RunOutcome
from gpuscope.domain.series import HOST_KEY
from gpuscope.engine import registry
from gpuscope.engine.footprint_import import IMPORTED
from gpuscope.engine.listener import Listener
from gpuscope.engine.supervisor import StopSignals, Supervisor
from gpuscope.errors import UsageError
from gpuscope.sources.prometheus.history import History, read_history
from gpuscope.sources.prometheus.live import PrometheusClient
from gpuscope.sources.prometheus.overview import Overview, look_around
from gpuscope.sources.prometheus.selection import Selection, of_job, parse_matcher
from gpuscope.sources.prometheus.server import Server
from gpuscope.store.writer import SessionWriter, delete_session

JOB_SOUGHT_S = 3600.0
"""A job that is to be watched live has had its GPUs at some time in the last hour."""


@dataclass(frozen=True, slots=True)
class ClusterQuestion:
    """Which GPUs of which server.

    Attributes:
        url: of the server.
        token_file: holds the bearer token; None: no authentication but what the address has.
        job: name of a job of the batch system or of Kubernetes; None: whatever runs.
        matchers: as typed, `label=value`.
    """

    url: str
    token_file: Path | None = None
    job: str | None = None
    matchers: Sequence[str] = field(default=())

    def server(self) -> Server:
        """The server.

        Raises:
            UsageError: the address is none, or the token cannot be read.
        """
        return Server(self.url, None if self.token_file is None else _token(self.token_file))

    def selection(self, server: Server, start_s: float, end_s: float) -> Selection:
        """The GPUs that are meant, in that time.

        Raises:
            UsageError: a matcher is none, or there is no such job.
            SourceError: the server does not answer.
        """
        matchers = tuple(parse_matcher(typed) for typed in self.matchers)
        return Selection(matchers) if self.job is None else of_job(server, self.job, start_s, end_s, matchers)


def look_at_cluster(question: ClusterQuestion, start: datetime, end: datetime) -> Overview:
    """The GPUs that are meant, how busy each was on average, and the jobs: within seconds for thousands of GPUs.

    Raises:
        UsageError, SourceError: see `record_cluster`.
    """
    server = question.server()
    selection = question.selection(server, start.timestamp(), end.timestamp())
    return look_around(server, selection, start.timestamp(), end.timestamp())


def record_cluster(
    path: Path,
    question: ClusterQuestion,
    *,
    seconds: float | None = None,
    interval_s: float | None = None,
    listener: Listener = Listener(),
) -> RunOutcome:
    """Record what the server says as it comes, until the time is up or a signal comes.

    Args:
        path: session file to create.
        question: which GPUs.
        seconds: how long; None: until stopped.
        interval_s: distance of the samples; None: as the server scrapes.
        listener: is told of the start and when the server is away.

    Raises:
        UsageError: what was asked for makes no sense.
        SourceError: the server cannot be reached or has no such GPUs; no file is left.
        SessionError: the file cannot be created or written.
    """
    server, now_s = question.server(), time.time()
    client = PrometheusClient(server, question.selection(server, now_s - JOB_SOUGHT_S, now_s), interval_s)
    with StopSignals() as stop, contextlib.ExitStack() as at_end:
        client.start()
        at_end.callback(client.stop)
        writer = SessionWriter.create(path, _manifest(server.url, client.interval_s, now_s, time.monotonic()))
        registry.remember(path, writer.manifest)
        listener.on_start()
        supervisor = Supervisor(writer, client, listener=listener)
        supervisor.run(stop, deadline_s=None if seconds is None else time.monotonic() + seconds)
        return _close(writer, f"The recording of {server.url} ended.", writer.session_time(time.monotonic()))


def import_cluster(
    path: Path,
    question: ClusterQuestion,
    start: datetime,
    end: datetime,
    *,
    step_s: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> History:
    """Make a session of what the server kept between two moments.

    Args:
        path: session file to create.
        question: which GPUs.
        start: with its zone.
        end: with its zone.
        step_s: distance of the samples; None: as the server scraped, or longer for many GPUs.
        progress: is told the share that is done; to cancel, it raises, and no file is left.

    Raises:
        UsageError, SourceError, SessionError: see `record_cluster`.
    """
    server, start_s, end_s = question.server(), start.timestamp(), end.timestamp()
    if step_s is not None and not step_s > 0:
        raise UsageError(f"--interval {step_s:g} is no distance of samples: give seconds above 0.")
    selection = question.selection(server, start_s, end_s)
    history = read_history(server, selection, start_s, end_s, step_s, progress)
    writer = SessionWriter.create(path, _manifest(server.url, history.step_s, start_s, 0.0))
    try:
        _fill(writer, history, server.url)
        _close(writer, f"Imported: {len(history.devices)} GPUs from {server.url}.", end_s - start_s)
    except BaseException:  # half an import is none
        with contextlib.suppress(Exception):
            writer.abandon()
        delete_session(path)
        raise
    return history


def _fill(writer: SessionWriter, history: History, url: str) -> None:
    start_s = writer.manifest.created_wall_s
    for key, device in history.devices.items():
        writer.add_device(device)
        table = history.gpus[key]
        writer.add_columns(key, table.wall_s - start_s, table.columns, {})
    if len(history.hosts) == 1 and len({device.hostname for device in history.devices.values()}) == 1:
        table = next(iter(history.hosts.values()))
        writer.add_columns(HOST_KEY, table.wall_s - start_s, table.columns, {})
    for name, table in history.hosts.items():
        writer.add_columns(f"{HOST_KEY}:{name}", table.wall_s - start_s, table.columns, {})
    rows = sum(len(table.wall_s) for table in history.gpus.values())
    writer.add_event(0.0, IMPORTED, {"file": f"Prometheus server {url}", "row_count": rows})


def _close(writer: SessionWriter, sentence: str, ended_s: float) -> RunOutcome:
    outcome = RunOutcome(kind=OutcomeKind.RECORDED, sentence=sentence, started_s=0.0, ended_s=ended_s)
    writer.put_document("outcome", outcome)
    writer.close()
    return outcome


def _manifest(url: str, interval_s: float, wall_s: float, monotonic_s: float) -> Manifest:
    return Manifest(
        session_id=uuid.uuid4().hex,
        kind=CLUSTER,
        created_wall_s=wall_s,
        created_monotonic_s=monotonic_s,
        gpuscope_version=__version__,
        host=Host(hostname=url, os="unknown"),
        interval_s=interval_s,
    )


def _token(path: Path) -> str:
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The token in {path} cannot be read: give a text file that holds nothing else.") from error
    if not token or len(token) > 65_536 or not token.isprintable() or " " in token:
        raise UsageError(f"{path} holds no token: give a text file with the token and nothing else.")
    return token
