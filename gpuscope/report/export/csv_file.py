"""Readings as CSV: one row for each device and moment, one column for each figure, empty where it is missing."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import IO

from gpuscope.domain.sample_fields import is_whole
from gpuscope.report.export.readings import Readings, figure_names

FIRST_COLUMNS = ("time", "unix_s", "device", "index", "name", "hostname")
ROWS_AT_ONCE = 20_000


def write_csv(tables: Sequence[Readings], file: IO[bytes], progress: Callable[[float], None]) -> None:
    """Write the tables one after the other, in UTF-8, with one heading.

    Args:
        tables: of one session.
        file: to write into.
        progress: is told the share that is done; to cancel, it raises.
    """
    names = figure_names(tables)
    total = sum(len(table.wall_s) for table in tables) or 1
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow((*FIRST_COLUMNS, *names))
    done = 0
    for table in tables:
        for first in range(0, len(table.wall_s), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            writer.writerows(_rows(table, names, part))
            done += len(table.wall_s[part])
            progress(done / total)
    text.flush()
    text.detach()


def _rows(table: Readings, names: Sequence[str], part: slice) -> list[tuple[object, ...]]:
    wall_s = table.wall_s[part].tolist()
    device = table.device
    facts = ("host", "", "", "") if device is None else tuple(
        map(_inert, (device.uuid, str(device.index), device.name, device.hostname or ""))
    )  # fmt: skip
    columns: list[list[str]] = [_texts(table, name, part) for name in names]
    moments = [datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds") for moment in wall_s]
    return [
        (moment, f"{unix_s:.6f}", *facts, *figures)
        for moment, unix_s, *figures in zip(moments, wall_s, *columns, strict=True)
    ]


def _texts(table: Readings, name: str, part: slice) -> list[str]:
    column = table.columns.get(name)
    if column is None:
        return [""] * len(table.wall_s[part])
    values: list[float] = column[part].tolist()
    if is_whole(name):
        return ["" if math.isnan(value) else f"{value:.0f}" for value in values]
    return ["" if math.isnan(value) else repr(value).removesuffix(".0") for value in values]


def _inert(text: str) -> str:
    """A name that a spreadsheet would run as a formula gets an apostrophe before it."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
