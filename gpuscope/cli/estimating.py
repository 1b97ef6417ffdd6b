"""`gpuscope estimate`: a footprint typed in instead of recorded."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from gpuscope.advisor.job.estimate import DTYPES, estimate, estimate_sentence
from gpuscope.advisor.job.optimizers import OPTIMIZERS
from gpuscope.cli.arguments import count
from gpuscope.cli.streams import print_document
from gpuscope.domain.footprint import Footprint


def add_commands(commands: Any) -> None:
    """Add `estimate`."""
    parser = commands.add_parser(
        "estimate",
        help="memory from a parameter count, by formula",
        description="What a model of this size needs, from formulas alone; no run, no GPU.",
    )
    parser.add_argument("--params", metavar="N", type=count, required=True, help="such as 7B or 350M")
    parser.add_argument("--dtype", default="fp32", help=f"one of {', '.join(DTYPES)} (default fp32)")
    parser.add_argument(
        "--stage", "--task", choices=["training", "inference"], default="inference", help="default: inference"
    )
    parser.add_argument("--optimizer", default="adamw", help=f"one of {', '.join(OPTIMIZERS)} (default adamw)")
    parser.add_argument("--batch", metavar="N", type=count, help="sequences in a step; then activations are counted")
    parser.add_argument("--sequence-length", metavar="N", type=count, help="tokens of a sequence")
    parser.add_argument("--json", action="store_true", help="print the footprint document")
    parser.set_defaults(run=_estimate)


def _estimate(options: argparse.Namespace) -> int:
    footprint: Footprint = estimate(
        options.params,
        options.dtype,
        options.stage,
        options.optimizer,
        batch=options.batch,
        sequence_length=options.sequence_length,
    )
    if options.json:
        print_document(footprint, sys.stdout)
    else:
        print(estimate_sentence(footprint))
    return 0
