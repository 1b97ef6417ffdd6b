"""A whole made of parts: one stacked bar, and a legend with the figures right-aligned under it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpuscope.ui.figures import memory
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, colours_of, set_role
from gpuscope.ui.widgets.figure_label import FigureLabel

BAR_HEIGHT_PX = 2 * GRID
SWATCH_PX = 10


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the whole."""

    name: str
    bytes: int
    colour: str
    """Empty: the grey of what is nobody's data."""
    explanation: str = ""


class PartsBar(QWidget):
    """Shows bytes by part."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_parts`."""
        super().__init__(parent)
        self._parts: tuple[Part, ...] = ()
        self._bar = _Bar(self)
        self._legend = QGridLayout()
        self._legend_widgets: list[QWidget] = []
        self._figures: list[FigureLabel] = []
        self._legend.setHorizontalSpacing(GRID)
        self._legend.setVerticalSpacing(2)
        self._legend.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self._bar)
        column.addLayout(self._legend)

    def show_parts(self, parts: tuple[Part, ...]) -> None:
        """Replace the parts; nothing is redrawn when nothing changed."""
        if parts == self._parts:
            return
        same_names = [part.name for part in parts] == [part.name for part in self._parts]
        self._parts = parts
        self._bar.show_parts(parts)
        self.setAccessibleName(", ".join(f"{part.name} {' '.join(memory(part.bytes))}" for part in parts))
        if same_names:
            for figure, part in zip(self._figures, parts, strict=True):
                figure.show_figure(memory(part.bytes))
        else:
            self._rebuild_legend()

    def _rebuild_legend(self) -> None:
        for widget in self._legend_widgets:
            self._legend.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._legend_widgets, self._figures = [], []
        for row, part in enumerate(self._parts):
            name = QLabel(part.name)
            name.setTextFormat(Qt.TextFormat.PlainText)
            name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            name.setToolTip(as_plain(part.explanation))
            set_role(name, "small")
            figure = FigureLabel()
            figure.setAlignment(Qt.AlignmentFlag.AlignRight)
            figure.show_figure(memory(part.bytes))
            self._figures.append(figure)
            for column, widget in enumerate((_Swatch(part.colour), name, figure)):
                self._legend.addWidget(widget, row, column)
                self._legend_widgets.append(widget)


class _Bar(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts: tuple[Part, ...] = ()
        self.setFixedHeight(BAR_HEIGHT_PX)

    def show_parts(self, parts: tuple[Part, ...]) -> None:
        self._parts = parts
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.grid))
        whole = sum(part.bytes for part in self._parts)
        left = 0.0
        for part in self._parts:
            width = self.width() * part.bytes / whole
            painter.fillRect(QRectF(left, 0, width, self.height()), QColor(part.colour or colours.reserved))
            left += width
            painter.fillRect(QRectF(left - 1, 0, 1, self.height()), QColor(colours.window))
        painter.end()


class _Swatch(QWidget):
    def __init__(self, colour: str) -> None:
        super().__init__()
        self._colour = colour
        self.setFixedSize(SWATCH_PX, SWATCH_PX)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._colour or colours_of(self).reserved))
        painter.end()
