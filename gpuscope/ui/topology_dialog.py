"""The topology of a session's machine: as a picture, and as the matrix that nvidia-smi shows, to be copied."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gpuscope.domain.topology import Topology, matrix_lines
from gpuscope.engine.session import read_session
from gpuscope.engine.supervisor import TOPOLOGY
from gpuscope.ui.background import Newest
from gpuscope.ui.theme import GRID
from gpuscope.ui.topology_picture import TopologyPicture

START_SIZE = (1000, 620)
MATRIX_SHARE = 2
PICTURE_SHARE = 3


class TopologyDialog(QDialog):
    """Not modal: it can stay open beside the plots.

    Attributes:
        matrix: the text.
        picture: the drawing.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty; see `look_at`."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Topology"))
        self.resize(*START_SIZE)
        self.picture = TopologyPicture(self)
        self.picture.setAccessibleName(self.tr("Picture of the topology; the matrix below has the same as text"))
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.matrix = QPlainTextEdit(self)
        self.matrix.setReadOnly(True)
        self.matrix.setTabChangesFocus(True)
        self.matrix.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.matrix.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.matrix.setAccessibleName(self.tr("Matrix of the ways between devices"))
        self.copy = QPushButton(self.tr("&Copy the matrix"), self)
        self.copy.clicked.connect(self._copy)
        self._scroll = QScrollArea(self)
        self._scroll.setWidget(self.picture)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._reading = Newest(self)
        self._reading.finished.connect(self.show_topology)
        self._reading.failed.connect(self._show_note)
        self._lay_out()

    def look_at(self, session: Path | None) -> None:
        """Show the topology that a session recorded."""
        self.show()
        self.raise_()
        self.activateWindow()
        if session is None:
            self._show_note(self.tr("There is no session yet."))
        else:
            self._reading.submit(lambda: _read(session))

    def show_topology(self, topology: Topology | None) -> None:
        """Show one; None: the session has none."""
        known = topology is not None and bool(topology.parts or topology.numa_nodes)
        if topology is None or not known:
            self._show_note(
                self.tr(
                    "This session holds no topology: it was recorded without a GPU driver, imported from a log, or "
                    "made by an older version."
                )
            )
            return
        self.note.hide()
        self.picture.show_topology(topology)
        self.matrix.setPlainText("\n".join(matrix_lines(topology)))
        for widget in (self._scroll, self.matrix, self.copy):
            widget.show()

    def _show_note(self, sentence: str) -> None:
        self.note.setText(sentence)
        self.note.show()
        for widget in (self._scroll, self.matrix, self.copy):
            widget.hide()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.matrix.toPlainText())

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self.note)
        layout.addWidget(self._scroll, PICTURE_SHARE)
        layout.addWidget(self.matrix, MATRIX_SHARE)
        layout.addLayout(buttons)


def _read(session: Path) -> Topology | None:
    with read_session(session) as reader:
        return reader.document(TOPOLOGY, Topology)
