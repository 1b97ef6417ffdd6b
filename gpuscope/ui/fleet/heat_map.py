"""Many values as coloured cells in named blocks that flow from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, Colours, Size, colours_of, font

CELL_PX = 14
GAP_PX = 2
STEP_PX = CELL_PX + GAP_PX
MOST_CELLS_IN_ROW = 8
"""Of a block: the GPUs of a usual machine; more go into further rows."""
NAME_PX = 96


@dataclass(frozen=True, slots=True)
class Cell:
    """One value.

    Attributes:
        key: that `chosen` tells.
        share: 0 (pale) to 1 (full colour); None: unknown, drawn as an empty frame.
        hint: plain text shown on hover.
    """

    key: str
    share: float | None
    hint: str


@dataclass(frozen=True, slots=True)
class Block:
    """Cells that belong together, with their name before them."""

    name: str
    cells: tuple[Cell, ...]


class HeatMap(QWidget):
    """Chosen with the mouse, or with the arrow keys.

    Lightness alone tells the values apart, so that people with any colour vision can read it.
    """

    chosen = Signal(str)
    """Key of a cell."""

    def __init__(self, colour: QColor, parent: QWidget | None = None) -> None:
        """No cells; `colour` is that of the highest value."""
        super().__init__(parent)
        self._colour = colour
        self._blocks: Sequence[Block] = ()
        self._selected: str | None = None
        self._cells: list[Cell] = []
        self._places: list[QRect] = []
        self._names: list[tuple[QRect, str]] = []
        self._height = STEP_PX
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_blocks(self, blocks: Sequence[Block], selected: str | None) -> None:
        """Replace everything."""
        if blocks != self._blocks or selected != self._selected:
            self._blocks, self._selected = blocks, selected
            self._arrange(self.width())
            self.updateGeometry()
            self.update()

    def set_colour(self, colour: QColor) -> None:
        """Another colour for the highest value."""
        self._colour = colour
        self.update()

    def place_of(self, key: str) -> QRect:
        """Where a cell is; empty when there is none."""
        for cell, place in zip(self._cells, self._places, strict=True):
            if cell.key == key:
                return place
        return QRect()

    def hasHeightForWidth(self) -> bool:
        """It grows downwards."""
        return True

    def heightForWidth(self, width: int) -> int:
        """As high as the rows of blocks need."""
        return self._arrange(width) if self._blocks else STEP_PX

    def sizeHint(self) -> QSize:
        """Room for all blocks at the present width."""
        return QSize(self._block_width(), self._height)

    def minimumSizeHint(self) -> QSize:
        """Room for one block side by side."""
        return QSize(self._block_width(), STEP_PX)

    def resizeEvent(self, _event: QEvent) -> None:
        """More or fewer blocks side by side."""
        self._arrange(self.width())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is in sight."""
        colours = colours_of(self)
        painter = QPainter(self)
        self._paint_names(painter, event.rect(), colours)
        low, high = QColor(colours.grid), self._colour
        for cell, place in zip(self._cells, self._places, strict=True):
            if not place.intersects(event.rect()):
                continue
            if cell.share is None:
                painter.setPen(QColor(colours.border))
                painter.drawRect(place.adjusted(0, 0, -1, -1))
            else:
                painter.fillRect(place, _between(low, high, cell.share))
            if cell.key == self._selected:
                painter.setPen(QColor(colours.text))
                painter.drawRect(place.adjusted(-1, -1, 0, 0))
        painter.end()

    def _paint_names(self, painter: QPainter, area: QRect, colours: Colours) -> None:
        painter.setFont(font(Size.SMALL))
        painter.setPen(QColor(colours.muted))
        metrics = QFontMetrics(painter.font())
        for place, name in self._names:
            if place.intersects(area):
                text = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, place.width())
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the cell under the pointer."""
        cell = self._cell_at(event.position().toPoint())
        if cell is not None and event.button() is Qt.MouseButton.LeftButton:
            self.chosen.emit(cell.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys go to the neighbour in that direction."""
        directions = {
            Qt.Key.Key_Left: QPoint(-1, 0),
            Qt.Key.Key_Right: QPoint(1, 0),
            Qt.Key.Key_Up: QPoint(0, -1),
            Qt.Key.Key_Down: QPoint(0, 1),
        }
        direction = directions.get(Qt.Key(event.key()))
        if direction is None:
            super().keyPressEvent(event)
            return
        key = self._neighbour(direction)
        if key is not None:
            self.chosen.emit(key)

    def event(self, event: QEvent) -> bool:
        """Show what a cell is when the pointer rests on it."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self._cell_at(event.pos())
            if cell is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), as_plain(cell.hint), self)
            return True
        return super().event(event)

    def _cell_at(self, point: QPoint) -> Cell | None:
        for cell, place in zip(self._cells, self._places, strict=True):
            if place.contains(point):
                return cell
        return None

    def _neighbour(self, direction: QPoint) -> str | None:
        """The nearest cell that lies in a direction; the first one when none is selected."""
        if not self._cells:
            return None
        start = self.place_of(self._selected or "").center()
        if self._selected is None or start.isNull():
            return self._cells[0].key
        best: tuple[int, str] | None = None
        for cell, place in zip(self._cells, self._places, strict=True):
            away = place.center() - start
            along = away.x() * direction.x() + away.y() * direction.y()
            aside = abs(away.x() * direction.y()) + abs(away.y() * direction.x())
            if along > 0 and aside < max(STEP_PX, along) and (best is None or along + 2 * aside < best[0]):
                best = (along + 2 * aside, cell.key)
        return best[1] if best else None

    def _block_width(self) -> int:
        widest = max((min(len(block.cells), MOST_CELLS_IN_ROW) for block in self._blocks), default=1)
        return NAME_PX + GRID + widest * STEP_PX + GRID

    def _arrange(self, width: int) -> int:
        """Place blocks side by side in rows.

        Returns:
            The height that they need.
        """
        block_width = self._block_width()
        columns = max(1, width // block_width)
        self._cells, self._places, self._names = [], [], []
        top = 0
        for first in range(0, len(self._blocks), columns):
            rows = 1
            for column, block in enumerate(self._blocks[first : first + columns]):
                rows = max(rows, self._place_block(block, column * block_width, top))
            top += rows * STEP_PX + GAP_PX
        self._height = max(STEP_PX, top)
        return self._height

    def _place_block(self, block: Block, left: int, top: int) -> int:
        self._names.append((QRect(left, top, NAME_PX, CELL_PX), block.name))
        for number, cell in enumerate(block.cells):
            row, column = divmod(number, MOST_CELLS_IN_ROW)
            corner = QPoint(left + NAME_PX + GRID + column * STEP_PX, top + row * STEP_PX)
            self._places.append(QRect(corner, QSize(CELL_PX, CELL_PX)))
            self._cells.append(cell)
        return -(-len(block.cells) // MOST_CELLS_IN_ROW) or 1


def _between(low: QColor, high: QColor, share: float) -> QColor:
    share = min(1.0, max(0.0, share))
    return QColor.fromRgbF(
        low.redF() + (high.redF() - low.redF()) * share,
        low.greenF() + (high.greenF() - low.greenF()) * share,
        low.blueF() + (high.blueF() - low.blueF()) * share,
    )
