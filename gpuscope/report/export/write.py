"""Export a session's readings in the format that the file's name asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from gpuscope.errors import ReportError, ReportFormatError
from gpuscope.report.export.csv_file import write_csv
from gpuscope.report.export.parquet_file import write_parquet
from gpuscope.report.export.prometheus_text import write_prometheus
from gpuscope.report.export.readings import Readings, Stretch, readings_of
from gpuscope.report.whole_file import new_file
from gpuscope.store.reader import SessionReader

Writer = Callable[[Sequence[Readings], IO[bytes], Callable[[float], None]], None]

FORMATS: dict[str, Writer] = {".csv": write_csv, ".prom": write_prometheus, ".parquet": write_parquet}
"""File name suffix → writer."""


def export_readings(
    reader: SessionReader,
    path: Path,
    stretch: Stretch,
    *,
    overwrite: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> int:
    """Write the readings; the file appears whole or not at all.

    Args:
        reader: of the session.
        path: file to make; its suffix chooses the format.
        stretch: which part, and how fine.
        overwrite: replace a file that is there already.
        progress: is told the share that is done; to cancel, it raises, and no file is left.

    Returns:
        Rows: moments of all devices.

    Raises:
        ReportError: the suffix is unknown, there are no readings, or the file exists or cannot be written.
        UsageError: the part is none.
    """
    write = FORMATS.get(path.suffix.lower())
    if write is None:
        raise ReportFormatError(f"Readings cannot be written as {path.name!r}: end its name in {', '.join(FORMATS)}.")
    tables = list(readings_of(reader, stretch))
    if not tables:
        raise ReportError(f"{reader.path} holds no readings of GPUs or host in that time: nothing was written.")
    with new_file(path, overwrite=overwrite) as file:
        write(tables, file, progress)
    return sum(len(table.wall_s) for table in tables)
