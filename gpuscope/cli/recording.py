"""`gpuscope record`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from gpuscope.cli.arguments import duration
from gpuscope.cli.cluster_options import add_cluster_options, record_from_server, refuse_without_server
from gpuscope.cli.remote_options import add_remote_options, record_from_hosts
from gpuscope.cli.streams import print_document, say
from gpuscope.engine.listener import Listener
from gpuscope.engine.manifest import default_session_name
from gpuscope.engine.record import record
from gpuscope.errors import UsageError


def add_commands(commands: Any) -> None:
    """Add `record`."""
    parser = commands.add_parser(
        "record",
        help="record the machine, or a process that already runs",
        description="Record GPUs and host into a session file until Ctrl+C, or for a time.",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="session file to create (default: a new name here)"
    )
    parser.add_argument("--seconds", metavar="N", type=float, help="stop after this time (default: at Ctrl+C)")
    parser.add_argument(
        "--interval", metavar="S", type=float, help="seconds between samples (default: 0.1; of a server: as it scrapes)"
    )
    parser.add_argument(
        "--keep", metavar="TIME", type=duration, help="keep only about this much of the end, as in 2h (default: all)"
    )
    parser.add_argument("--pid", metavar="N", type=int, help="follow this process and its children; ends with it")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON at the end")
    parser.add_argument("--parent", metavar="PID", type=int, help=argparse.SUPPRESS)
    add_remote_options(parser)
    add_cluster_options(parser)
    parser.set_defaults(run=_record)


def _record(options: argparse.Namespace) -> int:
    path = options.output or default_session_name(Path.cwd(), "record")
    if options.prometheus is not None:
        return _record_cluster(options, path)
    refuse_without_server(options)
    if options.host:
        outcome = record_from_hosts(options, path)
        if options.json:
            print_document(outcome, sys.stdout)
        return 0
    until = "until Ctrl+C" if options.seconds is None else f"for {options.seconds:g} s, or until Ctrl+C"
    outcome = record(
        path,
        seconds=options.seconds,
        interval_s=0.1 if options.interval is None else options.interval,
        pid=options.pid,
        parent_pid=options.parent,
        keep_s=options.keep,
        listener=Listener(on_start=lambda: say(f"recording to {path} {until}"), on_notice=say),
    )
    if options.json:
        print_document(outcome, sys.stdout)
    else:
        say(f"{outcome.sentence} {outcome.ended_s:.1f} s are in {path}")
    return 0


def _record_cluster(options: argparse.Namespace, path: Path) -> int:
    if options.pid is not None:
        raise UsageError("--pid follows a process of this machine: leave it out with --prometheus.")
    if options.host:
        raise UsageError("--host and --prometheus are two ways to the same machines: give one of them.")
    if options.keep is not None:
        raise UsageError("--keep is for recordings of this machine: leave it out with --prometheus.")
    outcome = record_from_server(options, path)
    if options.json and outcome is not None:
        print_document(outcome, sys.stdout)
    return 0
