"""What the command line understands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from gpuscope import __version__
from gpuscope.cli import (
    advising,
    estimating,
    explaining,
    exporting,
    importing,
    recording,
    running,
    sessions,
    system,
    validating,
)
from gpuscope.errors import UsageError

DESCRIPTION = """\
What does this deep-learning job really use, and which GPU configuration should we buy or rent for it?

Without a command, the window opens."""

EPILOG = """\
examples:
  gpuscope run -o job.gpuscope -- train.py --epochs 3    run a script under the monitors
  gpuscope advise job.gpuscope --deadline 36h --total-steps 500000
  gpuscope report job.gpuscope -o decision.pdf
  gpuscope estimate --params 7B --dtype fp16 --stage inference

`gpuscope COMMAND --help` explains each command."""


class Parser(argparse.ArgumentParser):
    """argparse whose complaints are one sentence, and which splits off the workload's own arguments untouched."""

    def __init__(self, **options: Any) -> None:
        """As argparse's; abbreviated options are refused, because the workload's arguments follow ours."""
        super().__init__(**{"allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        """Refuse, naming the help that explains.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message} (see `{self.prog} --help`).")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse a whole command line.

        Raises:
            UsageError: it is not understood.
        """
        arguments = list(arguments)
        workload: running.WorkloadArguments | None = None
        if arguments[:1] == ["run"]:
            arguments, workload = running.split_workload(arguments)
        if not arguments or arguments[0].endswith(".gpuscope"):
            arguments = ["open", *arguments]
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            raise UsageError(
                f"unrecognized arguments: {' '.join(unknown)} (see `gpuscope {options.command_name} --help`)."
            )
        options.workload = workload
        return options


def build_parser() -> Parser:
    """The parser of all commands; each command's `run` attribute does it."""
    parser = Parser(
        prog="gpuscope", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"gpuscope {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command_name", required=True, parser_class=Parser
    )
    running.add_commands(commands)
    recording.add_commands(commands)
    advising.add_commands(commands)
    estimating.add_commands(commands)
    validating.add_commands(commands)
    explaining.add_commands(commands)
    importing.add_commands(commands)
    exporting.add_commands(commands)
    sessions.add_commands(commands)
    system.add_commands(commands)
    return parser
