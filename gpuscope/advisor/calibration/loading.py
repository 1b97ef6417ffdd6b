"""Read a calibration from the CSV files of a folder.

    gpu_rates.csv    gpu_id, figure, precision, value, unit, kind, source: sustained rates by GPU
    shares.csv       figure, group, segment, share, kind, source: of a specification, for GPUs without rates
    class_rates.csv  kind, layout, compute, bandwidth, half_n, half_k, source: shares by kind of operator
    factors.csv      name, value, source: factors between stages and between eager and compiled runs
    mixes.csv        kind, flops_per_byte, spread, half_bytes, fixed_s_per_byte, source: for steps without a profile
    intervals.csv    code, factor, rows, source: widths of ranges
    collectives.csv, parallel.csv: see `calibration.parallel_files`
    engines.csv: see `calibration.engine_files`

A file that is missing leaves its part empty.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gpuscope.advisor.calibration.engine_files import load_engines
from gpuscope.advisor.calibration.model import (
    KINDS,
    Calibration,
    ClassRate,
    Figure,
    Interval,
    Mix,
    SustainedRates,
    share_key,
)
from gpuscope.advisor.calibration.parallel_files import load_parallel
from gpuscope.advisor.catalogue.table import Row, read_rows
from gpuscope.advisor.job.precision import PRECISIONS

RATE_COLUMNS = ("gpu_id", "figure", "precision", "value", "unit", "kind", "source")
SHARE_COLUMNS = ("figure", "group", "segment", "share", "kind", "source")
CLASS_COLUMNS = ("kind", "layout", "compute", "bandwidth", "half_n", "half_k", "source")
FACTOR_COLUMNS = ("name", "value", "source")
MIX_COLUMNS = ("kind", "flops_per_byte", "spread", "half_bytes", "fixed_s_per_byte", "source")
INTERVAL_COLUMNS = ("code", "factor", "rows", "source")

UNITS = {"TFLOP/s": 1e12, "GB/s": 1e9, "us": 1e-6}
"""What the figures are written in, by what they are multiplied with."""
BY_PRECISION = {"matmul": "matmul_flops_per_s", "convolution": "convolution_flops_per_s"}
SINGLE = {"vector": "vector_bytes_per_s", "kernel_latency": "kernel_latency_s"}
UNIT_OF = {"matmul": "TFLOP/s", "convolution": "TFLOP/s", "vector": "GB/s", "kernel_latency": "us"}
"""Unit in which each figure is written."""


def load_calibration(folder: Path) -> Calibration:
    """Load the files of a folder; those that are not there leave their part empty.

    Raises:
        CatalogueError: a file is damaged; the message names the file and the line.
    """
    return Calibration(
        rates=_rates(folder / "gpu_rates.csv"),
        shares=_shares(folder / "shares.csv"),
        class_rates=_class_rates(folder / "class_rates.csv"),
        factors=_factors(folder / "factors.csv"),
        mixes=_mixes(folder / "mixes.csv"),
        intervals=_intervals(folder / "intervals.csv"),
        parallel=load_parallel(folder),
        engines=load_engines(folder),
    )


def _rates(path: Path) -> dict[str, SustainedRates]:
    rates: dict[str, SustainedRates] = {}
    if not path.exists():
        return rates
    for row in read_rows(path, RATE_COLUMNS):
        gpu_id = row.required("gpu_id")
        rates[gpu_id] = _with_figure(rates.get(gpu_id, SustainedRates()), row)
    return rates


def _with_figure(rates: SustainedRates, row: Row) -> SustainedRates:
    """The rates and one more figure.

    Raises:
        CatalogueError: figure, unit, precision or kind is not known, or the figure is there twice.
    """
    name, unit = row.required("figure"), row.required("unit")
    if unit not in UNITS:
        raise row.error(f"the unit {unit} is none of {', '.join(UNITS)}")
    figure = Figure(value=row.positive("value") * UNITS[unit], kind=_kind(row), source=row.required("source"))
    if name in SINGLE:
        if getattr(rates, SINGLE[name]) is not None:
            raise row.error(f"the figure {name} of this GPU is there twice")
        return msgspec.structs.replace(rates, **{SINGLE[name]: figure})
    if name not in BY_PRECISION:
        raise row.error(f"the figure {name} is none of {', '.join((*BY_PRECISION, *SINGLE))}")
    precision = row.required("precision")
    if precision not in PRECISIONS:
        raise row.error(f"the precision {precision} is none of {', '.join(PRECISIONS)}")
    known: dict[str, Figure] = getattr(rates, BY_PRECISION[name])
    if precision in known:
        raise row.error(f"the figure {name} in {precision} of this GPU is there twice")
    return msgspec.structs.replace(rates, **{BY_PRECISION[name]: {**known, precision: figure}})


def _kind(row: Row) -> str:
    kind = row.required("kind")
    if kind not in KINDS:
        raise row.error(f"the kind {kind} is none of {', '.join(KINDS)}")
    return kind


def _shares(path: Path) -> dict[str, Figure]:
    if not path.exists():
        return {}
    return {
        share_key(row.required("figure"), row.text("group"), row.text("segment")): Figure(
            value=row.positive("share"), kind=_kind(row), source=row.required("source")
        )
        for row in read_rows(path, SHARE_COLUMNS)
    }


def _class_rates(path: Path) -> dict[str, ClassRate]:
    if not path.exists():
        return {}
    return {
        "/".join(filter(None, (row.required("kind"), row.text("layout")))): ClassRate(
            compute=row.positive("compute"),
            bandwidth=row.positive("bandwidth"),
            half_n=row.number("half_n") or 0.0,
            half_k=row.number("half_k") or 0.0,
        )
        for row in read_rows(path, CLASS_COLUMNS)
    }


def _factors(path: Path) -> dict[str, float]:
    if not path.exists():
        return {}
    return {row.required("name"): row.positive("value") for row in read_rows(path, FACTOR_COLUMNS)}


def _mixes(path: Path) -> dict[str, Mix]:
    if not path.exists():
        return {}
    return {
        row.required("kind"): Mix(
            flops_per_byte=row.positive("flops_per_byte"),
            spread=_above_one(row, "spread"),
            half_bytes=row.positive("half_bytes"),
            fixed_s_per_byte=row.number("fixed_s_per_byte") or 0.0,
            source=row.required("source"),
        )
        for row in read_rows(path, MIX_COLUMNS)
    }


def _intervals(path: Path) -> dict[str, Interval]:
    if not path.exists():
        return {}
    return {
        row.required("code"): Interval(
            factor=_above_one(row, "factor"), rows=row.whole("rows") or 0, source=row.required("source")
        )
        for row in read_rows(path, INTERVAL_COLUMNS)
    }


def _above_one(row: Row, column: str) -> float:
    factor = row.positive(column)
    if factor < 1:
        raise row.error(f"the {column} {factor:g} has to be 1 or more: a range is × and ÷ it")
    return factor
