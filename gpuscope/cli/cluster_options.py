"""Options of `gpuscope record` for machines that a Prometheus server watches."""

from __future__ import annotations

import argparse
from datetime import datetime
from functools import partial
from pathlib import Path

from gpuscope.cli.progress_line import ProgressLine
from gpuscope.cli.streams import say
from gpuscope.domain.when import parse_moment
from gpuscope.engine.listener import Listener
from gpuscope.engine.record_cluster import ClusterQuestion, import_cluster, record_cluster
from gpuscope.errors import UsageError


def add_cluster_options(parser: argparse.ArgumentParser) -> None:
    """Add them as a group of their own."""
    group = parser.add_argument_group(
        "machines that a Prometheus server watches (dcgm-exporter, node-exporter)",
        "Live, or with --from and --to what it kept of the past.",
    )
    group.add_argument("--prometheus", metavar="URL", help="the server, such as http://prometheus:9090")
    group.add_argument(
        "--from", metavar="TIME", dest="start", help="'2026-11-24 14:00', 'tuesday 14:00', 'yesterday 9:00', '6h ago'"
    )
    group.add_argument("--to", metavar="TIME", dest="end", help="the same (default: now)")
    group.add_argument("--job", metavar="NAME", help="only the GPUs of this Slurm job, pod or namespace")
    group.add_argument(
        "--match",
        metavar="LABEL=VALUE",
        action="append",
        default=[],
        help="only GPUs with this label: Hostname=node7, 'pod=~train-.*'; may be given again",
    )
    group.add_argument("--token-file", metavar="FILE", type=Path, help="holds a bearer token for the server")


def record_from_server(options: argparse.Namespace, path: Path) -> object:
    """Record from the server, live or of the past.

    Returns:
        The document to print for --json.

    Raises:
        UsageError, SourceError, SessionError: see `engine.record_cluster`.
    """
    question = ClusterQuestion(options.prometheus, options.token_file, options.job, options.match)
    if options.start is None:
        _refuse(options, "end", "--to")
        return record_cluster(
            path,
            question,
            seconds=options.seconds,
            interval_s=options.interval,
            listener=Listener(on_start=lambda: say(f"recording to {path}"), on_notice=say),
        )
    _refuse(options, "seconds", "--seconds")
    now = datetime.now().astimezone()
    start = parse_moment(options.start, now)
    end = now if options.end is None else parse_moment(options.end, now)
    with ProgressLine() as line:
        asking = partial(line.tell, "asking the server")
        history = import_cluster(path, question, start, end, step_s=options.interval, progress=asking)
    hosts = {device.hostname for device in history.devices.values()}
    say(f"{len(history.devices)} GPUs of {len(hosts)} machines, every {history.step_s:g} s, are in {path}")
    return None


def refuse_without_server(options: argparse.Namespace) -> None:
    """Refuse options that only a server understands.

    Raises:
        UsageError: one was given.
    """
    for name, option in (("start", "--from"), ("end", "--to"), ("job", "--job"), ("match", "--match")):
        if getattr(options, name):
            raise UsageError(f"{option} is for --prometheus: give the server's address with it.")


def _refuse(options: argparse.Namespace, name: str, option: str) -> None:
    if getattr(options, name) is not None:
        other = "goes with --from" if name == "end" else "is for live recordings: leave it out with --from"
        raise UsageError(f"{option} {other}.")
