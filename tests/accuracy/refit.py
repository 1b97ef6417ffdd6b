"""Fit the constants in resources/calibration again from the published rows, and hold them against those that ship."""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from gpuscope.advisor.validation.decoding_fit import write_fitted_engines
from gpuscope.advisor.validation.parallel_fit import write_fitted_parallel
from gpuscope.advisor.validation.rates_fit import write_fitted_rates
from gpuscope.advisor.validation.suite_widths import write_suite_widths
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import write_fitted_classes
from gpuscope.advisor.validation.timm_widths import write_timm_widths

Fit = Callable[[Tables, Path], None]
"""Reads published rows and writes files of constants into a folder."""

FITS: tuple[Fit, ...] = (
    write_fitted_rates,
    write_fitted_parallel,
    write_fitted_classes,
    write_timm_widths,
    write_suite_widths,
    write_fitted_engines,
)
"""In an order in which later ones may build on the constants of earlier ones."""

TOLERANCE = 0.02
"""Relative difference by which a constant may move: searches stop a little short of the best value."""


def write(tables: Tables) -> None:
    """Replace the shipped constants by fits to all published rows."""
    for fit in FITS:
        fit(Tables(tables.folder, tables.catalogue), tables.folder)  # fresh: an earlier fit may have changed the files


def differences(tables: Tables) -> Iterator[str]:
    """What a fit finds otherwise than the shipped files say, a sentence each; nothing is changed."""
    made = set()
    for fit in FITS:
        with tempfile.TemporaryDirectory() as name:  # of its own: several fits write parts of one file
            fit(tables, Path(name))
            for path in sorted(Path(name).iterdir()):
                made.add(path.name)
                yield from file_differences(tables.folder / path.name, path)
    for path in sorted(tables.folder.glob("*.csv")):
        if path.name not in made:
            yield f"{path.name} ships, but no fit makes it."


def file_differences(shipped: Path, refitted: Path) -> Iterator[str]:
    """Where two files of constants differ by more than `TOLERANCE`, a sentence each."""
    if not shipped.exists():
        yield f"{shipped.name} is missing."
        return
    old, new = _rows(shipped), _rows(refitted)
    if len(old) != len(new):
        yield f"{shipped.name} has {len(old)} lines, the fit gives {len(new)}."
    for number, (was, now) in enumerate(zip(old, new, strict=False), start=1):
        for one, other in zip(was, now, strict=False):
            if not _same(one, other):
                yield f"{shipped.name}, line {number} ({was[0]}): {one} ships, the fit gives {other}."


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _same(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=TOLERANCE)
    except ValueError:
        return one == other
