"""The line on top of the window: which session, its state, how long, how far, how fast; stop and report."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from gpuscope.ui.session_status import SessionStatus, rate_text
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.elided_label import ElidedLabel
from gpuscope.ui.widgets.focus import hide_without_passing_focus_on

PROGRESS_WIDTH_PX = 120


class SessionHeader(QWidget):
    """Shows a `SessionStatus`."""

    stop_requested = Signal()
    report_requested = Signal()
    live_requested = Signal()
    """Leave the session and look at the machine again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing to show yet."""
        super().__init__(parent)
        self.name = ElidedLabel(self)
        set_role(self.name, "title")
        self.state = QLabel(self)
        self.elapsed = QLabel(self)
        self.steps = QLabel(self)
        self.progress = QProgressBar(self)
        self.progress.setFixedWidth(PROGRESS_WIDTH_PX)
        self.progress.setTextVisible(False)
        self.rate = QLabel(self)
        self.stop = QPushButton(self.tr("Stop"), self)
        set_role(self.stop, "danger")
        self.live = QPushButton(self.tr("Live view"), self)
        self.live.setToolTip(self.tr("Close this session and look at the machine as it is now."))
        self.report = QPushButton(self.tr("Report…"), self)
        self.stop.clicked.connect(self.stop_requested)
        self.live.clicked.connect(self.live_requested)
        self.report.clicked.connect(self.report_requested)
        self._explain()
        self._lay_out()
        self.show_nothing(self.tr("Starting the live view…"))

    def show_nothing(self, text: str) -> None:
        """No session: a plain text."""
        self.name.set_full_text(text)
        for label in (self.state, self.elapsed, self.steps, self.rate):
            label.clear()
            label.hide()
        for widget in (self.progress, self.stop, self.report, self.live):
            widget.hide()

    def show_status(self, status: SessionStatus, *, monitor_only: bool) -> None:
        """Show what is known now."""
        state = status.state()
        self.name.set_full_text(status.title)
        live_view = self.tr("live view") if status.live else self.tr("live view, ended")
        self.state.setText(live_view if monitor_only else state_text(state))
        role = "trouble" if status.is_trouble() else "warning" if state in {"stalled", "interrupted"} else ""
        if self.state.property("role") != role:
            set_role(self.state, role)
        self.elapsed.setText(status.elapsed())
        self._show_steps(status)
        self.live.setText(self.tr("Stop reading") if state == "reading" else self.tr("Live view"))
        running = status.live and status.manifest.run is not None
        buttons = ((self.stop, running), (self.report, not monitor_only), (self.live, not monitor_only and not running))
        for button, shown in buttons:
            if shown:
                button.show()
            else:
                hide_without_passing_focus_on(button)
        self.state.show()
        self.elapsed.setVisible(not monitor_only)

    def _show_steps(self, status: SessionStatus) -> None:
        run, total = status.run, status.run.total_steps
        known = run.steps > 0
        text = self.tr("step {0} of {1}") if total else self.tr("step {0}")
        self.steps.setText(text.format(f"{run.steps:,}", f"{total or 0:,}"))
        self.steps.setVisible(known)
        self.progress.setVisible(known and bool(total))
        if total:
            self.progress.setRange(0, total)
            self.progress.setValue(min(run.steps, total))
        self.rate.setText(rate_text(run.steps_per_s))
        self.rate.setVisible(known and status.live)

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self.name, 1)
        for widget in (self.state, self.elapsed, self.steps, self.progress, self.rate):
            layout.addWidget(widget)
        layout.addSpacing(GRID)
        for button in (self.live, self.stop, self.report):
            layout.addWidget(button)

    def _explain(self) -> None:
        self.elapsed.setWhatsThis(self.tr("Time since the session began, as hours, minutes and seconds."))
        self.steps.setWhatsThis(
            self.tr("Optimizer steps that the probe has counted. The total is known when you gave it in the Run panel.")
        )
        self.rate.setWhatsThis(
            self.tr("Steps a second at the median time of the last 100 steps; slow ones a minute or an hour.")
        )
        self.stop.setWhatsThis(self.tr("Asks the run to end: first politely, then firmly. What was recorded is kept."))


def state_text(code: str) -> str:
    """The word for a state code of `SessionStatus`."""
    translate = QCoreApplication.translate
    return {
        "waiting": translate("SessionHeader", "waiting for the first step"),
        "running": translate("SessionHeader", "running"),
        "stalled": translate("SessionHeader", "stalled"),
        "stopping": translate("SessionHeader", "stopping"),
        "reading": translate("SessionHeader", "reading"),
        "recording": translate("SessionHeader", "recording"),
        "interrupted": translate("SessionHeader", "interrupted"),
        "finished": translate("SessionHeader", "finished"),
        "failed": translate("SessionHeader", "failed"),
        "out_of_memory": translate("SessionHeader", "out of memory"),
        "stopped": translate("SessionHeader", "stopped"),
        "killed": translate("SessionHeader", "killed"),
        "not_started": translate("SessionHeader", "could not start"),
        "recorded": translate("SessionHeader", "recorded"),
    }.get(code, translate("SessionHeader", "ended"))
