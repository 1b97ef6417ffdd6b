"""What becomes of the keyboard focus when the widget that has it goes away."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget


def hide_without_passing_focus_on(widget: QWidget) -> None:
    """Hide a widget; Qt would give its focus to the next button, which would then look chosen and hear Return."""
    focused = QApplication.focusWidget()
    if focused is not None and (focused is widget or widget.isAncestorOf(focused)):
        focused.clearFocus()
    widget.hide()
