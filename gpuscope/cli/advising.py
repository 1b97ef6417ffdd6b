"""`gpuscope advise`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from gpuscope.cli.arguments import count, duration, gpu_counts, names
from gpuscope.cli.streams import print_document
from gpuscope.cli.tables import MARKS, candidate_table
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.engine.advise import advise, read_footprint
from gpuscope.engine.footprint import footprint_of
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


def add_constraints(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what the person allows."""
    group = parser.add_argument_group("constraints")
    group.add_argument("--stage", choices=["training", "inference"], help="default: as measured")
    group.add_argument(
        "--deadline", metavar="TIME", type=duration, help="the whole work done within, such as 36h or 3d"
    )
    group.add_argument("--total-samples", metavar="N", type=count, help="the whole work, in samples")
    group.add_argument("--total-steps", metavar="N", type=count, help="the whole work, in steps like those measured")
    group.add_argument(
        "--total-epochs", metavar="N", type=float, help="the whole work, in epochs (with --samples-per-epoch)"
    )
    group.add_argument("--samples-per-epoch", metavar="N", type=count)
    group.add_argument("--budget", metavar="USD", type=float, help="for the whole work, or for the purchase")
    group.add_argument("--budget-per-hour", metavar="USD", type=float)
    how = group.add_mutually_exclusive_group()
    how.add_argument("--buy", dest="acquisition", action="store_const", const="buy", help="only what can be bought")
    how.add_argument("--rent", dest="acquisition", action="store_const", const="rent", help="only what can be rented")
    group.add_argument("--region", metavar="R,...", type=names, default=(), help="such as us-east-1,ap-northeast-1")
    group.add_argument("--provider", metavar="P,...", type=names, default=(), help="such as aws,lambda")
    group.add_argument("--vendor", metavar="V,...", type=names, default=(), help="such as NVIDIA")
    group.add_argument("--gpus", metavar="ID,...", type=names, default=(), help="only these catalogue ids")
    group.add_argument("--counts", metavar="N,...", type=gpu_counts, default=(), help="only these numbers of GPUs")
    group.add_argument("--power-limit", metavar="W", type=float, help="of all GPUs together")
    group.add_argument("--precision", choices=["float32", "tf32", "float16", "bfloat16"], help="default: as measured")


def constraints_from(options: argparse.Namespace) -> Constraints:
    """The constraints as typed."""
    return Constraints(
        stage=options.stage,
        deadline_s=options.deadline,
        total_samples=options.total_samples,
        total_steps=options.total_steps,
        total_epochs=options.total_epochs,
        samples_per_epoch=options.samples_per_epoch,
        budget_usd=options.budget,
        budget_usd_per_hour=options.budget_per_hour,
        acquisition=options.acquisition,
        regions=options.region,
        providers=options.provider,
        vendors=options.vendor,
        gpus=options.gpus,
        counts=options.counts,
        power_limit_w=options.power_limit,
        precision=options.precision,
    )


def _advise(options: argparse.Namespace) -> int:
    if (options.file is None) == (options.footprint is None):
        raise UsageError("Name one session, or one footprint with --footprint FILE.")
    constraints = constraints_from(options)
    if options.footprint is not None:
        recommendation = advise(read_footprint(options.footprint), constraints)
    else:
        with open_session(options.file) as reader:
            recommendation = advise(footprint_of(reader), constraints)
        keep_document(options.file, "recommendation", recommendation)
    if options.json:
        print_document(recommendation, sys.stdout)
    else:
        print(recommendation_text(recommendation, None if options.all else SHOWN_CANDIDATES))
    return 0


def recommendation_text(recommendation: Recommendation, shown: int | None) -> str:
    """The recommendation for a terminal."""
    lines = [recommendation.sentence, ""]
    if recommendation.candidates:
        lines += [candidate_table(recommendation, shown), MARKS, ""]
    hidden = 0 if shown is None else max(0, len(recommendation.candidates) - shown)
    if hidden:
        lines.append(f"{hidden} more {'candidate' if hidden == 1 else 'candidates'}: --all lists them.")
    if recommendation.rejected:
        lines.append(f"{len(recommendation.rejected)} configurations were rejected; --json says why each.")
    lines += [f"Assumed: {assumption}" for assumption in recommendation.assumptions]
    if recommendation.prices_as_of:
        lines.append(f"Prices as of {recommendation.prices_as_of}.")
    return "\n".join(lines).rstrip()
