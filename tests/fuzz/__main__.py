"""`python -m tests.fuzz [--inputs N] [--from N] [READER...]`: damaged files for every reader, or those named.

A reader must read or refuse each with a sentence: no other error, no more than 1 s, no more than 500 MB. Inputs that
fail are kept under out/fuzz.
"""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.running import run
from tests.fuzz.targets import targets


def main(arguments: list[str]) -> int:
    """Fuzz; 1 when a reader failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", metavar="READER", nargs="*", help="beginnings of names; all, where none is given")
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="damaged files a reader")
    parser.add_argument("--from", type=int, default=0, metavar="N", dest="start", help="number of the first")
    options = parser.parse_args(arguments)
    chosen = [target.name for target in targets() if not options.names or target.name.startswith(tuple(options.names))]
    if not chosen:
        print(f"There is no such reader. There are: {', '.join(target.name for target in targets())}.")
        return 2
    failures = [run(name, options.start, options.inputs) for name in chosen]
    return 1 if any(failures) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
