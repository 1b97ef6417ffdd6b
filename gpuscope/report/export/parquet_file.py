"""Readings as Parquet, where the optional package pyarrow is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np

from gpuscope.errors import ReportError
from gpuscope.report.export.readings import Readings, figure_names


def write_parquet(tables: Sequence[Readings], file: IO[bytes], progress: Callable[[float], None]) -> None:
    """Write one row group for each device, with the columns of the CSV; missing values are null.

    Args:
        tables: of one session.
        file: to write into.
        progress: is told the share that is done; to cancel, it raises.

    Raises:
        ReportError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ReportError("Parquet needs pyarrow: pip install 'gpuscope[parquet]', or export as CSV.") from error
    names = figure_names(tables)
    texts = [(name, pa.string()) for name in ("device", "name", "hostname")]
    figures = [(name, pa.float64()) for name in names]
    schema = pa.schema([("time", pa.timestamp("us", tz="UTC")), *texts, ("index", pa.int64()), *figures])
    with parquet.ParquetWriter(file, schema) as writer:
        for done, table in enumerate(tables):
            writer.write_table(pa.table(_columns(pa, table, names), schema=schema))
            progress((done + 1) / len(tables))


def _columns(pa: Any, table: Readings, names: Sequence[str]) -> dict[str, Any]:
    rows, device = len(table.wall_s), table.device
    facts = ("host", None, None, None) if device is None else (device.uuid, device.name, device.hostname, device.index)
    times = np.rint(table.wall_s * 1e6).astype("datetime64[us]")
    columns: dict[str, Any] = {"time": times}
    columns |= {name: [fact] * rows for name, fact in zip(("device", "name", "hostname", "index"), facts, strict=True)}
    missing = np.full(rows, np.nan)
    columns |= {name: pa.array(table.columns.get(name, missing), from_pandas=True) for name in names}
    return columns
