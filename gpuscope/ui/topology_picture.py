"""Draws how GPUs, PCIe switches, NUMA nodes, network cards and NVLinks of a machine are connected."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from gpuscope.domain.topology import Topology
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import RADIUS, Colours, Size, colours_of, font, metric_colour
from gpuscope.ui.topology_layout import Box, Picture, Wire, lay_out

_METRICS = {"gpu": "utilization_gpu", "network": "network", "nvlink": "nvlink"}
FILL_ALPHA = 40


class TopologyPicture(QWidget):
    """Hover over a box for everything that is known of it.

    Attributes:
        picture: what is drawn, and where.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing to draw yet."""
        super().__init__(parent)
        self._topology = Topology()
        self.picture = Picture()

    def show_topology(self, topology: Topology) -> None:
        """Replace what is drawn."""
        self._topology = topology
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room there is."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    def sizeHint(self) -> QSize:
        """As much as the parts need."""
        return QSize(round(self.picture.width_px), round(self.picture.height_px))

    def event(self, event: QEvent) -> bool:
        """Say what is known of the box under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), as_plain(self.hint_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)

    def hint_at(self, position: QPointF) -> str:
        """What is known of the box at a place; empty where there is none."""
        return next((box.hint for box in self.picture.boxes if box.rect.contains(position)), "")

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Wires below, boxes above."""
        colours = colours_of(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(Size.SMALL))
        for wire in self.picture.wires:
            self._paint_wire(painter, wire, colours)
        for box in self.picture.boxes:
            self._paint_box(painter, box, colours)
        painter.end()

    def _paint_wire(self, painter: QPainter, wire: Wire, colours: Colours) -> None:
        nvlink = wire.kind == "nvlink"
        painter.setPen(QPen(metric_colour("nvlink") if nvlink else QColor(colours.muted), 2.0 if nvlink else 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if not wire.sag_px:
            painter.drawLine(wire.start, wire.end)
            return
        path = QPainterPath(wire.start)
        down = QPointF(0, wire.sag_px * 4 / 3)  # a cubic curve reaches three quarters of its control points' depth
        path.cubicTo(wire.start + down, wire.end + down, wire.end)
        painter.drawPath(path)
        middle = (wire.start + wire.end) / 2 + QPointF(0, wire.sag_px)
        width = painter.fontMetrics().horizontalAdvance(wire.text)
        painter.setPen(QColor(colours.text))
        painter.drawText(middle + QPointF(-width / 2, -3), wire.text)

    def _paint_box(self, painter: QPainter, box: Box, colours: Colours) -> None:
        metric = _METRICS.get(box.kind)
        edge = metric_colour(metric) if metric else QColor(colours.border)
        fill = QColor(edge) if metric else QColor(colours.surface)
        painter.setPen(QPen(edge, 1.0))
        painter.setBrush(QColor(colours.surface))
        painter.drawRoundedRect(box.rect, RADIUS, RADIUS)  # no wire shines through
        if metric:
            fill.setAlpha(FILL_ALPHA)
            painter.setBrush(fill)
            painter.drawRoundedRect(box.rect, RADIUS, RADIUS)
        painter.setPen(QColor(colours.text if box.kind != "switch" else colours.muted))
        text = painter.fontMetrics().elidedText(box.text, Qt.TextElideMode.ElideMiddle, round(box.rect.width()) - 4)
        painter.drawText(box.rect, Qt.AlignmentFlag.AlignCenter, text)

    def _lay_out(self) -> None:
        self.picture = lay_out(self._topology, self.width())
        self.setMinimumSize(self.sizeHint())
        self.update()
