"""Options of `gpuscope record` for machines that are reached by ssh."""

from __future__ import annotations

import argparse
from pathlib import Path

from gpuscope.cli.streams import say
from gpuscope.domain.run import RunOutcome
from gpuscope.engine.listener import Listener
from gpuscope.engine.record_remote import record_remote
from gpuscope.errors import UsageError


def add_remote_options(parser: argparse.ArgumentParser) -> None:
    """Add them as a group of their own."""
    group = parser.add_argument_group(
        "machines that are reached by ssh",
        "They need python3 (3.9 or later) and a login by key; nothing is installed or left there.",
    )
    group.add_argument(
        "--host", metavar="USER@SERVER", action="append", default=[], help="as for ssh; may be given again"
    )


def record_from_hosts(options: argparse.Namespace, path: Path) -> RunOutcome:
    """Record the machines that were given.

    Raises:
        UsageError, SourceError, SessionError: see `engine.record_remote`.
    """
    if options.pid is not None or options.parent is not None:
        raise UsageError("--pid follows a process of this machine: leave it out with --host.")
    until = "until Ctrl+C" if options.seconds is None else f"for {options.seconds:g} s, or until Ctrl+C"
    machines = " and ".join(options.host)
    outcome = record_remote(
        path,
        options.host,
        seconds=options.seconds,
        interval_s=0.1 if options.interval is None else options.interval,
        keep_s=options.keep,
        listener=Listener(on_start=lambda: say(f"recording {machines} to {path} {until}"), on_notice=say),
    )
    if not options.json:
        say(f"{outcome.sentence} {outcome.ended_s:.1f} s are in {path}")
    return outcome
