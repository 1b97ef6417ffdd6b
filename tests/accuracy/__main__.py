"""`python -m tests.accuracy [--write]`: fit the constants again, predict what was published, write the document.

Without `--write` the shipped constants stay as they are and have to be those that the fit finds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.engine.validate import shipped_tables, validation
from tests.accuracy import refit
from tests.accuracy.document import document
from tests.accuracy.left_out import coverages

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "accuracy-time.md"


def main(arguments: list[str]) -> int:
    """Do it; 1 when the shipped constants are not those of the fit, or a study fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.accuracy", description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the shipped constants by those of the fit")
    options = parser.parse_args(arguments)
    tables = shipped_tables()
    started_s = time.monotonic()
    problems = []
    if options.write:
        refit.write(tables)
    else:
        problems += list(refit.differences(tables))
    print(f"Constants fitted in {time.monotonic() - started_s:.0f} s.", flush=True)
    outcomes: dict[str, Sequence[Outcome]] = {}
    report = validation(
        progress=lambda done, parts, name: print(f"{done + 1} of {parts}: {name}", flush=True),
        seen=lambda rows: outcomes.setdefault(rows[0].study, rows),
    )
    covered = tuple(coverages(outcomes, shipped_tables().calibration))
    DOCUMENT.write_text(document(report.studies, report.decisions, covered), encoding="utf-8")
    problems += [f"{study.name} failed: {study.failure}" for study in report.studies if study.failure]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{DOCUMENT.name} written after {time.monotonic() - started_s:.0f} s.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
