"""The readings of a session as one table a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpuscope.domain.device import Device
from gpuscope.domain.sample_fields import GPU_FIGURES, HOST_FIGURES
from gpuscope.domain.series import HOST_KEY, FloatArray, Series, Timeline
from gpuscope.errors import UsageError
from gpuscope.store.reader import SessionReader


@dataclass(frozen=True, slots=True)
class Readings:
    """Figures of one device.

    Attributes:
        device: its facts; None for the host.
        wall_s: Unix times, rising.
        columns: by field, as long as `wall_s`; NaN where the figure is missing or was not read at that moment.
    """

    device: Device | None
    wall_s: FloatArray
    columns: dict[str, FloatArray]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Which part of a session, and how fine.

    Attributes:
        start_s: session time.
        end_s: session time; None: to the end.
        step_s: means over so many seconds instead of single readings; None: every reading.
    """

    start_s: float = 0.0
    end_s: float | None = None
    step_s: float | None = None

    def check(self) -> None:
        """Refuse what is no stretch of time.

        Raises:
            UsageError: it ends before it starts, or the step is none.
        """
        if self.end_s is not None and not self.end_s > self.start_s:
            raise UsageError("The part to export ends before it starts: exchange --from and --to.")
        if self.step_s is not None and not self.step_s > 0:
            raise UsageError(f"--step {self.step_s:g} is no length of time: give seconds above 0.")


def readings_of(reader: SessionReader, stretch: Stretch) -> Iterator[Readings]:
    """One table for each GPU that has any figure, and one for the host.

    Raises:
        UsageError: see `Stretch.check`.
    """
    stretch.check()
    timeline, manifest = reader.timeline(), reader.manifest
    keys: list[tuple[str, Device | None]] = [(device.uuid, device) for device in reader.devices()]
    for key, device in [*keys, (HOST_KEY, None)]:
        names = HOST_FIGURES if device is None else GPU_FIGURES
        t, columns = _table(timeline, key, names, stretch)
        if columns:
            yield Readings(device, t + manifest.created_wall_s, columns)


def _table(
    timeline: Timeline, key: str, names: dict[str, bool], stretch: Stretch
) -> tuple[FloatArray, dict[str, FloatArray]]:
    end_s = timeline.end_s if stretch.end_s is None else stretch.end_s
    found = {name: timeline.get(key, name).between(stretch.start_s, end_s) for name in names}
    found = {name: series for name, series in found.items() if len(series.known)}
    if not found:
        return np.empty(0), {}
    if stretch.step_s is not None:
        return _means(found, stretch.start_s, stretch.step_s)
    t = np.unique(np.concatenate([series.t for series in found.values()]))
    columns = {}
    for name, series in found.items():
        columns[name] = np.full(len(t), np.nan)
        columns[name][np.searchsorted(t, series.t)] = series.values
    return t, columns


def _means(found: dict[str, Series], start_s: float, step_s: float) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Mean of the known values in each step; its time is the step's beginning."""
    last_s = max(float(series.t[-1]) for series in found.values())
    rows = int((last_s - start_s) // step_s) + 1
    columns = {}
    for name, series in found.items():
        t, values = series.known_points
        places = ((t - start_s) // step_s).astype(np.intp)
        counts = np.bincount(places, minlength=rows)
        sums = np.bincount(places, weights=values, minlength=rows)
        columns[name] = np.divide(sums, counts, out=np.full(rows, np.nan), where=counts > 0)
    times = start_s + step_s * np.arange(rows, dtype=np.float64)
    some = np.any([~np.isnan(column) for column in columns.values()], axis=0)
    return times[some], {name: column[some] for name, column in columns.items()}


def figure_names(tables: Sequence[Readings]) -> list[str]:
    """Every figure that any of the tables has, each once, in the order of the tables."""
    return list(dict.fromkeys(name for table in tables for name in table.columns))
