"""The plots of the Monitor: which figures each shows, and how they are drawn over the shared stretch of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.domain.series import HOST_KEY
from gpuscope.domain.units import GIB
from gpuscope.ui import figures
from gpuscope.ui.decimate import min_max
from gpuscope.ui.figures import Figure
from gpuscope.ui.monitor_model import MonitorModel
from gpuscope.ui.rings import FloatArray
from gpuscope.ui.theme import GRID, METRIC_COLOURS
from gpuscope.ui.widgets.axes import Scale
from gpuscope.ui.widgets.plot import CurveStyle, TimePlot

translate = QCoreApplication.translate

GPU = "gpu"
PERCENT = Scale(label=lambda value: f"{value:g} %", top=100.0)
MEMORY = Scale(label=figures.gib_tick, unit=GIB, least_top=GIB)
RATE = Scale(label=figures.rate_tick, least_top=1e6)
POWER = Scale(label=lambda value: f"{value:g} W", least_top=10.0)
CLOCK = Scale(label=lambda value: f"{value / 1000:g} GHz", least_top=100.0)


@dataclass(frozen=True, slots=True)
class _Line:
    """One figure of the chosen GPU or of the host."""

    device: str
    field: str
    label: str
    metric: str
    figure: Callable[[float | None], Figure]
    dashed: bool = False
    right: bool = False
    optional: bool = False
    """Its value is only shown when there is one: it is no figure of every session."""
    alone: bool = False
    """Of the chosen GPU only: the other GPUs' curves do not lie behind it."""

    @property
    def key(self) -> str:
        return f"{self.device}:{self.field}"


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
        self._chosen: str | None = None
        self.plots = {
            "utilization": TimePlot(translate("MonitorPlots", "Utilisation"), PERCENT, parent=self),
            "memory": TimePlot(translate("MonitorPlots", "GPU memory"), MEMORY, parent=self),
            "bandwidth": TimePlot(translate("MonitorPlots", "Traffic"), RATE, parent=self),
            "power": TimePlot(translate("MonitorPlots", "Power and clocks"), POWER, CLOCK, parent=self),
            "host": TimePlot(translate("MonitorPlots", "Host"), PERCENT, MEMORY, parent=self),
        }
        self._lines = _lines()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        for name, plot in self.plots.items():
            plot.moved.connect(self.moved)
            plot.scaled.connect(self.scaled)
            plot.reset_requested.connect(self.reset_requested)
            plot.cursor_moved.connect(self.cursor_moved)
            plot.setWhatsThis(_explanations()[name])
            layout.addWidget(plot, 1)
        self.plots["host"].show_time_axis(visible=True)
        self.set_devices([], None, None, None)

    def set_devices(
        self, uuids: list[str], chosen: str | None, gpu_memory_bytes: float | None, host_memory_bytes: float | None
    ) -> None:
        """The GPUs there are, the one that the plots are about, and how high the memory axes go."""
        self._uuids, self._chosen = uuids, chosen
        for name, plot in self.plots.items():
            plot.set_curves(self._styles(name))
        gpu_scale = Scale(label=figures.gib_tick, unit=GIB, top=gpu_memory_bytes, least_top=GIB)
        host_scale = Scale(label=figures.gib_tick, unit=GIB, top=host_memory_bytes, least_top=GIB)
        self.plots["memory"].set_scales(gpu_scale)
        self.plots["host"].set_scales(PERCENT, host_scale)
        for name in ("memory", "power"):
            self.plots[name].setVisible(chosen is not None)

    def draw(self, model: MonitorModel, span: tuple[float, float], cursor_s: float | None) -> None:
        """Draw everything over a stretch of time, with the values at the cursor or else the newest."""
        for name, plot in self.plots.items():
            if plot.isHidden():
                continue
            data = {}
            for style in plot.styles:
                device, field = style.key.rsplit(":", 1)
                key = self._chosen if device == GPU else device
                if key is not None:
                    data[style.key] = _reduced(model, key, field, span, plot.columns)
            plot.draw(span, data)
            plot.show_cursor(cursor_s)
            plot.show_values(self._values(name, model, cursor_s))
        utilization = self.plots["utilization"]
        ticks = model.step_times(*span)
        utilization.draw_ticks(min_max(ticks, ticks, *span, utilization.columns)[0] if len(ticks) else ticks)

    def _styles(self, name: str) -> list[CurveStyle]:
        subject, context = [], []
        for line in self._lines[name]:
            if line.device == GPU and self._chosen is None:
                continue
            colour = METRIC_COLOURS[line.metric]
            subject.append(CurveStyle(line.key, line.label, colour, dashed=line.dashed, right=line.right))
            if line.device == GPU and not (line.dashed or line.right or line.alone):
                others = [uuid for uuid in self._uuids if uuid != self._chosen]
                context += [CurveStyle(f"{uuid}:{line.field}", "", colour, faint=True) for uuid in others]
        return context + subject

    def _values(self, name: str, model: MonitorModel, cursor_s: float | None) -> dict[str, Figure]:
        values = {}
        for line in self._lines[name]:
            key = self._chosen if line.device == GPU else line.device
            if key is None:
                continue
            value = model.reading(key, line.field).value if cursor_s is None else model.at(key, line.field, cursor_s)
            if value is not None or not line.optional:
                values[line.key] = line.figure(value)
        return values


def _reduced(
    model: MonitorModel, key: str, field: str, span: tuple[float, float], columns: int
) -> tuple[FloatArray, FloatArray]:
    t, values = model.between(key, field, *span, columns)
    return min_max(t, values, *span, columns)


def _lines() -> dict[str, list[_Line]]:
    percent, memory, rate = figures.percent, figures.memory, figures.rate
    tr = translate
    gpu, cpu = tr("MonitorPlots", "GPU"), tr("MonitorPlots", "CPU")
    return {
        "utilization": [
            _Line(GPU, "utilization_gpu_percent", gpu, "utilization_gpu", percent),
            _counter("sm_activity_percent", tr("MonitorPlots", "SMs"), "sm_activity", percent),
            _counter("tensor_activity_percent", tr("MonitorPlots", "tensor cores"), "tensor_activity", percent),
            _counter("dram_bandwidth_percent", tr("MonitorPlots", "memory bandwidth"), "dram_bandwidth", percent),
            _Line(HOST_KEY, "cpu_percent", cpu, "cpu", percent),
        ],
        "memory": [_Line(GPU, "memory_used_bytes", tr("MonitorPlots", "used"), "gpu_memory", memory)],
        "bandwidth": [
            _Line(GPU, "pcie_rx_bytes_per_s", tr("MonitorPlots", "PCIe in"), "pcie", rate),
            _Line(GPU, "pcie_tx_bytes_per_s", tr("MonitorPlots", "out"), "pcie", rate, dashed=True),
            _counter("nvlink_rx_bytes_per_s", tr("MonitorPlots", "NVLink in"), "nvlink", rate),
            _counter("nvlink_tx_bytes_per_s", tr("MonitorPlots", "out"), "nvlink", rate, dashed=True),
            _Line(HOST_KEY, "disk_read_bytes_per_s", tr("MonitorPlots", "disk read"), "disk", rate),
            _Line(HOST_KEY, "disk_write_bytes_per_s", tr("MonitorPlots", "write"), "disk", rate, dashed=True),
            _Line(HOST_KEY, "network_receive_bytes_per_s", tr("MonitorPlots", "net in"), "network", rate),
            _Line(HOST_KEY, "network_send_bytes_per_s", tr("MonitorPlots", "out"), "network", rate, dashed=True),
        ],
        "power": [
            _Line(GPU, "power_w", tr("MonitorPlots", "power"), "power", figures.watts),
            _Line(GPU, "clock_sm_mhz", tr("MonitorPlots", "SM clock"), "clock_sm", figures.megahertz, right=True),
            _Line(
                GPU,
                "clock_memory_mhz",
                tr("MonitorPlots", "memory clock"),
                "clock_memory",
                figures.megahertz,
                right=True,
            ),
        ],
        "host": [
            _Line(HOST_KEY, "cpu_percent", cpu, "cpu", percent),
            _Line(HOST_KEY, "memory_used_bytes", tr("MonitorPlots", "memory"), "host_memory", memory, right=True),
            _Line(
                HOST_KEY,
                "workload_rss_bytes",
                tr("MonitorPlots", "of it the run"),
                "host_memory",
                memory,
                dashed=True,
                right=True,
                optional=True,
            ),
        ],
    }


def _counter(
    field: str, label: str, metric: str, figure: Callable[[float | None], Figure], *, dashed: bool = False
) -> _Line:
    """A figure of hardware counters, which only some GPUs have."""
    return _Line(GPU, field, label, metric, figure, dashed=dashed, optional=True, alone=True)


def _explanations() -> dict[str, str]:
    tr = translate
    return {
        "utilization": tr(
            "MonitorPlots",
            "GPU: share of time in which at least one kernel ran, not of capacity. Where the chip counts them: SMs, "
            "share of the multiprocessors that had work; tensor cores, share of time in which they worked; memory "
            "bandwidth, of its peak. CPU: of all hardware threads. The small marks at the bottom are optimizer steps.",
        ),
        "memory": tr(
            "MonitorPlots",
            "Memory that processes hold on the chosen GPU; the axis ends at all there is. Other GPUs are pale.",
        ),
        "bandwidth": tr(
            "MonitorPlots",
            "PCIe of the chosen GPU from the driver's counters, NVLink over all its links; disks and network "
            "interfaces of the host, added up.",
        ),
        "power": tr("MonitorPlots", "Power drawn by the chosen GPU (left), its clocks (right)."),
        "host": tr("MonitorPlots", "CPU over all hardware threads (left), memory in use (right)."),
    }
