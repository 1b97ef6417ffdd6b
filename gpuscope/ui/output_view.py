"""What the workload prints: the last lines of it, following the end, searchable."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QKeySequence, QShortcut, QTextCursor, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from gpuscope.ui.terminal_text import TerminalText
from gpuscope.ui.theme import GRID, POINT_SIZES, Size

MOST_LINES = 5000
"""Kept on the screen; the session has all of them."""


class OutputView(QWidget):
    """Takes raw output; shows it as a terminal would after the fact."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty, following the end."""
        super().__init__(parent)
        self._terminal = TerminalText()
        self._has_current = False
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setMaximumBlockCount(MOST_LINES)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setPlaceholderText(self.tr("What the script prints appears here."))
        self.text.setWhatsThis(self.tr("What the script printed, both streams in order. The session keeps all of it."))
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPointSize(POINT_SIZES[Size.SMALL])
        self.text.setFont(fixed)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Find in the output"))
        self.search.setClearButtonEnabled(True)
        self.search.returnPressed.connect(self.find_next)
        self.follow = QPushButton(self.tr("Follow the end"), self)
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        self.follow.toggled.connect(lambda _follow: self._keep_end())
        bar = self.text.verticalScrollBar()
        bar.rangeChanged.connect(lambda _low, _high: self._keep_end())  # also when the view becomes lower
        bar.actionTriggered.connect(lambda _action: self.follow.setChecked(bar.sliderPosition() >= bar.maximum()))
        self.copy = QPushButton(self.tr("Copy all"), self)
        self.copy.clicked.connect(self._copy_all)
        self._lay_out()
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.search.setFocus)

    def clear(self) -> None:
        """Start over for another session."""
        self._terminal = TerminalText()
        self._has_current = False
        self.text.clear()
        self.follow.setChecked(True)

    def add(self, data: bytes) -> None:
        """Append a piece of output."""
        if not data:
            return
        lines = self._terminal.feed(data)[-MOST_LINES:]
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        if self._has_current:
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
        cursor.insertText("\n".join([*lines, self._terminal.current]))
        cursor.endEditBlock()
        self._has_current = True
        self._keep_end()

    def find_next(self) -> bool:
        """Select the next place of the searched text, starting over at the top; False when there is none."""
        wanted = self.search.text()
        if not wanted:
            return False
        self.follow.setChecked(False)
        if self.text.find(wanted):
            return True
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        return self.text.find(wanted, QTextDocument.FindFlag(0))

    def _keep_end(self) -> None:
        bar = self.text.verticalScrollBar()
        if self.follow.isChecked():
            bar.setValue(bar.maximum())

    def _copy_all(self) -> None:
        cursor = self.text.textCursor()
        self.text.selectAll()
        self.text.copy()
        self.text.setTextCursor(cursor)

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.addWidget(self.search, 1)
        bar.addWidget(self.follow)
        bar.addWidget(self.copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        layout.setSpacing(GRID // 2)
        layout.addWidget(self.text, 1)
        layout.addLayout(bar)
