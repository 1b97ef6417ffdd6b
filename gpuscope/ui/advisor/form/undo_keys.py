"""Ctrl+Z in a field is that of the whole form: one history, in the order in which things were done."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget


class UndoKeys(QObject):
    """Takes the keys for undo and redo before the fields do."""

    def __init__(
        self, fields: Iterable[QWidget], undo: Callable[[], object], redo: Callable[[], object], parent: QObject
    ) -> None:
        """Watch these fields and everything in them."""
        super().__init__(parent)
        self._undo, self._redo = undo, redo
        for field in fields:
            for widget in (field, *field.findChildren(QWidget)):
                widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Undo or redo in place of the field."""
        if isinstance(event, QKeyEvent) and event.type() in {QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride}:
            undo, redo = event.matches(QKeySequence.StandardKey.Undo), event.matches(QKeySequence.StandardKey.Redo)
            if undo or redo:
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    (self._undo if undo else self._redo)()
                return True
        return super().eventFilter(watched, event)
