"""`gpuscope run`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gpuscope.advisor.choice.recommend import says_anything
from gpuscope.cli.streams import print_document, say
from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.listener import Listener
from gpuscope.engine.manifest import default_session_name
from gpuscope.engine.predictions import compare, sentence_of, why_not_compared
from gpuscope.engine.profile import profile
from gpuscope.engine.session import open_session
from gpuscope.errors import GpuscopeError, UsageError
from gpuscope.runner.command import plan_launch

STOPPED = 130
VALUE_OPTIONS = ("-o", "--output", "--python", "--cwd", "--env", "--interval", "--total-steps")


class WorkloadArguments(NamedTuple):
    """The part of the command line that belongs to the workload."""

    target: str | None
    """module when `-m` was given; None: find out whether it is a script or a command"""
    args: list[str]


def split_workload(arguments: list[str]) -> tuple[list[str], WorkloadArguments]:
    """Split `run OPTIONS [--] TARGET ARGS` or `run OPTIONS -m MODULE ARGS` in front of the target.

    The workload's own arguments are never looked at, so they may be anything.
    """
    position = 1
    while position < len(arguments):
        word = arguments[position]
        if word == "--":
            rest = arguments[position + 1 :]
            if rest[:1] == ["-m"]:
                return arguments[:position], WorkloadArguments("module", rest[1:])
            return arguments[:position], WorkloadArguments(None, rest)
        if word in {"-m", "--module"}:
            return arguments[:position], WorkloadArguments("module", arguments[position + 1 :])
        if not word.startswith("-"):
            return arguments[:position], WorkloadArguments(None, arguments[position:])
        position += 2 if word in VALUE_OPTIONS else 1
    return arguments, WorkloadArguments(None, [])


def add_commands(commands: Any) -> None:
    """Add `run`."""
    parser = commands.add_parser(
        "run",
        help="run a script, module or command under the monitors",
        description="Run a workload, unchanged, and write everything about it into a session file.",
        usage="gpuscope run [-o FILE] [options] [--] SCRIPT|COMMAND [ARGS...]\n"
        "       gpuscope run [-o FILE] [options] -m MODULE [ARGS...]",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="session file to create (default: a new name here)"
    )
    parser.add_argument("--python", metavar="PATH", help="interpreter (default: one that has torch is looked for)")
    parser.add_argument("--cwd", metavar="DIR", help="folder to run in (default: this one)")
    parser.add_argument(
        "--env", metavar="NAME=VALUE", action="append", default=[], help="set an environment variable; repeatable"
    )
    parser.add_argument(
        "--interval", metavar="S", type=float, default=0.1, help="seconds between fast GPU samples (default 0.1)"
    )
    parser.add_argument("--total-steps", metavar="N", type=_steps, help="how many steps the run has, for its progress")
    parser.add_argument(
        "--no-profile", action="store_true", help="do not look at one step's operators with torch's profiler"
    )
    parser.add_argument(
        "--command", action="store_true", help="take the target as a command even if such a file exists"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON at the end, on standard error")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    target, args = options.workload
    if not args:
        raise UsageError("Say what to run: gpuscope run -o job.gpuscope -- train.py ARGS (see `gpuscope run --help`).")
    plan = plan_launch(
        args,
        target=target or ("command" if options.command else None),
        python=options.python,
        cwd=options.cwd,
        environment=_environment(options.env),
        profile=not options.no_profile,
        total_steps=options.total_steps,
    )
    path = options.output or default_session_name(Path.cwd(), Path(args[0]).stem)
    outcome = profile(
        path,
        plan,
        interval_s=options.interval,
        listener=Listener(
            on_start=lambda: say(" ".join(filter(None, [f"recording to {path}.", plan.spec.interpreter_note]))),
            on_output=_Screen().show,
            on_notice=say,
        ),
    )
    say(outcome.sentence)
    if path.exists():
        for sentence in _afterwords(path):
            say(sentence)
    else:
        say(f"{path} was moved or deleted during the run: advise, report and open need its new name.")
    if options.json:
        with contextlib.suppress(OSError):
            print_document(outcome, sys.stderr)
    return _status(outcome)


def _afterwords(path: Path) -> Iterator[str]:
    """What had been predicted for this run, and what to do next: advice, where the session holds what it is made of."""
    try:
        with open_session(path) as reader:
            footprint = footprint_of(reader)
            comparison = compare(reader.manifest, footprint)
            obstacle = why_not_compared(reader.manifest, footprint)
    except GpuscopeError:
        yield f"next: gpuscope advise {path}"  # which says what is wrong with the session
        return
    if comparison is not None:
        yield sentence_of(comparison)
    if obstacle:
        yield obstacle
    if says_anything(footprint):
        yield f"next: gpuscope advise {path}"
    else:
        yield f"no training step was seen, so there is nothing to advise on; next: gpuscope footprint {path}"


def _environment(pairs: list[str]) -> dict[str, str]:
    environment = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--env {pair!r} is not NAME=VALUE.")
        environment[name] = value
    return environment


def _steps(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of steps: give a whole number above 0")
    return int(text)


def _status(outcome: RunOutcome) -> int:
    if outcome.kind is OutcomeKind.STOPPED:
        return STOPPED
    if outcome.signal is not None:
        return 128 + outcome.signal
    return 1 if outcome.exit_status is None else outcome.exit_status


class _Screen:
    """Standard output for the workload's bytes; a terminal that went away does not end the run."""

    def __init__(self) -> None:
        self._gone = False

    def show(self, piece: bytes) -> None:
        if not self._gone:
            try:
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
            except OSError:
                self._gone = True
