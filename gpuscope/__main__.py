"""`gpuscope` opens the window; `gpuscope COMMAND` is the command line."""

from __future__ import annotations

import sys


def main() -> int:
    """Run what the command line asks for; returns the exit status."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["_sampler"]:  # started for every recording: loads nothing but what it needs
        from gpuscope.sources.sampler import main as run_sampler

        return run_sampler(arguments[1:])
    try:
        from gpuscope.cli import main as run_command_line
    except KeyboardInterrupt:  # Ctrl+C while the program is being loaded
        return 130
    return run_command_line(arguments)


if __name__ == "__main__":
    sys.exit(main())
