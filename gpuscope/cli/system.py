"""`gpuscope doctor` and `gpuscope selftest`."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from gpuscope.cli.streams import print_document
from gpuscope.domain.topology import matrix_lines
from gpuscope.engine.doctor import Examination, examine


def add_commands(commands: Any) -> None:
    """Add `doctor` and `selftest`."""
    parser = commands.add_parser(
        "doctor",
        help="what is there, what is missing, what to do",
        description="Look at driver, libraries, interpreters, permissions and display.",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(run=_doctor)
    parser = commands.add_parser(
        "selftest",
        help="try every part of this installation once",
        description="Open the window offscreen, record, run the bundled example, advise, write a report.",
    )
    parser.add_argument(
        "--python", metavar="PATH", help="interpreter for the example (default: one that has torch is looked for)"
    )
    parser.add_argument("--without-run", action="store_true", help="leave the example out, where no Python has torch")
    parser.set_defaults(run=_selftest)


def _doctor(options: argparse.Namespace) -> int:
    document = examine()
    if options.json:
        print_document(document, sys.stdout)
    else:
        print("\n".join(_lines(document)))
    return 0 if document.ok else 1


def _lines(document: Examination) -> list[str]:
    """A line a check with what to do below it, then how GPUs and network cards are connected."""
    width = max(len(check.name) for check in document.checks)
    lines = []
    for check in document.checks:
        mark = {True: "ok", False: "wrong", None: "missing"}[check.ok]
        lines.append(f"{check.name.ljust(width)}  {mark.ljust(7)}  {check.detail}")
        if check.remedy:
            lines.append(f"{' ' * width}           → {check.remedy}")
    if document.topology is not None:
        lines += ["", *(f"  {line}" for line in matrix_lines(document.topology))]
    return lines


def _selftest(options: argparse.Namespace) -> int:
    # By name: the self-test stands above the command line, and opens the window.
    selftest = importlib.import_module("gpuscope.selftest")
    status: int = selftest.main(python=options.python, without_run=options.without_run)
    return status
