"""GPU metrics that Nsight Systems samples (`--gpu-metrics-devices`), averaged over windows in the database itself."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from gpuscope.domain.footprint import Spread
from gpuscope.domain.imported import TracedMetric
from gpuscope.importers.nsight.database import Database
from gpuscope.importers.pytorch.intervals import Floats

_SAMPLES, _NAMES = "GPU_METRICS", "TARGET_INFO_GPU_METRICS"
_METRICS = (
    ("gr active", "graphics_engine"),
    ("sms active", "sm"),
    ("sm active", "sm"),
    ("tensor active", "tensor"),
    ("tensor pipe", "tensor"),
    ("dram read", "dram"),
    ("dram write", "dram"),
)
"""Beginnings of the names, which differ a little by GPU and release, and what they are here. In percent; reading and
writing are shares of the same peak and add up."""
_GPU_MASK = 0xFF
"""The low byte of `typeId` is the number of the GPU."""
_MOST_SAMPLES = 5_000_000
_MOST_PERCENT = 110
"""Counters of neighbouring moments add up to a little more than all; what is far beyond is damage."""


def metrics_of(database: Database) -> tuple[TracedMetric, ...]:
    """Mean, median and 95th percentile of each known metric of each GPU, over the whole recording."""
    names = _names(database)
    stamp = database.first_of(_SAMPLES, "timestamp", "rawTimestamp")
    if stamp is None or not database.has(_SAMPLES, "metricId", "typeId", "value"):
        return ()
    counts: dict[tuple[int, str], dict[float, int]] = defaultdict(lambda: defaultdict(int))
    for wanted in sorted(set(names.values())):
        rest = f"WHERE {_these(names, wanted)} GROUP BY typeId, {stamp} LIMIT {_MOST_SAMPLES}"
        for kind, value in database.rows(_SAMPLES, "typeId, sum(value)", rest):
            if 0 <= value <= _MOST_PERCENT:
                counts[kind & _GPU_MASK, wanted][min(100.0, float(value))] += 1
    return tuple(
        TracedMetric(device=device, name=name, percent=_spread(found))
        for (device, name), found in sorted(counts.items())
    )


def activity_over_time(database: Database, edges_us: Floats) -> dict[int, Floats]:
    """By GPU the mean share of time in which it was busy (GR Active), in windows of equal length; NaN without a
    sample."""
    names = {key: name for key, name in _names(database).items() if name == "graphics_engine"}
    stamp = database.first_of(_SAMPLES, "timestamp", "rawTimestamp")
    if not names or stamp is None or len(edges_us) < 2 or not database.has(_SAMPLES, "metricId", "typeId", "value"):
        return {}
    start_ns, width_ns = int(edges_us[0] * 1000), max(1, int((edges_us[1] - edges_us[0]) * 1000))
    select = f"typeId, ({stamp} - {start_ns}) / {width_ns} AS place, avg(value)"
    rest = f"WHERE {_these(names, 'graphics_engine')} AND typeof({stamp})='integer' GROUP BY 1, 2"
    windows: dict[int, Floats] = {}
    for kind, place, value in database.rows(_SAMPLES, select, rest):
        if isinstance(place, int) and 0 <= place < len(edges_us) - 1 and 0 <= value <= 100:
            found = windows.setdefault(kind & _GPU_MASK, np.full(len(edges_us) - 1, np.nan))
            found[place] = value
    return windows


def _names(database: Database) -> dict[tuple[int, int], str]:
    """By type and number of the metric."""
    if not database.has(_NAMES, "typeId", "metricId", "metricName"):
        return {}
    found: dict[tuple[int, int], str] = {}
    for kind, metric, name in database.rows(_NAMES, "typeId, metricId, metricName", "LIMIT 100000"):
        known = _known(name)
        if known is not None and isinstance(kind, int) and isinstance(metric, int):
            found[kind, metric] = known
    return found


def _these(names: dict[tuple[int, int], str], wanted: str) -> str:
    """The condition for samples of one of our metrics, as SQL; numbers alone go into it."""
    pairs = ", ".join(f"({kind}, {metric})" for (kind, metric), name in names.items() if name == wanted)
    return f"(typeId, metricId) IN (VALUES {pairs}) AND typeof(value) IN ('integer', 'real')"


def _known(name: Any) -> str | None:
    lowered = str(name).lower()
    return next((known for begin, known in _METRICS if lowered.startswith(begin)), None)


def _spread(counts: dict[float, int]) -> Spread:
    values = np.array(sorted(counts))
    weights = np.array([counts[value] for value in values.tolist()])
    reached = np.cumsum(weights) / weights.sum()
    p50, p95 = (float(values[np.searchsorted(reached, share - 1e-12)]) for share in (0.5, 0.95))
    return Spread(mean=float(values @ weights / weights.sum()), p50=p50, p95=p95)
