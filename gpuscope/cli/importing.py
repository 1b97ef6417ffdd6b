"""`gpuscope import`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from gpuscope.cli.progress_line import ProgressLine
from gpuscope.cli.streams import print_document, say, shown
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.import_files import import_files
from gpuscope.engine.session import open_session
from gpuscope.importers.mapped_csv import MEANINGS
from gpuscope.importers.reading import Reading
from gpuscope.importers.recognise import READERS


def add_commands(commands: Any) -> None:
    """Add `import`."""
    kinds = "; ".join(reader.description for reader in READERS)
    parser = commands.add_parser(
        "import",
        help="make a session of another program's log",
        description=f"Read logs of other programs into one session. The kind is told by the content. Kinds: {kinds}.",
    )
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="logs of one run; - is standard input")
    parser.add_argument(
        "--map",
        metavar="COLUMN=FIELD",
        type=_mapped,
        action="append",
        default=[],
        help="what a column of an unknown table is: " + ", ".join(MEANINGS),
    )
    parser.add_argument("-o", "--output", metavar="OUT.gpuscope", type=Path, required=True, help="the session")
    parser.add_argument("--json", action="store_true", help="print the footprint document")
    parser.set_defaults(run=_import)


def _import(options: argparse.Namespace) -> int:
    with ProgressLine() as progress:
        readings = import_files(options.files, options.output, dict(options.map), progress)
    for path, reading in zip(options.files, readings, strict=True):
        say_reading(path, reading)
    if options.json:
        with open_session(options.output) as reader:
            print_document(footprint_of(reader), sys.stdout)
    else:
        print(shown(f"The session is in {options.output}."))
    return 0


def say_reading(path: Path, reading: Reading) -> None:
    """Tell what was read of a file, and what was lost or assumed in it."""
    gpus = len(reading.tracks)
    rows = "1 row" if reading.rows == 1 else f"{reading.rows} rows"
    say(f"{path}: {reading.description}, {rows} of {gpus} {'GPU' if gpus == 1 else 'GPUs'}.")
    for note in reading.notes:
        place = "" if note.line is None else f" (line {note.line})" if note.count == 1 else (
            f" ({note.count} times, first in line {note.line})"
        )  # fmt: skip
        say(f"{path}: {note.sentence}{place}")


def _mapped(text: str) -> tuple[str, str]:
    column, found, field = text.rpartition("=")
    if not found or not column:
        raise argparse.ArgumentTypeError(f"{text!r} is no mapping: write COLUMN=FIELD")
    return column, field
