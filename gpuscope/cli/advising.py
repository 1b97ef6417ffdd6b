"""`gpuscope advise`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from gpuscope.cli.advice_text import mix_text, recommendation_text
from gpuscope.cli.arguments import fraction, numbers
from gpuscope.cli.constraint_options import Asked, add_constraints, asked
from gpuscope.cli.streams import print_document, say, shown
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Recommendation
from gpuscope.engine.advise import advise, advise_mix, read_footprint
from gpuscope.engine.footprint import footprint_of
from gpuscope.engine.framework_findings import CARD_NOT_NAMED
from gpuscope.engine.predictions import remember
from gpuscope.engine.ran_on import RAN_ON, RanOn, gpu_called, with_card
from gpuscope.engine.session import keep_document, open_session
from gpuscope.errors import UsageError

SHOWN_CANDIDATES = 10


def add_commands(commands: Any) -> None:
    """Add `advise`."""
    parser = commands.add_parser(
        "advise",
        help="which GPU configuration to buy or rent for a job",
        usage="gpuscope advise [options] [FILE ...]",
        description="Rank GPU configurations for what a session (or a footprint file) shows, within constraints. With "
        "several files and --runs-per-month: what to buy and rent for all of those jobs together.",
    )
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="*", help="session (*.gpuscope); several are advised on together"
    )
    parser.add_argument(
        "--footprint", metavar="FP.json", type=Path, action="append", default=[],
        help="a footprint document, instead of a session or besides",
    )  # fmt: skip
    parser.add_argument(
        "--ran-on", metavar="GPU", type=_card, help="the GPU that the job ran on, where the recording does not name it"
    )
    group = parser.add_argument_group("several jobs")
    group.add_argument(
        "--runs-per-month", metavar="N,...", type=numbers, default=(),
        help="how often each job runs, sessions first; of a service its hours of load: what to keep, buy and rent for "
        "all of them together",
    )  # fmt: skip
    group.add_argument(
        "--growth", metavar="SHARE", type=fraction, default=0.0, help="more runs each year, such as 20%%"
    )
    add_constraints(parser)
    parser.add_argument(
        "--all", action="store_true", help=f"list every candidate, not only the first {SHOWN_CANDIDATES}"
    )
    parser.add_argument("--json", action="store_true", help="print the recommendation document")
    parser.set_defaults(run=_advise)


def _advise(options: argparse.Namespace) -> int:
    wanted = asked(options)
    for note in wanted.notes:
        say(note)
    shown = None if options.all else SHOWN_CANDIDATES
    if options.runs_per_month or len(options.files) + len(options.footprint) > 1:
        mix = _of_mix(options, wanted)
        return _print(mix, mix_text(mix, shown), options)
    if len(options.files) + len(options.footprint) != 1:
        raise UsageError("Name a session, or a footprint with --footprint FILE.")
    if options.growth:
        raise UsageError("Growth belongs to --runs-per-month: say how often the job runs in a month.")
    if options.files:
        recommendation = _of_session(options.files[0], wanted, options.ran_on)
    else:
        footprint = read_footprint(options.footprint[0])
        if options.ran_on is not None:
            footprint = with_card(footprint, options.ran_on)
        recommendation = advise(footprint, wanted.constraints, wanted.own)
    return _print(recommendation, recommendation_text(recommendation, shown), options)


def _print(document: Recommendation | MixRecommendation, text: str, options: argparse.Namespace) -> int:
    if options.json:
        print_document(document, sys.stdout)
    else:
        print(shown(text))
    return 0


def _of_mix(options: argparse.Namespace, wanted: Asked) -> MixRecommendation:
    """Advise on several jobs; each keeps the name of its file."""
    paths = [*options.files, *options.footprint]
    if not paths:
        raise UsageError("Name the jobs that run so often: sessions, or footprints with --footprint FILE.")
    if options.ran_on is not None:
        raise UsageError("Give --ran-on with one session alone: it is remembered there.")
    if len(options.runs_per_month) != len(paths):
        whose = "the job" if len(paths) == 1 else f"each of the {len(paths)} jobs"
        raise UsageError(f"Say for {whose} how often it runs in a month, such as --runs-per-month 40,4 for two.")
    jobs = []
    for path, runs in zip(paths, options.runs_per_month, strict=True):
        if path in options.footprint:
            footprint = read_footprint(path)
        else:
            with open_session(path) as reader:
                footprint = footprint_of(reader)
        jobs.append((path.stem, footprint, runs))
    return advise_mix(jobs, wanted.constraints, growth_per_year=options.growth, own=wanted.own)


def _card(text: str) -> str:
    try:
        return gpu_called(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from error


def _of_session(path: Path, wanted: Asked, ran_on: str | None) -> Recommendation:
    """Advise on a session, keep the advice (and what the person says of it) in it, and remember what it promises."""
    with open_session(path) as reader:
        footprint = footprint_of(reader)
        if ran_on is not None:
            footprint = with_card(footprint, ran_on)
        for finding in footprint.findings:
            if finding.code == CARD_NOT_NAMED:
                say(f"{finding.sentence} {finding.remedy}")
        recommendation = advise(footprint, wanted.constraints, wanted.own)
        remember(reader.manifest, footprint, recommendation)
    keep_document(path, "recommendation", recommendation)
    if ran_on is not None:
        keep_document(path, RAN_ON, RanOn(gpu=ran_on))
    return recommendation
