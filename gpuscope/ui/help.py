"""F1: what is under the pointer means, where it comes from and how sure it is."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWhatsThis, QWidget


def explanation_for(widget: QWidget | None) -> str:
    """The nearest explanation, from a widget up to its window; empty when there is none."""
    while widget is not None:
        if widget.whatsThis():
            return widget.whatsThis()
        widget = widget.parentWidget()
    return ""


def explain_under_pointer(window: QWidget) -> None:
    """Show the explanation of what the pointer is on, or how to get one."""
    position = QCursor.pos()
    text = explanation_for(QApplication.widgetAt(position)) or QCoreApplication.translate(
        "Help",
        "Point at a figure, a plot or a field and press F1: it says what it means and where it comes from.",
    )
    QWhatsThis.showText(position, text, window)
