"""All GPUs of a cluster on one map, for a figure that the person chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from gpuscope.domain.device import Device
from gpuscope.ui import figures
from gpuscope.ui.figures import Figure
from gpuscope.ui.fleet.arrange import Machine, Order, machines_of, ordered
from gpuscope.ui.fleet.heat_map import Block, Cell, HeatMap
from gpuscope.ui.monitor_model import Reading
from gpuscope.ui.theme import GRID, metric_colour, set_role

translate = QCoreApplication.translate

MAP_HEIGHT_PX = 208
"""A dozen rows of machines, so that the plots stay in sight; the others are below."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A figure that the map can show.

    Attributes:
        field: of GpuSample.
        metric: its colour.
        figure: its text.
        top: the highest value of the scale; None: the highest that any GPU has.
    """

    field: str
    label: str
    metric: str
    figure: Callable[[float | None], Figure]
    top: float | None = None


class Readings(Protocol):
    """Whoever knows the newest figures; the Monitor's model does."""

    def reading(self, key: str, name: str) -> Reading:
        """The newest value of a figure of a GPU, or why there is none."""


class FleetMap(QWidget):
    """A heat map of all GPUs by machine, with what it shows and how it is sorted above it.

    Attributes:
        map: the cells.
    """

    chosen = Signal(str)
    """UUID of a GPU."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No GPUs."""
        super().__init__(parent)
        self._machines: list[Machine] = []
        self._devices: dict[str, Device] = {}
        self._labels: dict[str, str] = {}
        self._model: Readings | None = None
        self._selected: str | None = None
        self._scrolled_to: str | None = None
        self._figures = _figures()
        self._figure_box = QComboBox(self)
        for shown in self._figures:
            self._figure_box.addItem(shown.label)
        self._order_box = QComboBox(self)
        self._order_box.addItem(translate("FleetMap", "Outliers first"), Order.OUTLIERS)
        self._order_box.addItem(translate("FleetMap", "By name"), Order.NAME)
        self._legend = QLabel(self)
        set_role(self._legend, "muted")
        self.map = HeatMap(metric_colour(self._figures[0].metric), self)
        self.map.setAccessibleName(translate("FleetMap", "Map of all GPUs"))
        self.map.chosen.connect(self.chosen)
        self._scroll = QScrollArea(self)
        self._scroll.setWidget(self.map)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFixedHeight(MAP_HEIGHT_PX)
        self._figure_box.currentIndexChanged.connect(self._redraw)
        self._order_box.currentIndexChanged.connect(self._redraw)
        self._lay_out()

    def set_devices(self, devices: Sequence[Device]) -> None:
        """The GPUs there are."""
        self._machines = machines_of(devices)
        self._devices = {device.uuid: device for device in devices}
        self._labels = figures.device_labels(devices)

    def draw(self, model: Readings, selected: str | None) -> None:
        """Show the newest values, with one GPU marked."""
        self._model, self._selected = model, selected
        self._redraw()

    def _redraw(self) -> None:
        if self._model is None:
            return
        shown = self._figures[self._figure_box.currentIndex()]
        readings = {key: self._model.reading(key, shown.field) for key in self._devices}
        values = {key: reading.value for key, reading in readings.items()}
        top = shown.top or max((value for value in values.values() if value is not None), default=1.0) or 1.0
        machines = ordered(self._machines, values, self._order_box.currentData())
        self.map.set_colour(metric_colour(shown.metric))
        self.map.show_blocks([self._block(machine, shown, readings, top) for machine in machines], self._selected)
        if self._selected != self._scrolled_to:
            self._scrolled_to = self._selected
            place = self.map.place_of(self._selected or "").center()
            self._scroll.ensureVisible(place.x(), place.y())
        self._legend.setText(self._legend_text(shown, values, top))

    def _block(self, machine: Machine, shown: _Shown, readings: dict[str, Reading], top: float) -> Block:
        """A machine's cells; the colour of `top` is full."""
        cells = []
        for key in machine.keys:
            value, why_not = readings[key].value, readings[key].why_not
            text = " ".join(shown.figure(value)) if value is not None else why_not
            hint = f"{machine.name} {self._labels[key]}  {self._devices[key].name}\n{shown.label}: {text}"
            cells.append(Cell(key, None if value is None else value / top, hint))
        return Block(" ".join(part for part in (machine.rack, machine.name) if part), tuple(cells))

    def _legend_text(self, shown: _Shown, values: dict[str, float | None], top: float) -> str:
        unknown = sum(value is None for value in values.values())
        text = translate("FleetMap", "{0} GPUs in {1} machines; pale is 0, full colour {2}").format(
            len(values), len(self._machines), " ".join(shown.figure(top))
        )
        return text + (translate("FleetMap", "; {0} say nothing").format(unknown) if unknown else "")

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setSpacing(GRID)
        bar.addWidget(self._figure_box)
        bar.addWidget(self._order_box)
        bar.addWidget(self._legend, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(bar)
        layout.addWidget(self._scroll)


def _figures() -> tuple[_Shown, ...]:
    tr = translate
    return (
        _Shown("utilization_gpu_percent", tr("FleetMap", "Utilisation"), "utilization_gpu", figures.percent, 100.0),
        _Shown("memory_used_bytes", tr("FleetMap", "Memory used"), "gpu_memory", figures.memory),
        _Shown("power_w", tr("FleetMap", "Power"), "power", figures.watts),
        _Shown("temperature_c", tr("FleetMap", "Temperature"), "temperature", figures.celsius),
        _Shown("tensor_activity_percent", tr("FleetMap", "Tensor cores busy"), "clock_sm", figures.percent, 100.0),
        _Shown("dram_bandwidth_percent", tr("FleetMap", "Memory bandwidth used"), "pcie", figures.percent, 100.0),
    )
