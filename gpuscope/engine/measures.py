"""Figures of a run from its steps and samples: pure functions that a footprint is put together from."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gpuscope.domain.base import NORMAL_90
from gpuscope.domain.footprint import Energy, Spread, StepTime
from gpuscope.domain.series import HOST_KEY, Series, Timeline

WARM_UP_SHARE = 0.1
WARM_UP_STEPS = (1, 10)
"""At least and at most so many steps at the beginning are not steady: caches, autotuning and lazy loading."""


def warm_up_steps(count: int) -> int:
    """How many steps at the beginning of `count` are left out of the steady figures."""
    least, most = WARM_UP_STEPS
    return min(most, max(least, round(count * WARM_UP_SHARE)), max(0, count - 1))


def step_time(durations_s: Sequence[float]) -> StepTime:
    """Median, 95th percentile, and the 90% interval of the median.

    The interval is the distribution-free one of order statistics: ranks n/2 ± 1.645·√n/2 (Conover, Practical
    Nonparametric Statistics, section 3.2).
    """
    if not durations_s:
        return StepTime()
    ordered = np.sort(np.asarray(durations_s))
    count = len(ordered)
    half = NORMAL_90 * math.sqrt(count) / 2
    low = ordered[max(0, math.floor(count / 2 - half))]
    high = ordered[min(count - 1, math.ceil(count / 2 + half))]
    p50 = float(np.median(ordered))
    return StepTime(p50=p50, p95=float(np.percentile(ordered, 95)), low=float(low), mid=p50, high=float(high))


def spread(series: Series, start_s: float, end_s: float) -> Spread | None:
    """Mean, median and 95th percentile of a percentage within a part of the session; None without a value there."""
    known = series.between(start_s, end_s).known
    if not len(known):
        return None
    p50, p95 = np.percentile(known, [50, 95])
    return Spread(mean=float(known.mean()), p50=float(p50), p95=float(p95))


def gpu_spread(timeline: Timeline, uuids: Sequence[str], start_s: float, end_s: float) -> Spread | None:
    """Utilisation of several GPUs together."""
    parts = [timeline.get(uuid, "utilization_gpu_percent").between(start_s, end_s) for uuid in uuids]
    parts = [part for part in parts if len(part.t)]
    if not parts:
        return None
    joined = Series(np.concatenate([p.t for p in parts]), np.concatenate([p.values for p in parts]))
    order = np.argsort(joined.t, kind="stable")
    return spread(Series(joined.t[order], joined.values[order]), start_s, end_s)


def energy(timeline: Timeline, uuids: Sequence[str], start_s: float, end_s: float, steps: int) -> tuple[Energy, str]:
    """Energy of the GPUs in a part of the session, and how it was found.

    The driver's energy counter is preferred; power over time is the fallback (A100 and H100 sample power during only a
    quarter of the time: arXiv 2312.02741). Both give the mean power between the first and the last reading, which lie
    up to a second inside the part; it is taken to hold for the whole of it.
    """
    if not uuids or end_s <= start_s:
        return Energy(), "no GPU in use"
    watts, how = 0.0, "difference of the driver's energy counter"
    for uuid in uuids:
        mean_w = _counted_power(timeline.get(uuid, "energy_j").between(start_s, end_s))
        if mean_w is None:
            mean_w = _sampled_power(timeline.get(uuid, "power_w").between(start_s, end_s))
            how = "power readings integrated over time"
        if mean_w is None:
            return Energy(), "no energy or power readings"
        watts += mean_w
    return Energy(per_step_j=watts * (end_s - start_s) / steps if steps else None, mean_power_w=watts), how


def _counted_power(counter: Series) -> float | None:
    """Mean power between the readings of an energy counter; None where they are too few or it started anew."""
    t, joules = counter.known_points
    if len(t) < 2 or (np.diff(joules) < 0).any():
        return None
    return float((joules[-1] - joules[0]) / (t[-1] - t[0]))


def _sampled_power(power: Series) -> float | None:
    """Mean of power readings over the time between the first and the last; None where they are too few."""
    t, watts = power.known_points
    return float(np.trapezoid(watts, t) / (t[-1] - t[0])) if len(t) > 1 else None


def peak(series: Series) -> int | None:
    """The highest known value, rounded; None when there is none."""
    known = series.known
    return round(float(known.max())) if len(known) else None


def mean(series: Series, start_s: float, end_s: float) -> float | None:
    """Mean of the known values within a part of the session."""
    known = series.between(start_s, end_s).known
    return float(known.mean()) if len(known) else None


def host_mean(timeline: Timeline, name: str, start_s: float, end_s: float) -> float | None:
    """Mean of a host figure within a part of the session."""
    return mean(timeline.get(HOST_KEY, name), start_s, end_s)
