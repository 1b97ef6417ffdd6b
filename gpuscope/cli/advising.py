"""`gpuscope advise`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from gpuscope.cli.advice_text import recommendation_text
from gpuscope.cli.constraint_options import Asked, add_constraints, asked
from gpuscope.cli.streams import print_document, say
from gpuscope.domain.recommendation import Recommendation
from gpuscope.engine.advise import advise, read_footprint
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.predictions import remember
from gpuscope.engine.session import keep_document, open_session
from gpuscope.errors import UsageError

SHOWN_CANDIDATES = 10


def add_commands(commands: Any) -> None:
    """Add `advise`."""
    parser = commands.add_parser(
        "advise",
        help="which GPU configuration to buy or rent for a job",
        description="Rank GPU configurations for what a session (or a footprint file) shows, within constraints.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, nargs="?", help="session (*.gpuscope)")
    parser.add_argument("--footprint", metavar="FP.json", type=Path, help="a footprint document instead of a session")
    add_constraints(parser)
    parser.add_argument(
        "--all", action="store_true", help=f"list every candidate, not only the first {SHOWN_CANDIDATES}"
    )
    parser.add_argument("--json", action="store_true", help="print the recommendation document")
    parser.set_defaults(run=_advise)


def _advise(options: argparse.Namespace) -> int:
    if (options.file is None) == (options.footprint is None):
        raise UsageError("Name one session, or one footprint with --footprint FILE.")
    wanted = asked(options)
    for note in wanted.notes:
        say(note)
    if options.footprint is not None:
        recommendation = advise(read_footprint(options.footprint), wanted.constraints, wanted.offers)
    else:
        recommendation = _of_session(options.file, wanted)
    if options.json:
        print_document(recommendation, sys.stdout)
    else:
        print(recommendation_text(recommendation, None if options.all else SHOWN_CANDIDATES))
    return 0


def _of_session(path: Path, wanted: Asked) -> Recommendation:
    """Advise on a session, keep the advice in it, and remember what it promises."""
    with open_session(path) as reader:
        footprint = footprint_of(reader)
        recommendation = advise(footprint, wanted.constraints, wanted.offers)
        remember(reader.manifest, footprint, recommendation)
    keep_document(path, "recommendation", recommendation)
    return recommendation
