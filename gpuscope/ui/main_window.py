"""The window: wires the session that is followed to the panels; every part is a file of its own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QCloseEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QMessageBox, QVBoxLayout, QWidget

from gpuscope.domain.run import Manifest, RunOutcome
from gpuscope.engine import launch
from gpuscope.engine.follow import Update
from gpuscope.engine.session import open_session
from gpuscope.store.schema import SUFFIX
from gpuscope.ui.advisor_actions import AdvisorActions
from gpuscope.ui.background import Newest
from gpuscope.ui.banner import Banners
from gpuscope.ui.fleet.cluster_action import ClusterAction
from gpuscope.ui.log_import import LogImport
from gpuscope.ui.menus import create_menus
from gpuscope.ui.monitor_actions import MonitorActions
from gpuscope.ui.monitor_panel import MonitorPanel
from gpuscope.ui.output_view import OutputView
from gpuscope.ui.panel_area import PanelArea
from gpuscope.ui.report_export import ReportExport
from gpuscope.ui.session_controller import SessionController
from gpuscope.ui.session_drop import SessionDrop
from gpuscope.ui.session_header import SessionHeader
from gpuscope.ui.session_notes import update_notes
from gpuscope.ui.session_status import SessionStatus, clock_text
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import Mode, apply_theme
from gpuscope.ui.welcome import Welcome

if TYPE_CHECKING:
    from gpuscope.ui.advisor.panel import AdvisorPanel
    from gpuscope.ui.run_panel import RunPanel

START_SIZE = (1280, 800)
STATUS_MS = 8000
SESSION_FILTER = f"gpuscope (*{SUFFIX})"


class MainWindow(QMainWindow):
    """Run, Monitor and Advisor around one session."""

    def __init__(self, run_panel: RunPanel, advisor_panel: AdvisorPanel, settings: WindowSettings) -> None:
        """The panels become children of the window; call `start` once it is shown."""
        super().__init__()
        self.settings = settings
        self.run_panel, self.advisor_panel = run_panel, advisor_panel
        self.monitor_panel = MonitorPanel(self)
        self.output_view = OutputView(self)
        self.header, self.banners, self.welcome = SessionHeader(self), Banners(self), Welcome(self)
        self.panels = PanelArea(run_panel, self.monitor_panel, advisor_panel, self.output_view, self)
        self.session = SessionController(self)
        self.export = ReportExport(self)
        self.advice = AdvisorActions(self)
        self.monitoring = MonitorActions(self)
        self.log_import = LogImport(self)
        self.cluster = ClusterAction(self, settings)
        self._drop = SessionDrop(self)
        self._status: SessionStatus | None = None
        self._output_was_shown = False
        self._broken_off: Path | None = None
        self._unfinished = Newest(self)
        self._copying = Newest(self)
        self.setWindowTitle("gpuscope")
        self.resize(*START_SIZE)
        self._lay_out()
        self._actions = create_menus(self)
        self._connect()
        self._restore()

    def start(self, path: Path | None = None) -> None:
        """Open a session, or show the live view and offer the runs that are still going."""
        if path is None:
            self.show_live()
        else:
            self.session.open(path)
            self._unfinished.submit(_look_around)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Let go of everything; a run goes on, and the window says so."""
        if self.session.run_is_live and not self.confirm_close():
            event.ignore()
            return
        self.settings.set_bytes("geometry", self.saveGeometry())
        self.settings.set_bytes("layout", self.panels.save_layout())
        self.settings.flush()
        self.advice.close_windows()
        self.cluster.close()
        self.hide()  # ending the live view may take a moment
        self.session.close()
        super().closeEvent(event)

    def confirm_close(self) -> bool:
        """Ask whether to close while a run goes on."""
        text = self.tr("The run goes on without the window. Start gpuscope again to follow it.")
        box = QMessageBox(QMessageBox.Icon.Information, "gpuscope", text, parent=self)
        close = box.addButton(self.tr("Close the window"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(self.tr("Stay"), QMessageBox.ButtonRole.RejectRole)
        box.exec()
        return box.clickedButton() is close

    def set_mode(self, mode: Mode) -> None:
        """Change between light, dark and as the system, and remember it."""
        self.settings.mode = mode
        self._apply_mode()

    # -- construction ------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        body = QWidget(self)
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.header, self.log_import.bar, self.banners, self.welcome):
            layout.addWidget(widget)
        layout.addWidget(self.panels, 1)
        body.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        body.setFocus()  # no button looks chosen before the person chooses
        self.setCentralWidget(body)
        self.welcome.hide()
        self.statusBar().setSizeGripEnabled(False)

    def _connect(self) -> None:
        session, header = self.session, self.header
        session.opened.connect(self._on_opened)
        session.updated.connect(self._on_updated)
        session.progress.connect(self._on_progress)
        session.loaded.connect(self._on_loaded)
        session.ended.connect(self._on_ended)
        session.failed.connect(self._on_failed)
        session.working.connect(self.say)
        header.stop_requested.connect(session.stop_run)
        header.report_requested.connect(self.export_report)
        header.live_requested.connect(self.show_live)
        self.run_panel.run_requested.connect(session.start_run)
        self.run_panel.stop_requested.connect(session.stop_run)
        self.run_panel.open_requested.connect(session.open)
        self._drop.dropped.connect(session.open)
        self._drop.logs_dropped.connect(self.log_import.take)
        self._drop.text_pasted.connect(self.log_import.take_text)
        self.log_import.started.connect(self.say)
        self.log_import.imported.connect(session.open)
        self.cluster.opened.connect(session.open)
        self.log_import.out_of_memory.connect(self._on_out_of_memory_text)
        self.log_import.failed.connect(self._on_import_failed)
        self.log_import.cancelled.connect(self.say)
        self.advisor_panel.status.connect(self.say)
        self.advisor_panel.export_requested.connect(self.advice.export)
        self.welcome.run_chosen.connect(lambda: self.panels.reveal(self.panels.run))
        self.welcome.estimate_chosen.connect(self.advice.show_estimate)
        self.welcome.open_chosen.connect(self.open_dialog)
        self.export.started.connect(self.say)
        self.export.written.connect(lambda path: self.say(self.tr("{0} is written.").format(path)))
        self.export.failed.connect(self.banners.show_note)
        self.monitoring.said.connect(self.say)
        self.monitoring.failed.connect(self.banners.show_note)
        self.monitor_panel.window_shown.connect(session.set_watched)
        self._unfinished.finished.connect(self._offer_unfinished)
        self._unfinished.failed.connect(self.banners.show_note)
        self._copying.finished.connect(lambda path: self.say(self.tr("{0} is written.").format(path)))
        self._copying.failed.connect(self.banners.show_note)
        QApplication.styleHints().colorSchemeChanged.connect(self._apply_mode)

    def _restore(self) -> None:
        geometry, layout = self.settings.bytes("geometry"), self.settings.bytes("layout")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if layout is not None:
            self.panels.restore_layout(layout)
        self._enable_actions()

    # -- what the person does ----------------------------------------------------------------------------------

    def open_dialog(self) -> None:
        """Ask for a session and open it."""
        folder = self.settings.text("folder")
        name, _ = QFileDialog.getOpenFileName(self, self.tr("Open a session"), folder, SESSION_FILTER)
        if name:
            self.settings.set_text("folder", str(Path(name).parent))
            self.session.open(Path(name))

    def save_copy_dialog(self) -> None:
        """Ask for a name and save a whole copy there, also of a session that still grows."""
        source = self.session.path
        if source is None:
            return
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Save a copy"), str(source.parent), SESSION_FILTER)
        if name:
            target = Path(name)
            self._copying.submit(lambda: _save_copy(source, target))

    def export_report(self) -> None:
        """Ask for a name and write the report of the session there."""
        if self.session.path is not None and not self.session.monitor_only:
            self.export.ask_and_write(self.session.path, self.advisor_panel.constraints)

    def zoom_to_steady(self) -> None:
        """Show the part of the run whose steps are steady."""
        span = self._status.run.steady_span() if self._status is not None else None
        if span is None:
            self.say(self.tr("There are not enough steps yet to say where the steady state begins."))
        else:
            self.monitor_panel.zoom_to(*span)

    def show_live(self) -> None:
        """Leave the session for the live view; a run that goes on is offered."""
        self.session.show_live()
        self._unfinished.submit(_look_around)

    def show_about(self) -> None:
        """Say what this is."""
        from gpuscope import __version__

        QMessageBox.about(
            self,
            "gpuscope",
            self.tr("gpuscope {0}: what a training job really uses, and which GPU to get for it.").format(__version__),
        )

    def actions_by_key(self) -> list[QAction]:
        """The actions that have a key."""
        return [action for action in self.findChildren(QAction) if not action.shortcut().isEmpty()]

    def say(self, sentence: str) -> None:
        """Show a sentence in the status bar for a while; empty clears it."""
        if sentence:
            self.statusBar().showMessage(sentence, 0 if sentence.endswith("…") else STATUS_MS)
        else:
            self.statusBar().clearMessage()

    # -- what the session does ---------------------------------------------------------------------------------

    def _on_opened(self, manifest: Manifest, path: Path) -> None:
        monitor_only = self.session.monitor_only
        if not monitor_only:
            self.log_import.forget()  # what the person opened since then stays
        self._status = SessionStatus(manifest, "" if monitor_only else path.stem)
        self.setWindowTitle("gpuscope" if monitor_only else f"{self._status.title} – gpuscope")
        self.banners.clear()
        self.output_view.clear()
        self.monitor_panel.on_session_opened(manifest)
        self.welcome.setVisible(monitor_only)
        self.panels.reveal(self.panels.monitor)
        if not monitor_only:
            self.run_panel.on_session_opened(manifest)
            self.advisor_panel.on_session_opened(manifest, path)
        self._show_status()
        self._enable_actions()

    def _on_updated(self, update: Update) -> None:
        if self._status is None:
            return
        self._status.take(update)
        self.monitor_panel.on_update(update)
        self._show_output(update.output)
        if not self.session.monitor_only:
            self.run_panel.on_update(update)
        for sentence in update_notes(update):
            self.banners.show_note(sentence)
        self._show_status()

    def _show_output(self, output: bytes) -> None:
        self.output_view.add(output)
        if output and not self._output_was_shown:
            self._output_was_shown = True  # once: whoever hides it does not want it back with the next session
            self.panels.reveal(self.panels.output)

    def _on_progress(self, session_s: float) -> None:
        self.say(self.tr("Reading the session: {0} so far…").format(clock_text(session_s)))

    def _on_loaded(self) -> None:
        self.say("")
        self.monitor_panel.on_loaded()

    def _on_ended(self, outcome: RunOutcome | None) -> None:
        if self._status is None:
            return
        self._status.end(outcome)
        self._show_status()
        self._enable_actions()
        if self.session.monitor_only:
            self.banners.show_note(
                self.tr("The live view has ended."), self.tr("Start it again"), self.session.show_live
            )
            return
        self.run_panel.on_session_ended(outcome)
        self.advisor_panel.on_session_ended(outcome)
        self.monitor_panel.on_session_ended()
        if outcome is None:
            self._say_broken_off()
        elif self._status.is_trouble():
            self.banners.show_note(outcome.sentence)

    def _say_broken_off(self) -> None:
        self._broken_off = self.session.path
        self._unfinished.submit(_look_around)

    def _on_failed(self, sentence: str) -> None:
        self.banners.show_note(sentence)
        self.header.show_nothing(self.tr("No session"))
        self.welcome.show()
        self._enable_actions()

    def _on_import_failed(self, sentence: str) -> None:
        """The session that is looked at stays."""
        self.say("")
        self.banners.show_note(sentence)

    def _on_out_of_memory_text(self, text: str) -> None:
        self.say("")
        self.advice.show_out_of_memory(text)

    def _offer_unfinished(self, runs: list[launch.UnfinishedRun]) -> None:
        broken_off, self._broken_off = self._broken_off, None
        if broken_off is not None and broken_off == self.session.path and broken_off not in {run.path for run in runs}:
            sentence = self.tr("The recording broke off: everything up to then is shown.")
            self.banners.show_note(sentence, self.tr("Look again"), partial(self.session.open, broken_off))
        for run in runs:
            if run.path == self.session.path and run.live:
                continue
            sentence = self.tr("{0} is still running.") if run.live else self.tr("{0} runs on without its recorder.")
            follow = self.session.open if run.live else self.session.follow_again
            text = sentence.format(run.title)
            self.banners.show_note(text, self.tr("Follow it"), partial(follow, run.path), lasting=True)

    def _show_status(self) -> None:
        if self._status is not None:
            self.header.show_status(self._status, monitor_only=self.session.monitor_only)

    def _enable_actions(self) -> None:
        own = self.session.path is not None and not self.session.monitor_only
        self._actions.report.setEnabled(own)
        self._actions.save.setEnabled(own)
        self._actions.stop.setEnabled(self.session.run_is_live)

    def _apply_mode(self, _scheme: Qt.ColorScheme | None = None) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication):
            apply_theme(application, self.settings.mode)


def _look_around() -> list[launch.UnfinishedRun]:
    launch.clean_live_views()
    return launch.unfinished_sessions()


def _save_copy(source: Path, target: Path) -> Path:
    with open_session(source) as reader:
        reader.save_copy(target)
    return target
