"""Read and write the constants for many GPUs.

    collectives.csv  kind, nominal_gbs, share, start_us, ramp_us, hop_us, source: what links reach
    parallel.csv     name, software, value, source: constants of `parallel.rates.ParallelRates`; software is empty or
                     "tuned", for those that are others with libraries tuned for the GPU

Links that collectives.csv lacks keep the assumed rates, and so do constants that parallel.csv lacks.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from gpuscope.advisor.catalogue.table import Row, read_rows
from gpuscope.advisor.parallel.rates import DEFAULT_LINKS, LinkRate, ParallelRates

LINKS_FILE, CONSTANTS_FILE = "collectives.csv", "parallel.csv"
_LINK_COLUMNS = ("kind", "nominal_gbs", "share", "start_us", "ramp_us", "hop_us", "source")
_CONSTANT_COLUMNS = ("name", "software", "value", "source")
_CONSTANTS = frozenset(name for name in ParallelRates.__struct_fields__ if name not in {"links", "tuned"})
_TUNED = "tuned"


def load_parallel(folder: Path) -> ParallelRates:
    """Constants from the files of a folder; those of a file that is missing are the assumed ones.

    Raises:
        CatalogueError: a file is damaged; the message names the file and the line.
    """
    links: tuple[LinkRate, ...] = DEFAULT_LINKS
    values: dict[str, float] = {}
    tuned: dict[str, float] = {}
    if (folder / LINKS_FILE).exists():
        links = (*(_link(row) for row in read_rows(folder / LINKS_FILE, _LINK_COLUMNS)), *DEFAULT_LINKS)
    if (folder / CONSTANTS_FILE).exists():
        for row in read_rows(folder / CONSTANTS_FILE, _CONSTANT_COLUMNS):
            into = tuned if row.text("software") == _TUNED else values
            into[_name(row)] = row.positive("value")
    return msgspec.structs.replace(ParallelRates(links=links, tuned=tuned), **values)


def write_links(path: Path, links: tuple[LinkRate, ...]) -> None:
    """Write collectives.csv."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_LINK_COLUMNS)
        for link in links:
            figures = (link.share, link.start_us, link.ramp_us, link.hop_us)
            nominal = "" if link.nominal_gbs is None else f"{link.nominal_gbs:g}"
            writer.writerow((link.kind, nominal, *(f"{figure:.4g}" for figure in figures), link.source))


class NamedConstant(NamedTuple):
    """One line of parallel.csv."""

    name: str
    value: float
    source: str
    tuned: bool = False


def write_constants(path: Path, constants: Iterable[NamedConstant]) -> None:
    """Write parallel.csv."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_CONSTANT_COLUMNS)
        for each in sorted(constants, key=lambda constant: (constant.tuned, constant.name)):
            writer.writerow((each.name, _TUNED if each.tuned else "", f"{each.value:.4g}", each.source))


def _link(row: Row) -> LinkRate:
    return LinkRate(
        kind=row.required("kind"),
        nominal_gbs=row.number("nominal_gbs"),
        share=row.positive("share"),
        start_us=row.number("start_us") or 0.0,
        ramp_us=row.number("ramp_us") or 0.0,
        hop_us=row.number("hop_us") or 0.0,
        source=row.required("source"),
    )


def _name(row: Row) -> str:
    name = row.required("name")
    if name not in _CONSTANTS:
        raise row.error(f"the constant {name} is none of {', '.join(sorted(_CONSTANTS))}")
    return name
