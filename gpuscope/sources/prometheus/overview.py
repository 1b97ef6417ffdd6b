"""A quick look at a cluster: its GPUs, how busy each was, and the jobs, in two questions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from gpuscope.domain.device import Device
from gpuscope.domain.gpu_labels import gpu_key
from gpuscope.domain.gpu_metrics import METRICS
from gpuscope.sources.prometheus.selection import UTILIZATION_METRICS, Selection, devices_in, gpu_labels, jobs_in
from gpuscope.sources.prometheus.server import Server


@dataclass(frozen=True, slots=True)
class Overview:
    """What a server says of some GPUs between two moments.

    Attributes:
        devices: the GPUs.
        utilization_percent: mean of each over that time, by key; one that says nothing is not in it.
        jobs: whose work they did, by name.
    """

    devices: tuple[Device, ...]
    utilization_percent: dict[str, float]
    jobs: tuple[str, ...]


def look_around(server: Server, selection: Selection, start_s: float, end_s: float) -> Overview:
    """Look before anything else is read.

    Raises:
        SourceError: there are no such GPUs, or see `Server`.
    """
    label_sets = gpu_labels(server, selection, start_s, end_s)
    devices = devices_in(server, label_sets)
    window = f"{max(1, math.ceil(end_s - start_s))}s"
    means = " or ".join(
        f"{METRICS[name].scale:g} * avg_over_time({selection.selector(name)}[{window}])" for name in UTILIZATION_METRICS
    )
    found: dict[str, list[float]] = {}
    for series in server.instant(means, end_s):  # a GPU whose labels changed comes more than once
        found.setdefault(gpu_key(series.labels), []).append(float(series.values[0]))
    known = {key: fmean(values) for key, values in found.items() if not math.isnan(fmean(values))}
    return Overview(tuple(devices.values()), known, tuple(sorted(jobs_in(label_sets))))
