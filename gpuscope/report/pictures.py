"""The plots of a report as data: the machine and the steps over session time."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gpuscope.domain.device import Device
from gpuscope.domain.events import Event
from gpuscope.domain.reasons import REASON_SENTENCES
from gpuscope.domain.series import EMPTY, HOST_KEY, Series, Timeline
from gpuscope.report.model import Phase, Plot, PlotLine
from gpuscope.report.series import plot_line
from gpuscope.report.text import Texts

MAX_GPU_LINES = 7
"""More lines than distinct colours cannot be told apart; then mean, lowest and highest of all GPUs are shown."""


def pictures(
    timeline: Timeline, devices: list[Device], events: list[Event], texts: Texts
) -> tuple[tuple[Plot, ...], tuple[Phase, ...]]:
    """All plots over session time, each with the reason when there is nothing to draw, and the phases behind them."""
    steps = step_series(events)
    end_s = max(timeline.end_s, float(steps.t[-1]) if len(steps.t) else 0.0)
    gpus = _GpuPlots(timeline, devices, end_s, texts)
    return (
        (
            gpus.plot("plot.utilization", "utilization_gpu_percent", "percent", 100.0),
            gpus.plot("plot.gpu_memory", "memory_used_bytes", "bytes", _memory_of_one(devices)),
            _step_plot(steps, end_s, texts),
            _host_plot(timeline, end_s, texts, "plot.cpu", "cpu_percent"),
            _host_plot(timeline, end_s, texts, "plot.host_memory", "workload_rss_bytes"),
            gpus.plot("plot.power", "power_w", "w", None),
        ),
        _phases(steps, end_s),
    )


def step_series(events: list[Event]) -> Series:
    """Seconds of each step of the process that made most steps, at the time it ended."""
    by_process: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        duration = event.data.get("duration_s")
        if event.kind == "step" and isinstance(duration, (int, float)):
            by_process[event.source].append((event.t, float(duration)))
    if not by_process:
        return EMPTY
    rows = np.asarray(max(by_process.values(), key=len), dtype=np.float64)
    return Series(rows[:, 0], rows[:, 1])


def _phases(steps: Series, end_s: float) -> tuple[Phase, ...]:
    if not len(steps.t):
        return ()
    first, last = float(steps.t[0] - steps.values[0]), float(steps.t[-1])
    bounds = [("phase.start", 0.0, max(first, 0.0)), ("phase.steps", max(first, 0.0), last), ("phase.end", last, end_s)]
    return tuple(Phase(key=key, start_s=start, end_s=end) for key, start, end in bounds if end > start)


def _memory_of_one(devices: list[Device]) -> float | None:
    sizes = [device.memory_total_bytes for device in devices if device.memory_total_bytes is not None]
    return float(max(sizes)) if sizes else None


def _step_plot(steps: Series, end_s: float, texts: Texts) -> Plot:
    line = plot_line("", [steps], 0.0, end_s, gaps=False)
    missing = "" if line else texts("missing.no_steps")
    return Plot(key="plot.step_time", unit="s_per_step", lines=(line,) if line else (), missing=missing)


def _host_plot(timeline: Timeline, end_s: float, texts: Texts, key: str, field: str) -> Plot:
    percent = field.endswith("percent")
    line = plot_line("", [timeline.get(HOST_KEY, field)], 0.0, end_s)
    return Plot(
        key=key,
        unit="percent" if percent else "bytes",
        maximum=100.0 if percent else None,
        lines=(line,) if line else (),
        missing="" if line else texts("missing.no_samples"),
    )


class _GpuPlots:
    """Plots with a line for each GPU, or one band for many."""

    def __init__(self, timeline: Timeline, devices: list[Device], end_s: float, texts: Texts) -> None:
        self._timeline = timeline
        self._devices = devices
        self._end_s = end_s
        self._texts = texts

    def plot(self, key: str, field: str, unit: str, maximum: float | None) -> Plot:
        """The plot of one field of all GPUs."""
        series = [self._timeline.get(device.uuid, field) for device in self._devices]
        if len(series) > MAX_GPU_LINES:
            label = self._texts("plot.all_gpus", count=len(series))
            drawn = [plot_line(label, series, 0.0, self._end_s)]
        else:
            drawn = [
                plot_line(self._texts("plot.gpu", index=device.index), [part], 0.0, self._end_s)
                for device, part in zip(self._devices, series, strict=True)
            ]
        lines: tuple[PlotLine, ...] = tuple(line for line in drawn if line is not None)
        return Plot(key=key, unit=unit, maximum=maximum, lines=lines, missing="" if lines else self._reason(field))

    def _reason(self, field: str) -> str:
        if not self._devices:
            return self._texts("missing.no_gpu")
        reasons = [self._timeline.reason(device.uuid, field) for device in self._devices]
        known = next((reason for reason in reasons if reason is not None), None)
        return self._texts("missing.no_samples") if known is None else REASON_SENTENCES[known]
