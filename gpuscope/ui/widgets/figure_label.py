"""A figure with its unit small and grey beside it; a dash with the reason on hover when it is unknown."""

from __future__ import annotations

import html

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QLabel, QWidget

from gpuscope.ui.figures import Figure
from gpuscope.ui.theme import POINT_SIZES, Size, colours_of, set_role


class FigureLabel(QLabel):
    """Shows one `Figure`, large or small."""

    def __init__(self, parent: QWidget | None = None, *, large: bool = False, before: str = "") -> None:
        """`before` is a word in front of the figure, in grey."""
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText)
        set_role(self, "figure" if large else "small")
        self._before = before
        self._figure: Figure | None = None

    def show_figure(self, figure: Figure, tooltip: str = "") -> None:
        """Replace the figure; the tooltip says why it is unknown, or more about it."""
        if figure != self._figure:
            self._figure = figure
            self._write()
        if tooltip != self.toolTip():
            self.setToolTip(tooltip)

    def plain_text(self) -> str:
        """Number and unit, for tests and accessibility."""
        return " ".join(part for part in self._figure or () if part)

    def changeEvent(self, event: QEvent) -> None:
        """Follow a change between light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and getattr(self, "_figure", None) is not None:
            self._write()

    def _write(self) -> None:
        if self._figure is None:
            return
        grey = f'<span style="color:{colours_of(self).muted}; font-size:{POINT_SIZES[Size.SMALL]}pt">'
        before = f"{grey}{html.escape(self._before)}</span>&nbsp;" if self._before else ""
        number, unit = (html.escape(part) for part in self._figure)
        self.setText(f"{before}{number}&nbsp;{grey}{unit}</span>" if unit else f"{before}{number}")
        self.setAccessibleName(f"{self._before} {self.plain_text()}".strip())
