"""`gpuscope export`."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from gpuscope.cli.progress_line import ProgressLine
from gpuscope.cli.streams import say
from gpuscope.engine.session import open_session
from gpuscope.report.export.readings import Stretch
from gpuscope.report.export.write import FORMATS, export_readings


def add_commands(commands: Any) -> None:
    """Add `export`."""
    parser = commands.add_parser(
        "export",
        help="write a session's readings for other programs",
        description="Write the recorded figures of GPUs and host: as CSV, in Prometheus' text format with times (for "
        "`promtool tsdb create-blocks-from openmetrics`), or as Parquet, which needs pyarrow.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="session (*.gpuscope)")
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help="file to make: " + ", ".join(FORMATS)
    )
    parser.add_argument("--from", metavar="S", type=float, default=0.0, dest="start", help="seconds of the session")
    parser.add_argument("--to", metavar="S", type=float, dest="end", help="seconds of the session (default: its end)")
    parser.add_argument("--step", metavar="S", type=float, help="means over so many seconds (default: every reading)")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there already")
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    stretch = Stretch(options.start, options.end, options.step)
    with open_session(options.file) as reader, ProgressLine() as line:
        writing = partial(line.tell, "writing the readings")
        rows = export_readings(reader, options.output, stretch, overwrite=options.overwrite, progress=writing)
        for note in reader.notes:
            say(note)
    say(f"{rows} rows are in {options.output}")
    return 0
