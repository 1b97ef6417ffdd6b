"""A dialog that takes a pasted out-of-memory message and says why memory ran out and what to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from gpuscope.domain.out_of_memory import OutOfMemoryExplanation, OutOfMemoryMessage, OutOfMemoryVerdict
from gpuscope.domain.units import format_bytes
from gpuscope.engine.advise import catalogue
from gpuscope.engine.explain_oom import explain, read_text
from gpuscope.ui import theme
from gpuscope.ui.background import Newest
from gpuscope.ui.theme import GRID, set_role

translate = QCoreApplication.translate

START_SIZE = (760, 620)
PAUSE_MS = 300
"""Typing pauses this long before the text is read again."""
MOST_SHOWN = 200_000
"""Characters of a log that the box shows; the whole of it is read."""

Line = tuple[str, str]
"""A role (title, sentence, muted, remedy) and a text."""


class OutOfMemoryDialog(QDialog):
    """The text on top, the explanation below; both stay until another text comes."""

    def __init__(self, parent: QWidget | None = None, read: Callable[[str], list[Line]] | None = None) -> None:
        """Empty; `read` stands for the engine in tests."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Out of memory: why? – gpuscope"))
        self.resize(*START_SIZE)
        self._read = read or explained
        self._lines: list[Line] = []
        self._whole: str | None = None
        self._work = Newest(self)
        self._work.finished.connect(self._show)
        self._work.failed.connect(lambda sentence: self._show([("sentence", sentence)]))
        self._opening = Newest(self)
        self._opening.finished.connect(self.show_text)
        self._opening.failed.connect(lambda sentence: self._show([("sentence", sentence)]))
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._explain)
        self._make_widgets()
        self._lay_out()
        self._show([])

    def show_text(self, text: str) -> None:
        """Explain a text; of a long one the box shows the end, where messages usually are."""
        self.text.setPlainText(text[-MOST_SHOWN:])
        self._whole = text
        self._pause.stop()
        self._explain()

    @property
    def busy(self) -> bool:
        """True while an explanation is awaited."""
        return self._pause.isActive() or self._work.busy or self._opening.busy

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._lines:
            self._show(self._lines)

    def _make_widgets(self) -> None:
        self.text = QPlainTextEdit(self)
        self.text.setPlaceholderText(
            self.tr("Paste the error message or the end of the log here: PyTorch, TensorFlow, JAX, vLLM, llama.cpp …")
        )
        self.text.setAccessibleName(self.tr("Error message"))
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.textChanged.connect(self._on_typed)
        self.answer = QTextBrowser(self)
        self.answer.setOpenLinks(False)
        self.answer.setTabChangesFocus(True)
        self.answer.setAccessibleName(self.tr("Why memory ran out"))
        self.open_button = QPushButton(self.tr("&Read a file…"), self)
        self.copy_button = QPushButton(self.tr("&Copy the explanation"), self)
        self.close_button = QPushButton(self.tr("C&lose"), self)
        for button in (self.open_button, self.copy_button, self.close_button):
            button.setAutoDefault(False)
        self.open_button.clicked.connect(self._ask_file)
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(as_text(self._lines)))
        self.close_button.clicked.connect(self.close)

    def _lay_out(self) -> None:
        label = QLabel(self.tr("&Message"), self)
        label.setBuddy(self.text)
        set_role(label, "muted")
        parts = QSplitter(Qt.Orientation.Vertical, self)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self.text)
        parts.addWidget(self.answer)
        parts.setSizes([180, 380])
        buttons = QHBoxLayout()
        buttons.addWidget(self.open_button)
        buttons.addStretch(1)
        buttons.addWidget(self.copy_button)
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(label)
        column.addWidget(parts, 1)
        column.addLayout(buttons)

    def _on_typed(self) -> None:
        self._whole = None
        self._pause.start()

    def _explain(self) -> None:
        text = self.text.toPlainText() if self._whole is None else self._whole
        if text.strip():
            self._work.submit(partial(self._read, text))
        else:
            self._work.forget()
            self._show([])

    def _ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, self.tr("Read a log"))
        if name:
            self._opening.submit(lambda: read_text(str(Path(name))))

    def _show(self, lines: list[Line]) -> None:
        self._lines = lines
        colours = theme.colours_of(self)
        self.answer.document().setDefaultStyleSheet(
            f".title {{ font-weight: bold; }} .muted {{ color: {colours.muted}; }} p, li {{ margin: 0 0 4px 0; }}"
        )
        self.answer.setHtml("".join(_html(lines)))
        self.copy_button.setEnabled(bool(lines))


def explained(text: str) -> list[Line]:
    """Every message of a text in words, or that there is none."""
    explanation = explain(text)
    if not explanation.messages:
        return [("sentence", translate(
            "OutOfMemory", "No out-of-memory message was found: paste the lines of the error itself, or the whole log."
        ))]  # fmt: skip
    return list(_lines(explanation))


def as_text(lines: list[Line]) -> str:
    """The same for the clipboard."""
    number, texts = 0, []
    for role, text in lines:
        number = number + 1 if role == "remedy" else 0
        texts.append(f"  {number}. {text}" if number else f"\n{text}" if role == "title" else text)
    return "\n".join(texts).strip()


def _lines(explanation: OutOfMemoryExplanation) -> Iterator[Line]:
    names = {gpu.id: gpu.name for gpu in catalogue().gpus}
    for message, verdict in zip(explanation.messages, explanation.verdicts, strict=True):
        yield "title", _place(message)
        yield "sentence", verdict.sentence
        if verdict.evidence:
            yield "muted", verdict.evidence
        if verdict.remedies:
            yield "sentence", translate("OutOfMemory", "Try, in this order:")
            for remedy in verdict.remedies:
                yield "remedy", remedy
        if verdict.needed_bytes is not None:
            yield "sentence", _need(verdict, names)


def _place(message: OutOfMemoryMessage) -> str:
    parts = [translate("OutOfMemory", "Line {0}: {1}").format(message.line, message.framework)]
    if message.backend is not None:
        parts.append(message.backend)
    if message.device is not None:
        parts.append(translate("OutOfMemory", "device {0}").format(message.device))
    if message.count > 1:
        parts.append(translate("OutOfMemory", "{0} times").format(message.count))
    return " · ".join(parts)


def _need(verdict: OutOfMemoryVerdict, names: dict[str, str]) -> str:
    needed = format_bytes(verdict.needed_bytes or 0)
    if not verdict.cards:
        return translate(
            "OutOfMemory", "It needs at least {0} for itself on a device; no single GPU on sale has that."
        ).format(needed)
    cards = ", ".join(names.get(card, card) for card in verdict.cards)
    return translate(
        "OutOfMemory", "It needs at least {0} for itself on a device; the smallest GPUs with that: {1}."
    ).format(needed, cards)


def _html(lines: list[Line]) -> Iterator[str]:
    in_list = False
    for role, text in lines:
        if (role == "remedy") is not in_list:
            in_list = not in_list
            yield "<ol>" if in_list else "</ol>"
        words = escape(text).replace("\n", "<br>")
        yield f"<li>{words}</li>" if in_list else f'<p class="{role}">{words}</p>'
    if in_list:
        yield "</ol>"
