"""`gpuscope open`, `footprint` and `report`."""

from __future__ import annotations

import argparse
import importlib
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpuscope.cli.constraint_options import add_constraints, asked
from gpuscope.cli.footprint_text import footprint_text
from gpuscope.cli.importing import say_reading
from gpuscope.cli.progress_line import ProgressLine
from gpuscope.cli.streams import print_document, say, shown
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.engine.advise import NOTHING, advise
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.import_files import import_to_sessions_folder, is_session
from gpuscope.engine.session import open_session, read_session
from gpuscope.store.reader import SessionState


def add_commands(commands: Any) -> None:
    """Add `open`, `footprint` and `report`."""
    parser = commands.add_parser(
        "open",
        help="open the window, on a session or on another program's log",
        description="Open the window. A session is shown; logs of other programs are imported first, several of one "
        "run into one session.",
    )
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*", help="session (*.gpuscope), or logs of one run")
    parser.set_defaults(run=_open)

    parser = commands.add_parser(
        "footprint",
        help="what a session's job used",
        description="What the job of a session used: time, memory, energy.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="session (*.gpuscope)")
    parser.add_argument("--json", action="store_true", help="print the footprint document")
    parser.set_defaults(run=_footprint)

    parser = commands.add_parser(
        "report",
        help="write the report that procurement can sign",
        description="Write evidence and recommendation of a session as a PDF or JSON document. Without constraints "
        "here, the recommendation last asked for with `gpuscope advise` is reported.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="session (*.gpuscope)")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, required=True, help="out.pdf or out.json")
    parser.add_argument(
        "--include-identity", action="store_true", help="keep user, host, paths and UUIDs in the report"
    )
    add_constraints(parser)
    parser.set_defaults(run=_report)


def _open(options: argparse.Namespace) -> int:
    file = _session_of(options.files)
    if file is not None:
        read_session(file).close()  # what is no session is refused here, in a sentence, before a window opens
    # Loaded only here: the window needs Qt, and no other command does.
    app = importlib.import_module("gpuscope.ui.app")
    status: int = app.main([] if file is None else [str(file)])
    return status


def _session_of(files: list[Path]) -> Path | None:
    """The session that was named, or one made of the logs that were; None: nothing was named."""
    if not files:
        return None
    if len(files) == 1 and is_session(files[0]):
        return files[0]
    with ProgressLine() as progress:
        session, readings = import_to_sessions_folder(files, progress=progress)
    for path, reading in zip(files, readings, strict=True):
        say_reading(path, reading)
    return session


def _footprint(options: argparse.Namespace) -> int:
    with open_session(options.file) as reader:
        footprint = footprint_of(reader)
        if options.json:
            print_document(footprint, sys.stdout)
        else:
            evidence = None if reader.state() is SessionState.LIVE else reader.evidence_sha256()
            print(shown(footprint_text(footprint, evidence)))
        for note in reader.notes:
            say(note)
    return 0


def _report(options: argparse.Namespace) -> int:
    # Loaded only here: drawing a PDF takes more libraries than all other commands together.
    from gpuscope.report.build import build_report
    from gpuscope.report.write import write_report

    with open_session(options.file) as reader:
        footprint = footprint_of(reader)
        wanted = asked(options)
        recommendation = reader.document("recommendation", Recommendation)
        if recommendation is None or wanted.constraints != Constraints() or wanted.own != NOTHING:
            recommendation = advise(footprint, wanted.constraints, wanted.own)
        report = build_report(
            reader, footprint, recommendation, now=datetime.now(UTC), include_identity=options.include_identity
        )
        for note in (*reader.notes, *wanted.notes):
            say(note)
    write_report(report, options.output, overwrite=True)  # named by the person, and made again at any time
    say(f"the report is in {options.output}")
    return 0
