"""Draws a table cell as a figure over its range: a bar from low to high with a mark at the middle."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpuscope.ui import theme
from gpuscope.ui.advisor.result.cells import Cell, Column
from gpuscope.ui.advisor.result.table import CELL_ROLE, RECOMMENDED_ROLE, SCALE_ROLE, alignment
from gpuscope.ui.theme import GRID, Colours, Size

Index = QModelIndex | QPersistentModelIndex

ROW_HEIGHT = 5 * GRID
BAR_HEIGHT = 6
BAR_OPACITY = 0.7
MARK_WIDTH = 2
MARKER_WIDTH = 3
"""The bar at the left edge of the recommended row."""

_COLUMN_METRICS = {
    Column.FIT: "gpu_memory",
    Column.STEP_TIME: "step",
    Column.TIME: "time",
    Column.COST: "cost",
    Column.COST_PER_HOUR: "cost",
    Column.ENERGY: "power",
    Column.FIRST_TOKEN: "time",
    Column.NEXT_TOKEN: "step",
    Column.REQUESTS: "cpu",
}


class RangeDelegate(QStyledItemDelegate):
    """Figures in the upper half of a row, their range or a grey note in the lower half."""

    def __init__(self, parent: QObject | None = None) -> None:
        """For tables whose model answers `CELL_ROLE`, `SCALE_ROLE` and `RECOMMENDED_ROLE`."""
        super().__init__(parent)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002 - Qt's signature
        """Room for the whole text."""
        return QSize(cell_width([index.data(CELL_ROLE)]), ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        shown: Cell = index.data(CELL_ROLE)
        colours = theme.colours_of(option.widget) if isinstance(option.widget, QWidget) else theme.LIGHT
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        if index.data(RECOMMENDED_ROLE) and index.column() == Column.CONFIGURATION:
            edge = QRectF(option.rect.left(), option.rect.top(), MARKER_WIDTH, option.rect.height())
            painter.fillRect(edge, QColor(colours.accent))
        box = QRectF(option.rect).adjusted(GRID, 4, -GRID, -4)
        second_line = index.column() != Column.CONFIDENCE
        upper = QRectF(box.left(), box.top(), box.width(), box.height() * (0.55 if second_line else 1.0))
        _paint_figure(painter, upper, shown, index, colours)
        if shown.note:
            _paint_note(painter, QRectF(box.left(), upper.bottom(), box.width(), box.height() * 0.45), shown, colours)
        elif shown.range is not None:
            lane = QRectF(box.left(), box.bottom() - BAR_HEIGHT - 3, box.width(), BAR_HEIGHT)
            _paint_range(painter, lane, shown, index, colours)
        painter.restore()


def cell_width(cells: list[Cell]) -> int:
    """Pixels that the widest of some cells needs, drawn bold or not."""
    figures, small = QFontMetrics(theme.font(Size.BODY, bold=True)), QFontMetrics(theme.font(Size.SMALL))
    widest = 0
    for shown in cells:
        width = figures.horizontalAdvance(shown.text)
        if shown.unit:
            width += 4 + small.horizontalAdvance(shown.unit)
        widest = max(widest, width, min(small.horizontalAdvance(shown.note), 22 * GRID))
    return widest + 2 * GRID


def _figure_font(index: Index) -> QFont:
    bold = bool(index.data(RECOMMENDED_ROLE)) and index.column() == Column.CONFIGURATION
    return theme.font(Size.BODY, bold=bold)


def _paint_figure(painter: QPainter, box: QRectF, shown: Cell, index: Index, colours: Colours) -> None:
    align = alignment(Column(index.column()))
    right = bool(align & Qt.AlignmentFlag.AlignRight)
    if shown.unit:
        small = theme.font(Size.SMALL)
        unit_width = QFontMetrics(small).horizontalAdvance(shown.unit)
        painter.setFont(small)
        painter.setPen(QColor(colours.muted))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, shown.unit)
        box = box.adjusted(0, 0, -unit_width - 4, 0)
    figure_font = _figure_font(index)
    painter.setFont(figure_font)
    unknown = right and shown.sort_key is None
    painter.setPen(QColor(colours.muted if unknown else colours.text))
    text = QFontMetrics(figure_font).elidedText(shown.text, Qt.TextElideMode.ElideRight, int(box.width()) + 1)
    painter.drawText(box, align, text)


def _paint_note(painter: QPainter, box: QRectF, shown: Cell, colours: Colours) -> None:
    small = theme.font(Size.SMALL)
    painter.setFont(small)
    painter.setPen(QColor(colours.muted))
    text = QFontMetrics(small).elidedText(shown.note, Qt.TextElideMode.ElideRight, int(box.width()))
    painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)


def _paint_range(painter: QPainter, lane: QRectF, shown: Cell, index: Index, colours: Colours) -> None:
    scale = (0.0, shown.limit) if shown.limit is not None else index.data(SCALE_ROLE)
    if shown.range is None or scale is None or scale[1] <= scale[0]:
        return
    metric = theme.metric_colour(_COLUMN_METRICS[Column(index.column())])
    painter.fillRect(QRectF(lane.left(), lane.center().y(), lane.width(), 1), QColor(colours.grid))

    def at(value: float) -> float:
        share = (value - scale[0]) / (scale[1] - scale[0])
        return lane.left() + min(max(share, 0.0), 1.0) * lane.width()

    low, mid, high = at(shown.range.low), at(shown.range.mid), at(shown.range.high)
    over = shown.limit is not None and shown.range.high > shown.limit
    bar = QColor(colours.trouble) if over else metric
    bar.setAlphaF(BAR_OPACITY)
    painter.fillRect(QRectF(low, lane.top(), max(high - low, MARK_WIDTH), lane.height()), bar)
    mark = QRectF(min(max(mid - MARK_WIDTH / 2, lane.left()), lane.right() - MARK_WIDTH), lane.top() - 1,
                  MARK_WIDTH, lane.height() + 2)  # fmt: skip
    painter.fillRect(mark, QColor(colours.text))
