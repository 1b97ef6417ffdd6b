"""The command line: `gpuscope COMMAND`."""

from __future__ import annotations

import sys
from pathlib import Path

from gpuscope.cli.parser import build_parser
from gpuscope.cli.streams import LOST_OUTPUT, drop_output, prepare_streams, shown
from gpuscope.engine.profile import adopt
from gpuscope.errors import GpuscopeError, UsageError

INTERRUPTED = 130
"""128 + SIGINT, as shells say it."""


def main(arguments: list[str]) -> int:
    """Run one command; an expected failure is one sentence on standard error.

    Args:
        arguments: what follows the program's name.

    Returns:
        The exit status.
    """
    prepare_streams()
    try:
        if arguments[:1] == ["_adopt"]:  # how a window gives an orphaned run a new supervisor
            adopt(Path(arguments[1]))
            return 0
        _check_folder()
        options = build_parser().parse(arguments)
        status: int = options.run(options)
        sys.stdout.flush()
    except GpuscopeError as error:
        print(f"gpuscope: {shown(str(error))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.errno not in LOST_OUTPUT:
            raise
        drop_output()
        if isinstance(error, BrokenPipeError):  # its reader has gone: nothing to say, and nobody to say it to
            return 0
        print(f"gpuscope: The output cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    return status


def _check_folder() -> None:
    """Refuse to work in a folder that is gone, on which every relative name would fail in its own way."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("The folder that you are in was deleted: change to another one first.") from error
