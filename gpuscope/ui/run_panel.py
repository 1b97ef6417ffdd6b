"""The Run panel: what is to be run, how the run goes, and what was run lately."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpuscope.domain.base import from_json, to_json
from gpuscope.domain.run import Manifest, RunOutcome
from gpuscope.engine import launch
from gpuscope.engine.follow import Update
from gpuscope.engine.registry import SessionSummary
from gpuscope.runner.interpreters import Interpreter, find_interpreters
from gpuscope.store.reader import SessionReader
from gpuscope.ui.background import Newest
from gpuscope.ui.interpreter_box import InterpreterBox
from gpuscope.ui.live_run import LiveRun
from gpuscope.ui.recent_runs import RecentRuns
from gpuscope.ui.run_form import RunForm
from gpuscope.ui.run_settings import RunSettings, from_spec, to_request, without_secrets, working_folder
from gpuscope.ui.run_status import RunStatus
from gpuscope.ui.settings import WindowSettings
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.focus import hide_without_passing_focus_on
from gpuscope.ui.widgets.scroll import fill_scrolling
from gpuscope.ui.widgets.section import Section

LOOK_AROUND_MS = 400
"""Typing of a folder pauses this long before interpreters are looked for in it."""
STARTING_MS = 3000
"""So long a second start is not taken: a double click is one run."""
REFRESH_MS = 1000
"""A stalled run says so although nothing comes: the state is looked at this often."""
RECENT_MINIMUM_HEIGHT = 16 * GRID
_REMEMBERED = "run"


@dataclass(frozen=True, slots=True)
class RunSources:
    """Functions that may take a while and raise `GpuscopeError`; called beside the window."""

    interpreters: Callable[[Path], list[Interpreter]]
    recent: Callable[[], list[SessionSummary]]
    manifest: Callable[[Path], Manifest]


def engine_sources() -> RunSources:
    """The real ones."""
    return RunSources(find_interpreters, launch.recent_sessions, _manifest)


class RunPanel(QWidget):
    """The status is on top while a run is followed, the form below it, the recent sessions last."""

    run_requested = Signal(object)
    """RunRequest."""
    stop_requested = Signal()
    open_requested = Signal(object)
    """Path of a session."""

    def __init__(
        self, parent: QWidget | None = None, sources: RunSources | None = None, settings: WindowSettings | None = None
    ) -> None:
        """The form holds what was run last.

        Args:
            parent: as always in Qt.
            sources: None: the engine.
            settings: where the form is remembered; None: with the window's settings.
        """
        super().__init__(parent)
        self._sources = sources or engine_sources()
        self._settings = settings or WindowSettings()
        self._run: LiveRun | None = None
        self._live = False
        self._folder = Path()
        self._recent_work, self._again_work = Newest(self), Newest(self)
        self._look_around = QTimer(self, singleShot=True, interval=LOOK_AROUND_MS)
        self._starting = QTimer(self, singleShot=True, interval=STARTING_MS)
        self._refresh = QTimer(self, interval=REFRESH_MS)
        self.status = RunStatus(self)
        self.interpreters = InterpreterBox(self._sources.interpreters)
        self.form = RunForm(self.interpreters)
        self.run_button, self.stop_button = QPushButton(self.tr("Run")), QPushButton(self.tr("Stop"))
        self.recent = RecentRuns(self)
        self.again_button = QPushButton(self.tr("Fill in its settings"), self)
        self._lay_out()
        self._connect()
        self.form.set_settings(self._remembered())
        self._show_running(live=False)
        self._show_again_button()
        self.refresh_recent()

    def run(self) -> None:
        """Start the run that is filled in, or say what is wrong with it."""
        if self._live or self._starting.isActive():
            return
        settings = self.form.check()
        if settings is None:
            self._form_section.set_open(True)
            return
        self._settings.set_text(_REMEMBERED, to_json(without_secrets(settings)).decode())
        self._settings.flush()
        self._starting.start()
        self.run_button.setEnabled(False)
        self.run_requested.emit(to_request(settings))

    def refresh_recent(self) -> None:
        """Look again which sessions there are."""
        self._recent_work.submit(self._sources.recent)

    def on_session_opened(self, manifest: Manifest) -> None:
        """Another session is followed now."""
        self._run = LiveRun(manifest)
        self.status.setVisible(manifest.run is not None)
        self.status.show_run(self._run)
        self._show_running(live=manifest.run is not None)
        self.refresh_recent()

    def on_update(self, update: Update) -> None:
        """Something came."""
        if self._run is not None:
            self._run.take(update)
            if self._live and not self._run.live:
                self._show_running(live=False)  # what is read has long ended
            self._show_run()

    def on_session_ended(self, outcome: RunOutcome | None) -> None:
        """The session is complete."""
        if self._run is not None:
            self._run.end(outcome)
            self._show_run()
        self._show_running(live=False)
        self.refresh_recent()

    # -- construction ------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        set_role(self.run_button, "primary")
        set_role(self.stop_button, "danger")
        self.recent.setMinimumHeight(RECENT_MINIMUM_HEIGHT)
        self.recent.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # takes what is left
        self._form_section = Section(self.tr("New run"), _with_button(self.form, self.run_button), is_open=True)
        self._recent_section = Section(
            self.tr("Recent sessions"), _with_button(self.recent, self.again_button), is_open=True
        )
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.status)
        column.addWidget(self.stop_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._form_section)
        column.addWidget(self._recent_section, 1)
        column.addStretch(0)
        self._recent_section.toggled.connect(partial(_share_height, column, self._recent_section))
        fill_scrolling(self, page)
        self.status.hide()

    def _connect(self) -> None:
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(self.stop_requested)
        self.form.submitted.connect(self.run)
        self.form.changed.connect(self._on_form_changed)
        self._look_around.timeout.connect(self._find_interpreters)
        self._refresh.timeout.connect(self._show_run)
        self._starting.timeout.connect(lambda: self.run_button.setEnabled(not self._live))
        self.recent.open_requested.connect(self.open_requested)
        self.recent.again_requested.connect(self._fill_in)
        self.recent.currentItemChanged.connect(lambda *_: self._show_again_button())
        self.again_button.clicked.connect(lambda: self._fill_in(self.recent.chosen_path()))
        self._recent_work.finished.connect(self.recent.show_sessions)
        self._recent_work.finished.connect(lambda _sessions: self._show_again_button())
        self._again_work.finished.connect(self._on_manifest)
        self._again_work.failed.connect(lambda sentence: self.form.show_problems({"target": sentence}))

    # -- what happens ------------------------------------------------------------------------------------------

    def _on_form_changed(self) -> None:
        if working_folder(self.form.settings()) != self._folder:
            self._look_around.start()

    def _find_interpreters(self) -> None:
        self._folder = working_folder(self.form.settings())
        self.interpreters.look_around(self._folder)

    def _fill_in(self, path: Path | None) -> None:
        if path is not None:
            self._again_work.submit(partial(self._sources.manifest, path))

    def _on_manifest(self, manifest: Manifest) -> None:
        if manifest.run is not None:
            self._form_section.set_open(True)
            self.form.set_settings(from_spec(manifest.run))

    def _show_run(self) -> None:
        if self._run is not None and self._run.manifest.run is not None:
            self.status.show_run(self._run)

    def _show_running(self, *, live: bool) -> None:
        self._live = live
        self._starting.stop()
        self.run_button.setEnabled(not live)
        if live:
            self.stop_button.show()
        else:
            hide_without_passing_focus_on(self.stop_button)
        self._form_section.set_open(not live and self._run is None)
        if live:
            self._refresh.start()
        else:
            self._refresh.stop()

    def _show_again_button(self) -> None:
        self.again_button.setVisible(self.recent.count() > 0)
        self.again_button.setEnabled(self.recent.chosen_is_run())

    def _remembered(self) -> RunSettings:
        try:
            return from_json(self._settings.text(_REMEMBERED), RunSettings)
        except msgspec.MsgspecError:
            return RunSettings()


def _share_height(column: QVBoxLayout, section: Section, is_open: bool) -> None:
    """The height that is left goes to a section while it is open, else below it."""
    column.setStretchFactor(section, int(is_open))
    column.setStretch(column.count() - 1, int(not is_open))


def _with_button(widget: QWidget, button: QPushButton) -> QWidget:
    together = QWidget()
    column = QVBoxLayout(together)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GRID)
    column.addWidget(widget, 1)
    column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
    return together


def _manifest(path: Path) -> Manifest:
    with SessionReader(path) as reader:
        return reader.manifest
