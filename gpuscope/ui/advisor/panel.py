"""The Advisor: what to get for the job that was run, or for a model that is typed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuscope.domain.footprint import Footprint
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Constraints, Recommendation
from gpuscope.domain.run import Manifest, RunOutcome
from gpuscope.ui.advisor.basis import basis_of, says_enough
from gpuscope.ui.advisor.form.constraints import ConstraintsForm
from gpuscope.ui.advisor.form.model import EstimateForm
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form_and_answer import AdvisorParts, FormAndAnswer
from gpuscope.ui.advisor.message import MessagePage
from gpuscope.ui.advisor.mix.advice import MixAdvice
from gpuscope.ui.advisor.mix.jobs import JobsForm
from gpuscope.ui.advisor.mix.result import MixResult
from gpuscope.ui.advisor.result.page import ResultPage
from gpuscope.ui.advisor.result.table import Rows, rows_of
from gpuscope.ui.advisor.source_bar import Source, SourceBar
from gpuscope.ui.advisor.sources import AdvisorSources, engine_sources
from gpuscope.ui.background import Newest
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

DEBOUNCE_MS = 200
"""Typing pauses this long before the candidates are ranked again."""


class AdvisorPanel(QWidget):
    """Constraints on top, the answer below; what takes time happens beside the window."""

    status = Signal(str)
    """What the panel is doing, for the status line; empty when it is done."""
    export_requested = Signal()

    def __init__(
        self,
        parent: QWidget | None = None,
        sources: AdvisorSources | None = None,
        store: PresetStore | None = None,
    ) -> None:
        """Nothing to advise on yet.

        Args:
            parent: as always in Qt.
            sources: where footprints and recommendations come from; None: the engine.
            store: what the form remembers; None: that in the state folder.
        """
        super().__init__(parent)
        self._sources = sources or engine_sources()
        self._path: Path | None = None
        self._running = False
        self._footprint: Footprint | None = None
        self._constraints = Constraints()
        self._recommendation: Recommendation | None = None
        self._reading = Newest(self)
        self._ranking = Newest(self)
        self._choosing = Newest(self)
        self._importing = Newest(self)
        self._keeping = Newest(self)
        self._pause = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self.source_bar = SourceBar(self)
        store = store or PresetStore()
        self.estimate_form = EstimateForm(store, self)
        self.constraints_form = ConstraintsForm(store, self)
        self.jobs_form = JobsForm(self._sources.recent, self)
        self.message = MessagePage(self)
        self.earlier = WrappingLabel(self)
        self.earlier.setText(self.tr("The form has a mistake: this answer keeps to what was asked before."))
        set_role(self.earlier, "warning")
        self.earlier.hide()
        self.result = ResultPage(self)
        self.mix_result = MixResult(self)
        self._mixing = MixAdvice(self.jobs_form, self.mix_result, self._sources.mix, self)
        self._lay_out()
        self._connect()
        self._show_message(self.message.show_nothing_yet)
        self._choosing.submit(self._sources.choices)

    @property
    def footprint(self) -> Footprint | None:
        """What the present answer is for."""
        return self._footprint

    @property
    def estimating(self) -> bool:
        """Whether that is a model that was typed in."""
        return self.source_bar.estimating

    @property
    def mix(self) -> MixRecommendation | None:
        """The answer for several jobs, while that is what is shown."""
        return self.mix_result.mix if self.source_bar.source is Source.JOBS else None

    @property
    def constraints(self) -> Constraints:
        """The limits that were last understood."""
        return self._constraints

    @property
    def recommendation(self) -> Recommendation | None:
        """The present answer."""
        return self._recommendation

    def on_session_opened(self, manifest: Manifest, path: Path) -> None:
        """Another session is followed now."""
        self._path = path
        self._running = True
        self.source_bar.set_session(manifest.run.display if manifest.run else path.stem)
        self.source_bar.choose_session()
        self.constraints_form.set_project(manifest.run.cwd if manifest.run else str(path.parent))
        self.constraints_form.suggest_total_steps(manifest.run.total_steps if manifest.run is not None else None)
        self._forget()
        self._show_message(self.message.show_running)

    def on_session_ended(self, _outcome: RunOutcome | None) -> None:
        """The session is complete: advise on it."""
        self._running = False
        if self.source_bar.source is Source.SESSION:
            self.advise_on_session()

    def advise_on_session(self) -> None:
        """Advise on what the session holds so far."""
        if self._path is not None:
            if self._recommendation is None:
                self._show_message(self.message.show_working)
            self.status.emit(self.tr("Working out what the job uses…"))
            self._reading.submit(partial(self._sources.footprint, self._path))

    # -- construction ------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        parts = AdvisorParts(
            source=self.source_bar,
            decision=_column(self.earlier, self.message, self.result.verdict, self.mix_result.sentence),
            form=_column(self.estimate_form, self.jobs_form, self.constraints_form),
            answer=_column(self.result, self.mix_result),
        )
        self.estimate_form.hide()
        self.jobs_form.hide()
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(FormAndAnswer(parts, self))

    def _connect(self) -> None:
        self.source_bar.changed.connect(self._on_source_changed)
        self.source_bar.export_requested.connect(self.export_requested)
        self.message.so_far_requested.connect(self.advise_on_session)
        self.message.estimate_requested.connect(self.source_bar.choose_estimate)
        self.constraints_form.changed.connect(self._pause.start)
        self.constraints_form.failed.connect(self.status)
        self.estimate_form.failed.connect(self.status)
        self.constraints_form.quotes.import_requested.connect(self._import_quotes)
        self._importing.finished.connect(self.constraints_form.quotes.add_quotes)
        self._importing.failed.connect(self.constraints_form.quotes.show_problem)
        self.estimate_form.changed.connect(self._pause.start)
        self.jobs_form.changed.connect(self._pause.start)
        self._mixing.answered.connect(self._on_mix)
        self._mixing.failed.connect(self._on_failed)
        self._pause.timeout.connect(self._on_pause)
        self._reading.finished.connect(self._on_footprint)
        self._reading.failed.connect(self._on_failed)
        self._ranking.finished.connect(self._on_ranked)
        self._ranking.failed.connect(self._on_failed)
        self._choosing.finished.connect(self.constraints_form.offer)
        self._choosing.failed.connect(self._on_failed)

    # -- what the person does ----------------------------------------------------------------------------------

    def _on_source_changed(self) -> None:
        source = self.source_bar.source
        self.estimate_form.setVisible(source is Source.TYPED)
        self.jobs_form.setVisible(source is Source.JOBS)
        self._forget()
        if source is Source.TYPED:
            self.estimate_form.focus()
            self._show_message(self.message.show_typing_hint)
            self._on_pause()
        elif source is Source.JOBS:
            self._show_message(self.message.show_jobs_hint)
            self._on_pause()
        elif self._path is None:
            self._show_message(self.message.show_nothing_yet)
        elif self._running:
            self._show_message(self.message.show_running)
        else:
            self.advise_on_session()

    def _on_pause(self) -> None:
        understood = self._read_form()
        if self.source_bar.source is Source.JOBS:
            self._advise_on_jobs()
        elif self.source_bar.source is Source.TYPED:
            self._estimate()
        elif understood:
            self._rank()

    def _read_form(self) -> bool:
        """Take over what the form asks for; False when it has a mistake, then the limits stay as they were."""
        constraints = self.constraints_form.read(datetime.now().astimezone())
        self.earlier.setVisible(constraints is None)
        if constraints is not None:
            self._constraints = constraints
        return constraints is not None

    def _estimate(self) -> None:
        model = self.estimate_form.read()
        if model is None:
            self._forget()
            self._show_message(self.message.show_typing_hint)
        else:
            self._reading.submit(partial(self._sources.estimate, model))

    def _advise_on_jobs(self) -> None:
        """The amount of work of the run at hand is not that of each job."""
        own_amount = not self.constraints_form.total_is_suggested
        limits = self._constraints if own_amount else msgspec.structs.replace(self._constraints, total_steps=None)
        if not self._mixing.ask(limits):
            self.source_bar.set_exportable(False)
            self._show_message(self.message.show_jobs_hint)

    def _import_quotes(self, path: Path) -> None:
        self._importing.submit(partial(self._sources.quotes, path))

    # -- what the work beside the window brings ----------------------------------------------------------------

    def _on_footprint(self, footprint: Footprint) -> None:
        if says_enough(footprint):
            self._footprint = footprint
            self.constraints_form.set_measured_stage(footprint.workload.stage)
            self._read_form()  # what was remembered counts from the first answer on
            self._rank()
        else:
            self.status.emit("")
            self._show_message(partial(self.message.show_too_little, running=self._running))

    def _rank(self) -> None:
        if self._footprint is not None:
            self._ranking.submit(partial(_ranked, self._sources.advise, self._footprint, self._constraints))

    def _on_ranked(self, ranked: tuple[Recommendation, Rows]) -> None:
        recommendation, rows = ranked
        self._recommendation = recommendation
        self.status.emit("")
        if self._footprint is not None:
            self.result.show_recommendation(recommendation, basis_of(self._footprint, running=self._running), rows)
            if self.source_bar.source is Source.SESSION and self._path is not None and not self._running:
                self._keeping.submit(partial(self._sources.keep, self._path, self._footprint, recommendation))
        self._show_only(self.result)
        self.source_bar.set_exportable(True)

    def _on_mix(self) -> None:
        self.status.emit("")
        self._show_only(self.mix_result)
        self.source_bar.set_exportable(True)

    def _on_failed(self, sentence: str) -> None:
        self.status.emit("")
        self.source_bar.set_exportable(False)
        self._show_message(partial(self.message.show_problem, sentence))

    def _forget(self) -> None:
        for work in (self._reading, self._ranking, self._mixing):
            work.forget()
        self._footprint = self._recommendation = None
        self.source_bar.set_exportable(False)

    def _show_message(self, say: Callable[[], None]) -> None:
        say()
        self._show_only(self.message)

    def _show_only(self, page: QWidget) -> None:
        for each in (self.message, self.result, self.mix_result):
            each.setVisible(each is page)
        self.result.verdict.setVisible(page is self.result)
        self.mix_result.sentence.setVisible(page is self.mix_result)


def _ranked(
    advise: Callable[[Footprint, Constraints], Recommendation], footprint: Footprint, constraints: Constraints
) -> tuple[Recommendation, Rows]:
    """An answer with the cells of its table."""
    recommendation = advise(footprint, constraints)
    return recommendation, rows_of(recommendation)


def _column(*parts: QWidget) -> QWidget:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GRID)
    for part in parts:
        column.addWidget(part)
    return widget
