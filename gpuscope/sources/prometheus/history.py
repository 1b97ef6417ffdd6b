"""What a Prometheus server kept of some GPUs and their hosts between two moments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from gpuscope.domain.device import Device
from gpuscope.domain.gpu_labels import gpu_key, host_of
from gpuscope.domain.gpu_metrics import METRICS
from gpuscope.domain.host_metrics import host_expressions
from gpuscope.domain.sentinels import is_blank
from gpuscope.domain.series import FloatArray
from gpuscope.errors import UsageError
from gpuscope.sources.prometheus.selection import UTILIZATION_METRICS, Selection, find_gpus
from gpuscope.sources.prometheus.server import Series, Server

USUAL_SCRAPE_S = 30.0
"""Taken where no two points tell the interval."""
MOST_ROWS = 2_000_000
"""Moments times GPUs that a step is chosen for: about 200 MB with a dozen figures each."""
MOST_MOMENTS = 5_000
"""Of one GPU: more than a plot has pixels."""
RATE_INTERVALS = 4
"""A rate needs two points in its window: four intervals bear a missed scrape."""
_HIGHEST = frozenset({"memory_used_bytes", "memory_total_bytes", "memory_reserved_bytes"})
"""Of these the highest in a step counts: whether something fits depends on it. Of the others the mean."""
_LAST = frozenset({"energy_j", "clock_event_reasons", "performance_state"})
"""Counters, masks and states have no mean."""


@dataclass(frozen=True, slots=True)
class Table:
    """Figures of one GPU or host: Unix times and columns by field, NaN where there was no point."""

    wall_s: FloatArray
    columns: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class History:
    """Figures of GPUs and hosts.

    Attributes:
        devices: by key of the GPU.
        gpus: tables by the same keys.
        hosts: tables by name of the machine.
        step_s: distance of the rows.
        scrape_interval_s: how often the server reads the exporters.
    """

    devices: dict[str, Device]
    gpus: dict[str, Table]
    hosts: dict[str, Table]
    step_s: float
    scrape_interval_s: float


def read_history(
    server: Server,
    selection: Selection,
    start_s: float,
    end_s: float,
    step_s: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> History:
    """All known figures of the chosen GPUs and of their hosts.

    A step longer than the scrape interval takes the mean of what lies in it; of memory the highest, of counters the
    last.

    Args:
        server: which is asked.
        selection: of GPUs.
        start_s: Unix seconds.
        end_s: Unix seconds.
        step_s: distance of the rows; None: the scrape interval, or as much longer as the number of GPUs asks for.
        progress: is told the share that is done; to cancel, it raises.

    Raises:
        UsageError: the end is not after the start.
        SourceError: the server has no GPUs for this, cannot be reached, or refuses.
    """
    if not end_s > start_s:
        raise UsageError("The end of that time is not after its start: exchange --from and --to.")
    devices = find_gpus(server, selection, start_s, end_s)
    scrape_s = scrape_interval_s(server, selection, end_s)
    step_s = step_s or default_step_s(end_s - start_s, scrape_s, len(devices))
    metrics = _metrics_there(server, selection, start_s, end_s)
    of_hosts = host_expressions(f"{math.ceil(max(step_s, RATE_INTERVALS * scrape_s))}s")
    questions = _Questions(server, start_s, end_s, step_s, len(metrics) + len(of_hosts), progress)
    moments = questions.moments
    gpus = {key: Table(moments) for key in devices}
    for name in metrics:
        answers = questions.ask(_over_step(name, selection, step_s, scrape_s))
        _place(gpus, METRICS[name].field, METRICS[name].scale, answers, gpu_key)
    hosts: dict[str, Table] = {}
    names = {device.hostname for device in devices.values() if device.hostname}
    for field_, expression in of_hosts.items():
        answers = [series for series in questions.ask(expression) if _host_name(series.labels) in names]
        for series in answers:
            hosts.setdefault(_host_name(series.labels), Table(moments))
        _place(hosts, field_, 1.0, answers, _host_name)
    return History(devices, gpus, hosts, step_s, scrape_s)


@dataclass(slots=True)
class _Questions:
    """One figure after another for the same moments.

    Attributes:
        count: how many will be asked.
        progress: is told the share that is answered.
    """

    server: Server
    start_s: float
    end_s: float
    step_s: float
    count: int
    progress: Callable[[float], None] | None
    answered: int = 0

    @property
    def moments(self) -> FloatArray:
        """Unix times of the rows."""
        return np.arange(self.start_s, self.end_s + self.step_s / 2, self.step_s)

    def ask(self, expression: str) -> list[Series]:
        """Values of an expression at all moments."""
        answers = self.server.over(expression, self.start_s, self.end_s, self.step_s)
        self.answered += 1
        if self.progress is not None:
            self.progress(self.answered / self.count)
        return answers


def default_step_s(span_s: float, scrape_s: float, gpus: int) -> float:
    """A whole multiple of the scrape interval that keeps a table of many GPUs within `MOST_ROWS`."""
    moments = min(MOST_MOMENTS, max(1, MOST_ROWS // max(1, gpus)))
    return max(1, math.ceil(span_s / moments / scrape_s)) * scrape_s


def scrape_interval_s(server: Server, selection: Selection, wall_s: float) -> float:
    """How often the server reads an exporter, from the distances of its points before a moment."""
    pattern = "|".join(UTILIZATION_METRICS)
    series = server.instant(f"topk(1, {selection.selector(pattern)})", wall_s)
    if not series:
        return USUAL_SCRAPE_S
    labels = {
        name: value for name, value in series[0].labels.items() if name in {"__name__", "UUID", "instance", "gpu"}
    }
    exact = Selection(tuple(f'{name}="{value}"' for name, value in labels.items() if name != "__name__"))
    points = server.instant(f"{exact.selector(labels.get('__name__', pattern))}[10m]", wall_s)
    gaps = np.diff(points[0].wall_s) if points else np.empty(0)
    return float(max(1.0, round(float(np.median(gaps))))) if len(gaps) else USUAL_SCRAPE_S


def _metrics_there(server: Server, selection: Selection, start_s: float, end_s: float) -> list[str]:
    """Which of the known metrics the server has; of two for the same field the first."""
    window_s = max(1, math.ceil(end_s - start_s))
    pattern = "|".join(METRICS)
    counted = server.instant(f"count by (__name__) (last_over_time({selection.selector(pattern)}[{window_s}s]))", end_s)
    there = {series.labels.get("__name__", "") for series in counted}
    by_field: dict[str, str] = {}
    for name, metric in METRICS.items():
        if name in there:
            by_field.setdefault(metric.field, name)
    return list(by_field.values())


def _over_step(name: str, selection: Selection, step_s: float, scrape_s: float) -> str:
    selector = selection.selector(name)
    field_ = METRICS[name].field
    if step_s <= scrape_s or field_ in _LAST:
        return f"last_over_time({selector}[{math.ceil(max(step_s, 1.5 * scrape_s))}s])"
    function = "max_over_time" if field_ in _HIGHEST else "avg_over_time"
    return f"{function}({selector}[{math.ceil(step_s)}s])"


def _place(
    tables: Mapping[str, Table],
    field_: str,
    scale: float,
    answers: list[Series],
    key: Callable[[dict[str, str]], str],
) -> None:
    """Put points into the rows of their moments; a GPU whose labels changed comes as several series."""
    for series in answers:
        table = tables.get(key(series.labels))
        if table is None:
            continue
        grid = table.wall_s
        step_s = grid[1] - grid[0] if len(grid) > 1 else 1.0
        rows = np.rint((series.wall_s - grid[0]) / step_s).astype(np.intp)
        inside = (rows >= 0) & (rows < len(grid)) & ~np.isnan(series.values) & ~is_blank(series.values)
        if inside.any():
            column = table.columns.setdefault(field_, np.full(len(grid), np.nan))
            column[rows[inside]] = series.values[inside] * scale


def _host_name(labels: dict[str, str]) -> str:
    return host_of(labels) or ""
