"""`gpuscope validate`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import Any

from gpuscope.cli.streams import print_document


def add_commands(commands: Any) -> None:
    """Add `validate`."""
    parser = commands.add_parser(
        "validate",
        help="how far predictions were off: published measurements and runs on this machine",
        description="Predict what others published with constants that were not fitted on it, and compare; then show "
        "how runs on this machine turned out against what had been predicted for them.",
    )
    parser.add_argument(
        "--study", metavar="NAME", action="append", help="only this study, with its parts and worst rows; repeatable"
    )
    parser.add_argument("--json", action="store_true", help="print the validation document")
    parser.set_defaults(run=_validate)


def _validate(options: argparse.Namespace) -> int:
    # Loaded only here: fits and published rows take more modules than all other commands together.
    from gpuscope.cli.validation_text import validation_text
    from gpuscope.engine.validate import validation

    progress = _Progress()
    try:
        report = validation(options.study, progress=progress.show)
    finally:
        progress.clear()
    if options.json:
        print_document(report, sys.stdout)
    else:
        print(validation_text(report, details=options.study is not None))
    return 0


class _Progress:
    """One line on a terminal's standard error that is overwritten; nothing where nobody looks."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._width = 0

    def show(self, done: int, parts: int, name: str) -> None:
        self._write(f"{done + 1} of {parts}: {name}")

    def clear(self) -> None:
        if self._width:
            self._write("")
            self._write("")

    def _write(self, text: str) -> None:
        if self._shown:
            with contextlib.suppress(OSError):
                sys.stderr.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
                sys.stderr.flush()
            self._width = len(text)
