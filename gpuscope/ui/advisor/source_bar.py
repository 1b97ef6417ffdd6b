"""What the advice is for: the session, a model that is typed in, or several jobs; and the way to the report."""

from __future__ import annotations

from enum import Enum, auto

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.titles import short_title

SESSION_MINIMUM_WIDTH = 6 * GRID
_BUTTON_PADDING = 3 * GRID


class Source(Enum):
    """What is advised on."""

    SESSION = auto()
    TYPED = auto()
    JOBS = auto()


class SourceBar(QWidget):
    """Three buttons of which one is down, and the export."""

    changed = Signal()
    """The other source was chosen."""
    export_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """The session is chosen; there is none yet."""
        super().__init__(parent)
        self._session = _ElasticButton(self)
        self._session.setCheckable(True)
        self._session.setChecked(True)
        self._estimate = QPushButton(self.tr("T&yped in"), self)
        self._estimate.setCheckable(True)
        self._jobs = QPushButton(self.tr("&Jobs"), self)
        self._jobs.setCheckable(True)
        self._jobs.setToolTip(self.tr("Advise on several jobs that come again and again."))
        self._export = QPushButton(self.tr("E&xport…"), self)
        self._estimate.setToolTip(self.tr("Advise on a model that is typed in instead of measured."))
        self._export.setToolTip(self.tr("Export a report with this advice; of a typed-in model also its footprint."))
        for button in (self._estimate, self._jobs, self._export):
            set_role(button, "compact")
        self._export.clicked.connect(self.export_requested)
        group = QButtonGroup(self)
        group.addButton(self._session)
        group.addButton(self._estimate)
        group.addButton(self._jobs)
        group.buttonToggled.connect(self._on_toggled)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        row.addWidget(self._session, 1)
        row.addWidget(self._estimate)
        row.addWidget(self._jobs)
        row.addSpacing(GRID // 2)
        row.addWidget(self._export)
        self.set_session("")
        self.set_exportable(False)

    @property
    def source(self) -> Source:
        """What is chosen."""
        if self._jobs.isChecked():
            return Source.JOBS
        return Source.TYPED if self._estimate.isChecked() else Source.SESSION

    @property
    def estimating(self) -> bool:
        """True while the typed-in model is chosen."""
        return self.source is Source.TYPED

    def set_session(self, name: str) -> None:
        """Name of the session; empty when there is none."""
        name = name or self.tr("No session")
        self._session.set_full_text(short_title(name), name)

    def choose_session(self) -> None:
        """Press the session's button."""
        self._session.setChecked(True)

    def choose_estimate(self) -> None:
        """Press the button of the typed-in model."""
        self._estimate.setChecked(True)

    def choose_jobs(self) -> None:
        """Press the button of several jobs."""
        self._jobs.setChecked(True)

    def set_exportable(self, exportable: bool) -> None:
        """Whether there is something to write a report of."""
        self._export.setEnabled(exportable)

    def _on_toggled(self, _button: QAbstractButton, checked: bool) -> None:
        if checked:  # once for each change: the button that comes up says so, too
            self.changed.emit()


class _ElasticButton(QPushButton):
    """A button that shortens its text when there is no room."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._full = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_full_text(self, text: str, tooltip: str) -> None:
        self._full = text
        self.setToolTip(as_plain(tooltip))
        self.setAccessibleName(tooltip)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(SESSION_MINIMUM_WIDTH, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(self.width() - _BUTTON_PADDING, 0)
        self.setText(self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, room).replace("&", "&&"))
