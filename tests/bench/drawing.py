"""What a redraw of the Monitor costs, beside a bare pyqtgraph loop with as many plots and curves."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from gpuscope.domain.device import Device, Host
from gpuscope.domain.run import Manifest
from gpuscope.domain.sample import Frame, GpuSample, HostSample
from gpuscope.engine.follow import Update
from gpuscope.ui.monitor_panel import MonitorPanel
from tests.bench.measure import Comparison, interleave

GPUS = 8
HISTORY_S = 300
FRAMES_PER_S = 10
ROUND_S = 2.0
SIZE = (900, 800)
POINTS = 1800
"""Of a bare curve: two for each pixel column, as after decimation."""


def run(rounds: int) -> Comparison:
    """CPU milliseconds a redraw while frames of eight GPUs come in ten times a second."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication(["bench"])
    monitor = _Monitor()
    bare = _Bare(*monitor.plots_and_curves())
    comparison = interleave(
        f"redraw of {GPUS} GPUs' Monitor",
        f"bare pyqtgraph, {bare.label}",
        "ms",
        ours=monitor.measure,
        baseline=bare.measure,
        rounds=rounds,
    )
    monitor.panel.close()
    bare.window.close()
    del application
    return comparison


class _Monitor:
    def __init__(self) -> None:
        self.panel = MonitorPanel()
        self.panel.resize(*SIZE)
        manifest = Manifest(
            session_id="bench", kind="record", created_wall_s=0.0, created_monotonic_s=0.0, gpuscope_version="0",
            host=Host(hostname="bench", os="Linux"), interval_s=1 / FRAMES_PER_S,
        )  # fmt: skip
        self.panel.on_session_opened(manifest)
        devices = [Device(uuid=f"GPU-{index}", index=index, name="NVIDIA H100 80GB HBM3") for index in range(GPUS)]
        self._next = HISTORY_S * FRAMES_PER_S
        self.panel.on_update(Update(frames=[_frame(n) for n in range(self._next)], devices=devices))
        self.panel.on_loaded()
        self.panel.set_window(HISTORY_S)

    def plots_and_curves(self) -> tuple[int, int]:
        """How many plots are there, and how many curves with points in them."""
        self.panel.show()
        _spin(0.5)
        plots = self.panel.findChildren(pg.PlotWidget)
        items = [item for plot in plots for item in plot.scene().items() if isinstance(item, pg.PlotCurveItem)]
        curves = [item for item in items if item.isVisible() and item.getData()[0] is not None]
        self.panel.hide()
        return len(plots), len(curves)

    def measure(self) -> float:
        self.panel.show()
        _spin(0.3)
        before = self.panel.redraws
        spent_s = _feed(self._add)
        self.panel.hide()
        return 1000 * spent_s / max(1, self.panel.redraws - before)

    def _add(self) -> None:
        self.panel.on_update(Update(frames=[_frame(self._next)]))
        self._next += 1


class _Bare:
    def __init__(self, plots: int, curves: int) -> None:
        self.label = f"{plots} plots, {curves} curves"
        self.window = QWidget()
        self.window.resize(*SIZE)
        layout = QVBoxLayout(self.window)
        widgets = [pg.PlotWidget() for _ in range(plots)]
        for widget in widgets:
            layout.addWidget(widget)
        self._curves = [widgets[number % plots].plot() for number in range(curves)]
        self._t = np.linspace(0.0, HISTORY_S, POINTS)
        self._redraws = 0

    def measure(self) -> float:
        self.window.show()
        _spin(0.3)
        before = self._redraws
        spent_s = _feed(self._draw)
        self.window.hide()
        return 1000 * spent_s / (self._redraws - before)

    def _draw(self) -> None:
        self._redraws += 1
        for number, curve in enumerate(self._curves):
            curve.setData(self._t, np.sin(self._t / 7 + number + 0.1 * self._redraws))


def _frame(number: int) -> Frame:
    t = number / FRAMES_PER_S
    percent = 50 + 40 * math.sin(t / 7)
    gpus = tuple(
        GpuSample(
            uuid=f"GPU-{index}", utilization_gpu_percent=percent, power_w=400 + percent, temperature_c=54.0,
            memory_used_bytes=30 * 1024**3, memory_total_bytes=80 * 1024**3,
            clock_sm_mhz=1755.0, pcie_rx_bytes_per_s=1e9 + 1e7 * percent,
        )
        for index in range(GPUS)
    )  # fmt: skip
    host = HostSample(cpu_percent=percent, memory_used_bytes=10**10, memory_total_bytes=10**11)
    return Frame(monotonic_s=t, wall_s=t, gpus=gpus, host=host if number % FRAMES_PER_S == 0 else None)


def _feed(step: Callable[[], None]) -> float:
    """CPU seconds of this process while `step` is called ten times a second."""
    timer = QTimer()
    timer.timeout.connect(step)
    timer.start(1000 // FRAMES_PER_S)
    started_s = time.process_time()
    _spin(ROUND_S)
    timer.stop()
    return time.process_time() - started_s


def _spin(seconds: float) -> None:
    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()
