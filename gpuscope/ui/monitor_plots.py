"""The plots of the Monitor, drawn over the shared stretch of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.domain.device import Device
from gpuscope.domain.host_capacity import HostCapacity
from gpuscope.domain.units import GIB
from gpuscope.ui import figures
from gpuscope.ui.decimate import min_max
from gpuscope.ui.figures import Figure
from gpuscope.ui.monitor_lines import GPU, Line, explanations, plot_lines
from gpuscope.ui.monitor_model import MonitorModel
from gpuscope.ui.rings import FloatArray
from gpuscope.ui.theme import GRID, METRIC_COLOURS
from gpuscope.ui.widgets.axes import Scale
from gpuscope.ui.widgets.plot import CurveStyle, TimePlot

translate = QCoreApplication.translate

PERCENT = Scale(label=lambda value: f"{value:g} %", top=100.0)
MEMORY = Scale(label=figures.gib_tick, unit=GIB, least_top=GIB)
RATE = Scale(label=figures.rate_tick, least_top=1e6)
LEAST_POWER_W = 10.0
POWER = Scale(label=lambda value: f"{value:g} W", least_top=LEAST_POWER_W)
CLOCK = Scale(label=lambda value: f"{value / 1000:g} GHz", least_top=100.0)
TEMPERATURE = Scale(label=lambda value: f"{value:g} °C", least_top=100.0)
GPU_PLOTS = ("memory", "bandwidth", "power", "heat")
"""Plots that are about GPUs alone."""
WIDEST_READING_S = 15.0
"""So far back a rate without a cursor is looked for."""


class MonitorPlots(QWidget):
    """All plots, one below the other, over the same stretch of time.

    The chosen GPU's curves are the subject; the same figure of the other GPUs lies behind them, pale.
    """

    moved = Signal(float)
    scaled = Signal(float, float)
    reset_requested = Signal()
    cursor_moved = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Plots without data."""
        super().__init__(parent)
        self._uuids: list[str] = []
        self._chosen: Device | None = None
        self._power_top_w = LEAST_POWER_W
        self._nvlink_shown = False
        tr = translate
        self.plots = {
            "utilization": TimePlot(tr("MonitorPlots", "Utilisation"), PERCENT, parent=self),
            "memory": TimePlot(tr("MonitorPlots", "GPU memory"), MEMORY, parent=self),
            "bandwidth": TimePlot(tr("MonitorPlots", "Links"), RATE, parent=self),
            "power": TimePlot(tr("MonitorPlots", "Power and clocks"), POWER, CLOCK, parent=self),
            "heat": TimePlot(tr("MonitorPlots", "Heat and lost speed"), TEMPERATURE, PERCENT, parent=self),
            "disks": TimePlot(tr("MonitorPlots", "Disks and network"), RATE, parent=self),
            "host": TimePlot(tr("MonitorPlots", "Host"), PERCENT, MEMORY, parent=self),
        }
        self._lines = plot_lines()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        for name, plot in self.plots.items():
            plot.moved.connect(self.moved)
            plot.scaled.connect(self.scaled)
            plot.reset_requested.connect(self.reset_requested)
            plot.cursor_moved.connect(self.cursor_moved)
            plot.setWhatsThis(explanations()[name])
            layout.addWidget(plot, 1)
        self.plots["host"].show_time_axis(visible=True)
        self.set_devices([], None, None)

    def set_devices(self, uuids: Sequence[str], chosen: Device | None, host: HostCapacity | None) -> None:
        """The GPUs that are compared, the one that the plots are about, and what of the host is open to the work."""
        self._uuids, self._chosen = list(uuids), chosen
        memory_is_limited = host is not None and host.memory_is_limited
        cores = host.cpus if host is not None and host.cpus_are_limited else None
        self._lines = plot_lines(cores, memory_is_limited=memory_is_limited)
        for name, plot in self.plots.items():
            plot.set_curves(self._styles(name))
        gpu_memory = chosen.memory_total_bytes if chosen is not None else None
        host_memory = host.memory_total_bytes if host is not None else None
        self.plots["memory"].set_scales(Scale(label=figures.gib_tick, unit=GIB, top=gpu_memory, least_top=GIB))
        host_scale = Scale(label=figures.gib_tick, unit=GIB, top=host_memory, least_top=GIB)
        self.plots["host"].set_scales(PERCENT, host_scale)
        for name in GPU_PLOTS:
            self.plots[name].setVisible(chosen is not None)

    def draw(
        self, model: MonitorModel, span: tuple[float, float], cursor_s: float | None, marked: Sequence[float] = ()
    ) -> None:
        """Draw everything over a stretch of time, with the values at the cursor or else the newest.

        Args:
            model: has the readings.
            span: session times of the left and right edge.
            cursor_s: session time of the cursor; None: there is none.
            marked: session times of markers.
        """
        self._hide_what_is_never_there(model)
        markers = np.asarray(marked, dtype=np.float64)
        for name, plot in self.plots.items():
            if plot.isHidden():
                continue
            plot.draw(span, self._data(name, model, span))
            plot.show_limits(self._limits(name, model))
            plot.draw_markers(markers)
            plot.show_cursor(cursor_s)
            plot.show_values(self._values(name, model, cursor_s))
        utilization = self.plots["utilization"]
        ticks = model.step_times(*span)
        utilization.draw_ticks(min_max(ticks, ticks, *span, utilization.columns)[0] if len(ticks) else ticks)

    def _hide_what_is_never_there(self, model: MonitorModel) -> None:
        chosen = self._chosen
        if chosen is None:
            return
        for name in GPU_PLOTS:
            shown = any(model.has_values(chosen.uuid, line.field) for line in self._lines[name])
            if shown == self.plots[name].isHidden():
                self.plots[name].setVisible(shown)
        linked = any(model.has_values(chosen.uuid, line.field) for line in self._lines["bandwidth"] if line.right)
        if linked != self._nvlink_shown:
            self._nvlink_shown = linked
            self.plots["bandwidth"].set_scales(RATE, RATE if linked else None)

    def _data(
        self, name: str, model: MonitorModel, span: tuple[float, float]
    ) -> dict[str, tuple[FloatArray, FloatArray]]:
        plot = self.plots[name]
        lines = {line.key: line for line in self._lines[name]}
        data = {}
        for style in plot.styles:
            device, field = style.key.rsplit(":", 1)
            key = self._key_of(device)
            if key is None:
                continue
            t, values = model.between(key, field, *span, plot.columns)
            line = lines.get(style.key)
            if line is not None and line.derive is not None:
                t, values = line.derive(t, values)
            data[style.key] = min_max(t, values, *span, plot.columns)
        return data

    def _key_of(self, device: str) -> str | None:
        if device != GPU:
            return device
        return self._chosen.uuid if self._chosen is not None else None

    def _styles(self, name: str) -> list[CurveStyle]:
        subject, context = [], []
        for line in self._lines[name]:
            if line.device == GPU and self._chosen is None:
                continue
            colour = METRIC_COLOURS[line.metric]
            subject.append(CurveStyle(line.key, line.label, colour, dashed=line.dashed, right=line.right))
            if line.device == GPU and not (line.dashed or line.right or line.alone):
                others = [uuid for uuid in self._uuids if self._chosen is not None and uuid != self._chosen.uuid]
                context += [CurveStyle(f"{uuid}:{line.field}", "", colour, faint=True) for uuid in others]
        return context + subject

    def _limits(self, name: str, model: MonitorModel) -> dict[str, tuple[float, str]]:
        """Where dotted lines go: what the chosen GPU may draw, and at which temperatures it slows down."""
        chosen = self._chosen
        if chosen is None:
            return {}
        known: dict[str, tuple[float | None, str]] = {}
        if name == "power":
            limit_w = model.reading(chosen.uuid, "power_limit_w").value or chosen.power_limit_w
            known["power"] = (limit_w, METRIC_COLOURS["power"])
            self._show_power_up_to(limit_w)
        elif name == "heat":
            known["gpu"] = (chosen.temperature_slowdown_c, METRIC_COLOURS["temperature"])
            known["memory"] = (chosen.temperature_memory_max_c, METRIC_COLOURS["temperature_memory"])
        return {key: (value, colour) for key, (value, colour) in known.items() if value}

    def _show_power_up_to(self, limit_w: float | None) -> None:
        """The axis reaches to the limit; power above it still makes it longer."""
        top_w = max(LEAST_POWER_W, limit_w or 0.0)
        if top_w != self._power_top_w:
            self._power_top_w = top_w
            self.plots["power"].set_scales(Scale(label=POWER.label, least_top=top_w), CLOCK)

    def _values(self, name: str, model: MonitorModel, cursor_s: float | None) -> dict[str, Figure]:
        values = {}
        for line in self._lines[name]:
            key = self._key_of(line.device)
            if key is None:
                continue
            value = self._value(line, key, model, cursor_s)
            if value is not None or not line.optional:
                limit = model.reading(key, line.limit_field).value if line.limit_field else None
                values[line.key] = figures.of_limit(line.figure(value), line.figure(limit))
        return values

    def _value(self, line: Line, key: str, model: MonitorModel, cursor_s: float | None) -> float | None:
        if line.derive is None:
            return model.reading(key, line.field).value if cursor_s is None else model.at(key, line.field, cursor_s)
        end_s = model.end_s if cursor_s is None else cursor_s
        t, values = line.derive(*model.between(key, line.field, end_s - WIDEST_READING_S, end_s))
        place = int(np.searchsorted(t, end_s, side="right")) - 1
        if place < 0 or np.isnan(values[place]) or end_s - t[place] > WIDEST_READING_S:
            return None
        return float(values[place])
