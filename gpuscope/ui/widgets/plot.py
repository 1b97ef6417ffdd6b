"""A plot over time: the only file of the window that touches pyqtgraph.

Callers hand over data that is already reduced to pixel columns; nothing here samples or scales it down. The plot never
changes what it shows by itself: it reports what the person does, and is told the new stretch of time.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpuscope.ui.figures import Figure
from gpuscope.ui.theme import GRID, Size, colours_of, font, set_role
from gpuscope.ui.widgets.axes import Scale, time_label, time_spacing, value_spacing

FloatArray = NDArray[np.float64]

AXIS_WIDTH_PX = 68
TIME_AXIS_HEIGHT_PX = 20
LEAST_HEIGHT_PX = 72
LEAST_TIME_TICK_PX = 72
LEAST_VALUE_TICK_PX = 24
MOST_VALUE_TICKS = 6
TICK_SHARE = 0.04
"""Height of step ticks as a share of the plot's."""
FAINT_ALPHA = 80
WHEEL_FACTOR = 0.8
"""Zoom for one notch of the wheel."""


@dataclass(frozen=True, slots=True)
class CurveStyle:
    """How one curve looks and what it is called."""

    key: str
    label: str
    colour: str
    dashed: bool = False
    right: bool = False
    """Its values are read off the right axis."""
    faint: bool = False
    """Context, not the subject: pale, and without a place in the line of values."""


class _TimeAxis(pyqtgraph.AxisItem):  # type: ignore[misc]  # pyqtgraph is untyped
    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:  # noqa: N803 - its names
        return [(time_spacing(maxVal - minVal, size, LEAST_TIME_TICK_PX), 0.0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002 - its names
        return [time_label(value, spacing) for value in values]


class _ValueAxis(pyqtgraph.AxisItem):  # type: ignore[misc]  # pyqtgraph is untyped
    value_scale: Scale | None = None

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:  # noqa: N803 - its names
        unit = self.value_scale.unit if self.value_scale else 1.0
        least_px = max(LEAST_VALUE_TICK_PX, size / MOST_VALUE_TICKS)
        return [(unit * value_spacing((maxVal - minVal) / unit, size, least_px), 0.0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002 - its names
        return [self.value_scale.label(value) if self.value_scale and value else "" for value in values]


class _TimeBox(pyqtgraph.ViewBox):  # type: ignore[misc]  # pyqtgraph is untyped
    """Reports drags and double clicks instead of acting on them."""

    dragged = Signal(float)
    """Share of the width, positive when the content goes right."""
    reset = Signal()

    def mouseDragEvent(self, event: Any, axis: Any = None) -> None:  # noqa: ARG002 - its names
        event.accept()
        if event.button() == Qt.MouseButton.LeftButton and self.width() > 0:
            self.dragged.emit((event.pos().x() - event.lastPos().x()) / self.width())

    def mouseDoubleClickEvent(self, event: Any) -> None:
        event.accept()
        self.reset.emit()

    def wheelEvent(self, event: Any, axis: Any = None) -> None:  # noqa: ARG002 - its names
        event.ignore()


class _Canvas(pyqtgraph.PlotWidget):  # type: ignore[misc]  # pyqtgraph is untyped
    """Leaves the plain wheel to the page; Ctrl and the wheel zoom."""

    zoomed = Signal(float, QPointF)
    left = Signal()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        event.accept()
        self.zoomed.emit(WHEEL_FACTOR ** (event.angleDelta().y() / 120), event.position())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()


class TimePlot(QWidget):
    """A title, the values at the cursor, and curves over time with one or two vertical axes."""

    moved = Signal(float)
    """The person dragged by this share of the width."""
    scaled = Signal(float, float)
    """The person zoomed by a factor around a session time."""
    reset_requested = Signal()
    cursor_moved = Signal(object)
    """Session time under the pointer, or None."""

    def __init__(self, title: str, scale: Scale, right: Scale | None = None, parent: QWidget | None = None) -> None:
        """An empty plot; `right` adds a second vertical axis."""
        super().__init__(parent)
        self.title = QLabel(title, self)
        set_role(self.title, "title")
        self.values = QLabel(self)
        self.values.setTextFormat(Qt.TextFormat.RichText)
        self.values.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.values.setWordWrap(True)  # a narrow plot has two lines of values
        set_role(self.values, "small")
        self._left_scale, self._right_scale = scale, right
        self._styles: dict[str, CurveStyle] = {}
        self._curves: dict[str, Any] = {}
        self._box = _TimeBox(enableMenu=False)
        self._time_axis = _TimeAxis(orientation="bottom")
        self._left_axis, self._right_axis = _ValueAxis(orientation="left"), _ValueAxis(orientation="right")
        self._left_axis.value_scale, self._right_axis.value_scale = scale, right
        axes = {"bottom": self._time_axis, "left": self._left_axis, "right": self._right_axis}
        self.canvas = _Canvas(self, viewBox=self._box, axisItems=axes)
        self._right_box = self._add_right_box()
        self._ticks = pyqtgraph.PlotCurveItem(connect="pairs", antialias=False)
        self._limits: dict[str, Any] = {}
        self._markers = pyqtgraph.PlotCurveItem(connect="pairs", antialias=False)
        self._cursor = pyqtgraph.InfiniteLine(angle=90, movable=False)
        self._cursor.hide()
        self._prepare()
        self._lay_out()
        self.refresh_colours()

    @property
    def columns(self) -> int:
        """Pixel columns between the axes: as many as data should be reduced to."""
        return max(16, int(self._box.width()))

    @property
    def styles(self) -> list[CurveStyle]:
        """The curves, in the order in which they were given."""
        return list(self._styles.values())

    def set_curves(self, styles: Sequence[CurveStyle]) -> None:
        """Replace all curves; faint ones lie below."""
        for key, curve in self._curves.items():
            (self._right_box if self._styles[key].right else self._box).removeItem(curve)
        self._styles = {style.key: style for style in styles}
        self._curves = {}
        for style in styles:
            curve = pyqtgraph.PlotCurveItem(connect="finite", antialias=True, pen=_pen(style))
            curve.setZValue(-1 if style.faint else 1)
            (self._right_box if style.right else self._box).addItem(curve, ignoreBounds=True)
            self._curves[style.key] = curve

    def set_scales(self, scale: Scale, right: Scale | None = None) -> None:
        """Other vertical axes, for example for a card with more memory."""
        self._left_scale, self._right_scale = scale, right
        self._left_axis.value_scale, self._right_axis.value_scale = scale, right
        self._right_axis.setStyle(showValues=right is not None)
        self._left_axis.picture = self._right_axis.picture = None

    def draw(self, span: tuple[float, float], data: dict[str, tuple[FloatArray, FloatArray]]) -> None:
        """Show curves over a stretch of time; a NaN breaks a line, a curve without data is empty."""
        highest = {False: 0.0, True: 0.0}
        for key, curve in self._curves.items():
            t, values = data.get(key, (np.empty(0), np.empty(0)))
            curve.setData(t, values)
            known = values[~np.isnan(values)]
            if len(known):
                right = self._styles[key].right
                highest[right] = max(highest[right], float(known.max()))
        self._box.setXRange(*span, padding=0)
        self._right_box.setXRange(*span, padding=0)
        self._box.setYRange(0, self._left_scale.highest(highest[False]), padding=0)
        if self._right_scale is not None:
            self._right_box.setYRange(0, self._right_scale.highest(highest[True]), padding=0)

    def draw_ticks(self, times: FloatArray) -> None:
        """Small marks at the bottom, one a step."""
        top = self._box.viewRange()[1][1] * TICK_SHARE
        self._ticks.setData(np.repeat(times, 2), np.tile([0.0, top], len(times)))

    def draw_markers(self, times: FloatArray) -> None:
        """Lines over the whole height at moments that somebody should know of."""
        low, high = self._box.viewRange()[1]
        self._markers.setData(np.repeat(times, 2), np.tile([low, high], len(times)))

    def show_limits(self, limits: Mapping[str, tuple[float, str]]) -> None:
        """Dotted lines across at values of the left axis, each with its colour; they do not make the axis longer."""
        for name in set(self._limits) - set(limits):
            self._box.removeItem(self._limits.pop(name))
        for name, (value, colour) in limits.items():
            if name not in self._limits:
                pen = pyqtgraph.mkPen(QColor(colour), width=1, style=Qt.PenStyle.DotLine)
                self._limits[name] = pyqtgraph.InfiniteLine(angle=0, movable=False, pen=pen)
                self._box.addItem(self._limits[name], ignoreBounds=True)
            self._limits[name].setPos(value)

    def limits(self) -> dict[str, float]:
        """The values at which there are dotted lines."""
        return {name: float(line.value()) for name, line in self._limits.items()}

    def points(self, key: str) -> tuple[FloatArray, FloatArray]:
        """What a curve shows now."""
        t, values = self._curves[key].getData()
        return (np.empty(0), np.empty(0)) if t is None else (t, values)

    def view_span(self) -> tuple[float, float]:
        """Session times at the left and right edge."""
        start, end = self._box.viewRange()[0]
        return float(start), float(end)

    def show_cursor(self, t: float | None) -> None:
        """A vertical line at a moment, or none."""
        self._cursor.setVisible(t is not None)
        if t is not None:
            self._cursor.setPos(t)

    def show_values(self, texts: Mapping[str, Figure]) -> None:
        """The line of values: figure and unit by curve."""
        muted = colours_of(self).muted
        parts = [_value_html(style, *texts[style.key], muted) for style in self._styles.values() if style.key in texts]
        text = "&nbsp;&nbsp; ".join(parts)
        if text != self.values.text():
            self.values.setText(text)

    def show_time_axis(self, *, visible: bool) -> None:
        """Whether times stand below this plot."""
        self._time_axis.setStyle(showValues=visible)
        self._time_axis.setHeight(TIME_AXIS_HEIGHT_PX if visible else 1)

    def changeEvent(self, event: QEvent) -> None:
        """Follow a change between light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_cursor"):
            self.refresh_colours()

    def refresh_colours(self) -> None:
        """Take the colours of the palette that the widget has now."""
        colours = colours_of(self)
        self.canvas.setBackground(QColor(colours.surface))
        for axis in (self._time_axis, self._left_axis, self._right_axis):
            axis.setPen(QColor(colours.border))
            axis.setTickPen(QColor(colours.grid))
            axis.setTextPen(QColor(colours.muted))
        self._ticks.setPen(pyqtgraph.mkPen(QColor(colours.reserved), width=1))
        self._cursor.setPen(pyqtgraph.mkPen(QColor(colours.text), width=1))
        self._markers.setPen(pyqtgraph.mkPen(QColor(colours.warning), width=1))

    def _add_right_box(self) -> _TimeBox:
        box = _TimeBox(enableMenu=False)
        box.setZValue(-100)  # below the main box, which takes the mouse
        self.canvas.plotItem.scene().addItem(box)
        self._right_axis.linkToView(box)
        self._box.sigResized.connect(self._place_right_box)
        return box

    def _place_right_box(self) -> None:
        self._right_box.setGeometry(self._box.sceneBoundingRect())

    def _prepare(self) -> None:
        item = self.canvas.plotItem
        item.hideButtons()
        item.setMenuEnabled(False)
        item.setContentsMargins(0, 4, 0, 0)
        item.showAxis("right")
        self._box.disableAutoRange()
        self._right_box.disableAutoRange()
        for axis in (self._left_axis, self._right_axis):
            axis.setWidth(AXIS_WIDTH_PX)
        self._left_axis.setGrid(255)
        self._left_axis.setZValue(-200)  # a curve along a grid line, such as 100%, is not hidden by it
        for axis in (self._time_axis, self._left_axis, self._right_axis):
            axis.setStyle(tickFont=font(Size.SMALL), maxTickLevel=0, tickLength=0, autoExpandTextSpace=False)
            axis.enableAutoSIPrefix(enable=False)
        self._right_axis.setStyle(showValues=self._right_scale is not None)
        self._box.addItem(self._ticks, ignoreBounds=True)
        self._box.addItem(self._markers, ignoreBounds=True)
        self._box.addItem(self._cursor, ignoreBounds=True)
        self._box.dragged.connect(lambda share: self.moved.emit(-share))
        self._box.reset.connect(self.reset_requested)
        self.canvas.zoomed.connect(lambda factor, at: self.scaled.emit(factor, self._time_at(at)))
        self.canvas.left.connect(lambda: self.cursor_moved.emit(None))
        self.canvas.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.show_time_axis(visible=False)

    def _time_at(self, position: QPointF) -> float:
        return float(self._box.mapSceneToView(position).x())

    def _on_mouse_moved(self, position: QPointF) -> None:
        inside = self._box.sceneBoundingRect().contains(position)
        self.cursor_moved.emit(self._time_at(position) if inside else None)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(GRID, 0, GRID, 0)
        top.setSpacing(2 * GRID)
        top.addWidget(self.title)
        top.addWidget(self.values, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.canvas, 1)
        self.canvas.setMinimumHeight(LEAST_HEIGHT_PX)
        self.canvas.setFrameShape(pyqtgraph.PlotWidget.Shape.NoFrame)


def _value_html(style: CurveStyle, figure: str, unit: str, muted: str) -> str:
    line = "┅" if style.dashed else "━"
    label, unit = (html.escape(text).replace(" ", "&nbsp;").replace("/", "/&#8288;") for text in (style.label, unit))
    return (
        f'<span style="color:{style.colour}">{line}</span>&nbsp;'
        f'<span style="color:{muted}">{label}</span>&nbsp;'
        f'{html.escape(figure)}&nbsp;<span style="color:{muted}">{unit}</span>'
    )


def _pen(style: CurveStyle) -> Any:
    colour = QColor(style.colour)
    if style.faint:
        colour.setAlpha(FAINT_ALPHA)
    line = Qt.PenStyle.DashLine if style.dashed else Qt.PenStyle.SolidLine
    # A line one pixel wide is smoothed at 4% of a frame's cost; any wider one doubles it (measured, five plots).
    return pyqtgraph.mkPen(colour, width=1, style=line)
