"""The chosen GPU and the host in depth: a grid of figures, each with its meaning on hover."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from gpuscope.domain.device import Device
from gpuscope.domain.reasons import FieldState, field_state
from gpuscope.domain.series import HOST_KEY
from gpuscope.ui import figures
from gpuscope.ui.figures import Figure
from gpuscope.ui.monitor_depth_gpu import DepthFigure, device_facts, gpu_groups
from gpuscope.ui.monitor_depth_host import host_groups
from gpuscope.ui.monitor_model import MonitorModel, Reading
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.elided_label import ElidedLabel
from gpuscope.ui.widgets.figure_label import FigureLabel
from gpuscope.ui.widgets.section import Section

translate = QCoreApplication.translate

CELL_WIDTH_PX = 20 * GRID
TITLE_WIDTH_PX = 14 * GRID
INTERVAL_S = 1.0
"""Figures are written this often: most of them are read no more often."""
FACTS = "facts"


class DepthSection(Section):
    """The grid under a title, folded at first; nothing is written while it is folded.

    Attributes:
        grid: the figures.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Folded."""
        self.grid = MonitorDepth()
        super().__init__(translate("Depth", "In depth"), self.grid, parent=parent)
        self._drawn: tuple[str | None, float] | None = None
        self.toggled.connect(self.forget)

    def forget(self) -> None:
        """Write everything with the next `draw`."""
        self._drawn = None

    def draw(self, model: MonitorModel, chosen: str | None) -> None:
        """Show the newest readings of a GPU and of the host, if it is open and they are due."""
        if not self.is_open:
            return
        if self._drawn is not None and self._drawn[0] == chosen and 0 <= model.end_s - self._drawn[1] < INTERVAL_S:
            return
        self._drawn = (chosen, model.end_s)
        self.grid.draw(model, next((device for device in model.devices if device.uuid == chosen), None))


class MonitorDepth(QWidget):
    """Rows of figures; one that the device never offers takes no room and is named in the last line instead.

    Attributes:
        labels: by device (`gpu` or `host`) and field.
        missing: names what is not offered, with the reasons on hover.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing to show yet."""
        super().__init__(parent)
        self._groups = {"gpu": gpu_groups(), "host": host_groups()}
        self._facts = device_facts()
        self.labels: dict[tuple[str, str], FigureLabel] = {}
        self._titles: list[QLabel] = []
        self._shown: list[list[tuple[str, str]]] = []
        self._columns = 0
        self._add_groups("gpu")
        self._add_title(translate("Depth", "Card"))
        for fact in self._facts:
            self._add_label(FACTS, fact.field, fact.label, fact.meaning)
        self._add_groups("host")
        self.missing = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        set_role(self.missing, "muted")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(GRID // 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GRID, 0, GRID, 0)
        layout.setSpacing(GRID)
        layout.addLayout(self._grid)
        layout.addWidget(self.missing)

    def draw(self, model: MonitorModel, device: Device | None) -> None:
        """Show the newest readings of a GPU (None: there is none) and of the host."""
        missing: dict[str, str] = {}
        shown = self._draw_groups(model, "gpu", device, missing)
        shown.append(self._draw_facts(device))
        shown += self._draw_groups(model, "host", None, missing)
        if shown != self._shown:
            self._shown = shown
            self._place()
        self._show_missing(missing)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width has room for another number of columns."""
        super().resizeEvent(event)
        if self._fitting_columns() != self._columns:
            self._place()

    def _draw_groups(
        self, model: MonitorModel, kind: str, device: Device | None, missing: dict[str, str]
    ) -> list[list[tuple[str, str]]]:
        """Names of the labels that are shown, by group; notes in `missing` why others are not."""
        shown: list[list[tuple[str, str]]] = []
        key = HOST_KEY if kind == "host" else device.uuid if device is not None else None
        if key is None:
            return [[] for _ in self._groups[kind]]
        for group in self._groups[kind]:
            names = []
            for each in group.figures:
                reading = model.reading(key, each.field)
                if self._is_offered(reading, model, key, each.field):
                    self._show(self.labels[kind, each.field], each, reading, self._limit(model, key, each, device))
                    names.append((kind, each.field))
                elif reading.reason is not None:
                    missing[f"{group.title}: {each.label}"] = reading.why_not
            shown.append(names)
        return shown

    def _is_offered(self, reading: Reading, model: MonitorModel, key: str, field: str) -> bool:
        if reading.value is not None or model.has_values(key, field):
            return True
        return reading.reason is not None and field_state(reading.reason) is not FieldState.UNSUPPORTED

    def _limit(self, model: MonitorModel, key: str, each: DepthFigure, device: Device | None) -> Figure:
        value: float | None = None
        if each.limit_field:
            value = model.reading(key, each.limit_field).value
        elif each.device_limit and device is not None:
            value = getattr(device, each.device_limit)
        return each.figure(value)

    def _show(self, label: FigureLabel, each: DepthFigure, reading: Reading, limit: Figure) -> None:
        hint = f"{reading.why_not}\n{each.meaning}" if reading.why_not else each.meaning
        label.show_figure(figures.of_limit(each.figure(reading.value), limit), hint)

    def _draw_facts(self, device: Device | None) -> list[tuple[str, str]]:
        names = []
        for fact in self._facts if device is not None else ():
            text = fact.text(device) if device is not None else None
            if text:
                self.labels[FACTS, fact.field].show_figure(Figure(text, ""), fact.meaning)
                names.append((FACTS, fact.field))
        return names

    def _show_missing(self, missing: dict[str, str]) -> None:
        if not missing:
            self.missing.hide()
            return
        self.missing.show()
        self.missing.set_full_text(translate("Depth", "Not offered here: {0}").format(", ".join(missing)))
        self.missing.setToolTip(as_plain("\n".join(f"{name}. {why}" for name, why in missing.items())))

    def _add_groups(self, kind: str) -> None:
        for group in self._groups[kind]:
            self._add_title(group.title)
            for each in group.figures:
                self._add_label(kind, each.field, each.label, each.meaning)

    def _add_title(self, text: str) -> None:
        title = QLabel(text, self)
        set_role(title, "muted")
        title.setFixedWidth(TITLE_WIDTH_PX)
        self._titles.append(title)

    def _add_label(self, device: str, field: str, text: str, meaning: str) -> None:
        label = FigureLabel(self, before=text)
        label.setWhatsThis(meaning)
        label.hide()
        self.labels[device, field] = label

    def _fitting_columns(self) -> int:
        return max(1, (self.width() - TITLE_WIDTH_PX - 2 * GRID) // (CELL_WIDTH_PX + GRID))

    def _place(self) -> None:
        """Every group begins a row; groups without figures are left out."""
        self._columns = self._fitting_columns()
        _empty(self._grid)
        for label in self.labels.values():
            label.hide()
        row = 0
        for title, names in zip(self._titles, self._shown, strict=False):
            title.setVisible(bool(names))
            if not names:
                continue
            self._grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            row = self._place_row(names, row)
        for column in range(1, self._columns + 1):
            self._grid.setColumnStretch(column, 1)

    def _place_row(self, names: Sequence[tuple[str, str]], row: int) -> int:
        """The row after them."""
        for number, name in enumerate(names):
            self._grid.addWidget(self.labels[name], row + number // self._columns, 1 + number % self._columns)
            self.labels[name].show()
        return row + -(-len(names) // self._columns)


def _empty(grid: QGridLayout) -> None:
    for column in range(grid.columnCount()):
        grid.setColumnStretch(column, 0)
    while grid.count():
        grid.takeAt(0)
