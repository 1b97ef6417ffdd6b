"""Write a calibration into the CSV files that `calibration.loading` reads, in an order that does not change."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from gpuscope.advisor.calibration.loading import (
    BY_PRECISION,
    CLASS_COLUMNS,
    FACTOR_COLUMNS,
    INTERVAL_COLUMNS,
    MIX_COLUMNS,
    RATE_COLUMNS,
    SHARE_COLUMNS,
    SINGLE,
    UNIT_OF,
    UNITS,
)
from gpuscope.advisor.calibration.model import ClassRate, Figure, Interval, Mix, SustainedRates

_SEGMENTS = frozenset({"consumer", "workstation", "datacenter"})


def write_rates(path: Path, rates: Mapping[str, SustainedRates]) -> None:
    """Write gpu_rates.csv."""
    _write(path, RATE_COLUMNS, (line for gpu_id in sorted(rates) for line in _rate_lines(gpu_id, rates[gpu_id])))


def write_shares(path: Path, shares: Mapping[str, Figure]) -> None:
    """Write shares.csv."""
    lines = []
    for key in sorted(shares):
        figure, *rest = key.split("/")
        segment = rest.pop() if rest and rest[-1] in _SEGMENTS else ""
        known = shares[key]
        lines.append((figure, "/".join(rest), segment, f"{known.value:.4g}", known.kind, known.source))
    _write(path, SHARE_COLUMNS, lines)


def write_mixes(path: Path, mixes: Mapping[str, Mix]) -> None:
    """Write mixes.csv."""
    _write(
        path,
        MIX_COLUMNS,
        (
            (
                kind, f"{mix.flops_per_byte:.4g}", f"{mix.spread:.4g}", f"{mix.half_bytes:.4g}",
                f"{mix.fixed_s_per_byte:.4g}", mix.source,
            )
            for kind, mix in sorted(mixes.items())
        ),
    )  # fmt: skip


def write_class_rates(path: Path, rates: Mapping[str, ClassRate], source: str) -> None:
    """Write class_rates.csv."""
    lines = []
    for key in sorted(rates):
        kind, _, layout = key.partition("/")
        rate = rates[key]
        figures = (rate.compute, rate.bandwidth, rate.half_n, rate.half_k)
        lines.append((kind, layout, *(f"{figure:.4g}" for figure in figures), source))
    _write(path, CLASS_COLUMNS, lines)


def write_factors(path: Path, factors: Mapping[str, float], source_of: Callable[[str], str]) -> None:
    """Write factors.csv; `source_of` says where the factor of a name comes from."""
    _write(path, FACTOR_COLUMNS, ((name, f"{factors[name]:.4g}", source_of(name)) for name in sorted(factors)))


def write_intervals(path: Path, intervals: Mapping[str, Interval]) -> None:
    """Write intervals.csv."""
    _write(
        path,
        INTERVAL_COLUMNS,
        ((code, f"{each.factor:.3f}", str(each.rows), each.source) for code, each in sorted(intervals.items())),
    )


def _rate_lines(gpu_id: str, rates: SustainedRates) -> Iterator[tuple[str, ...]]:
    for figure in sorted(BY_PRECISION):
        by_precision: Mapping[str, Figure] = getattr(rates, BY_PRECISION[figure])
        for precision, known in sorted(by_precision.items()):
            yield _rate_line(gpu_id, figure, precision, known)
    for figure, field in SINGLE.items():
        single: Figure | None = getattr(rates, field)
        if single is not None:
            yield _rate_line(gpu_id, figure, "", single)


def _rate_line(gpu_id: str, figure: str, precision: str, known: Figure) -> tuple[str, ...]:
    unit = UNIT_OF[figure]
    return gpu_id, figure, precision, f"{known.value / UNITS[unit]:.4g}", unit, known.kind, known.source


def _write(path: Path, header: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)
