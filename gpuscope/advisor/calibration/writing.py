"""Write a calibration into the CSV files that `calibration.loading` reads, in an order that does not change."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gpuscope.advisor.calibration.model import ClassRate, Figure, Interval, Mix, SustainedRates

_RATE_HEADER = ("gpu_id", "figure", "precision", "value", "unit", "kind", "source")
_SHARE_HEADER = ("figure", "group", "segment", "share", "kind", "source")
_MIX_HEADER = ("kind", "flops_per_byte", "spread", "half_bytes", "fixed_s_per_byte", "source")
_CLASS_HEADER = ("kind", "layout", "compute", "bandwidth", "half_n", "half_k", "source")
_FACTOR_HEADER = ("name", "value", "source")
_INTERVAL_HEADER = ("code", "factor", "rows", "source")
_SEGMENTS = frozenset({"consumer", "workstation", "datacenter"})


def write_rates(path: Path, rates: Mapping[str, SustainedRates]) -> None:
    """Write gpu_rates.csv."""
    _write(path, _RATE_HEADER, (line for gpu_id in sorted(rates) for line in _rate_lines(gpu_id, rates[gpu_id])))


def write_shares(path: Path, shares: Mapping[str, Figure]) -> None:
    """Write shares.csv."""
    lines = []
    for key in sorted(shares):
        figure, *rest = key.split("/")
        segment = rest.pop() if rest and rest[-1] in _SEGMENTS else ""
        known = shares[key]
        lines.append((figure, "/".join(rest), segment, f"{known.value:.4g}", known.kind, known.source))
    _write(path, _SHARE_HEADER, lines)


def write_mixes(path: Path, mixes: Mapping[str, Mix]) -> None:
    """Write mixes.csv."""
    _write(
        path,
        _MIX_HEADER,
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
    _write(path, _CLASS_HEADER, lines)


def write_factors(path: Path, factors: Mapping[str, float], source: str) -> None:
    """Write factors.csv."""
    _write(path, _FACTOR_HEADER, ((name, f"{factors[name]:.4g}", source) for name in sorted(factors)))


def write_intervals(path: Path, intervals: Mapping[str, Interval]) -> None:
    """Write intervals.csv."""
    _write(
        path,
        _INTERVAL_HEADER,
        ((code, f"{each.factor:.3f}", str(each.rows), each.source) for code, each in sorted(intervals.items())),
    )


def _rate_lines(gpu_id: str, rates: SustainedRates) -> Iterator[tuple[str, ...]]:
    for figure, by_precision in (
        ("convolution", rates.convolution_flops_per_s),
        ("matmul", rates.matmul_flops_per_s),
    ):
        for precision, known in sorted(by_precision.items()):
            value = f"{known.value / 1e12:.4g}"
            yield gpu_id, figure, precision, value, "TFLOP/s", known.kind, known.source
    if rates.vector_bytes_per_s is not None:
        known = rates.vector_bytes_per_s
        yield gpu_id, "vector", "", f"{known.value / 1e9:.4g}", "GB/s", known.kind, known.source
    if rates.kernel_latency_s is not None:
        known = rates.kernel_latency_s
        yield gpu_id, "kernel_latency", "", f"{known.value / 1e-6:.4g}", "us", known.kind, known.source


def _write(path: Path, header: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)
