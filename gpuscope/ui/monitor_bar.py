"""The bar above the plots: how much time they show, pause, and back to now."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QPushButton, QWidget

from gpuscope.ui.session_status import clock_text
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.time_view import TimeView

WINDOWS_S: tuple[float | None, ...] = (30.0, 60.0, 300.0, 900.0, 3600.0, None)


class MonitorBar(QWidget):
    """Buttons for the stretch of time; shows a `TimeView`."""

    window_chosen = Signal(object)
    """Seconds, or None for everything."""
    pause_toggled = Signal()
    reset_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """The last minute, moving."""
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        texts = (self.tr("30 s"), self.tr("1 min"), self.tr("5 min"), self.tr("15 min"), self.tr("1 h"), self.tr("All"))
        self._group = QButtonGroup(self)
        self.windows: dict[float | None, QPushButton] = {}
        for number, (seconds, text) in enumerate(zip(WINDOWS_S, texts, strict=True)):
            button = QPushButton(text, self)
            button.setCheckable(True)
            _make_segment(button)
            self._group.addButton(button, number)
            self.windows[seconds] = button
            layout.addWidget(button)
        self._group.idClicked.connect(lambda number: self.window_chosen.emit(WINDOWS_S[number]))
        self.moment = QLabel(self)
        set_role(self.moment, "muted")
        self.back = QPushButton(self.tr("Back to now"), self)
        _make_segment(self.back)
        self.back.clicked.connect(self.reset_requested)
        self.pause = QPushButton(self.tr("Pause"), self)
        _make_segment(self.pause)
        self.pause.setCheckable(True)
        self.pause.clicked.connect(self.pause_toggled)
        self.pause.setWhatsThis(self.tr("Holds the plots still. Recording goes on, and nothing is lost."))
        layout.addStretch(1)
        for widget in (self.moment, self.back, self.pause):
            layout.addWidget(widget)

    def show_view(self, view: TimeView, end_s: float, cursor_s: float | None) -> None:
        """Show what the plots show."""
        self.windows[view.window_s].setChecked(not view.zoomed)
        self._group.setExclusive(not view.zoomed)
        if view.zoomed:
            self.windows[view.window_s].setChecked(False)
        self.pause.setChecked(view.paused)
        self.back.setVisible(view.paused or view.zoomed)
        moment = self._moment(view, end_s, cursor_s)
        if moment != self.moment.text():
            self.moment.setText(moment)

    def _moment(self, view: TimeView, end_s: float, cursor_s: float | None) -> str:
        if cursor_s is not None and cursor_s < 0:
            return self.tr("before the session")
        if cursor_s is not None:
            return self.tr("at {0}").format(clock_text(cursor_s))
        if view.zoomed:
            start, end = view.span(end_s)
            return self.tr("{0} to {1}").format(clock_text(start), clock_text(end))
        return self.tr("paused") if view.paused else ""


def _make_segment(button: QPushButton) -> None:
    set_role(button, "segment")
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
