"""Readings in OpenMetrics text with times, as `promtool tsdb create-blocks-from openmetrics` takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO

import numpy as np

from gpuscope.report.export.readings import Readings, figure_names

PREFIX = "gpuscope_"


def write_prometheus(tables: Sequence[Readings], file: IO[bytes], progress: Callable[[float], None]) -> None:
    """Write a family for each figure, its points by time, and the end mark that the format asks for.

    Args:
        tables: of one session.
        file: to write into.
        progress: is told the share that is done; to cancel, it raises.
    """
    names = figure_names(tables)
    for done, name in enumerate(names):
        file.write(f"# TYPE {PREFIX}{name} gauge\n".encode())
        for table in tables:
            column = table.columns.get(name)
            if column is not None:
                present = ~np.isnan(column)
                labels = _labels(table)
                points = zip(column[present].tolist(), table.wall_s[present].tolist(), strict=True)
                lines = [f"{PREFIX}{name}{labels} {value!r} {wall_s:.3f}\n" for value, wall_s in points]
                file.write("".join(lines).encode())
        progress((done + 1) / len(names))
    file.write(b"# EOF\n")


def _labels(table: Readings) -> str:
    device = table.device
    if device is None:
        return '{device="host"}'
    pairs = {"device": device.uuid, "gpu": str(device.index), "model": device.name, "hostname": device.hostname or ""}
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs.items() if value) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
