"""A window that says how good the predictions are: published measurements, decisions, this machine's own runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from gpuscope.engine.validate import OwnRuns, ValidationReport
from gpuscope.ui.advisor.result.table_cells import FigureTable
from gpuscope.ui.background import Newest
from gpuscope.ui.theme import GRID, set_role
from gpuscope.ui.validation import rows
from gpuscope.ui.validation.kept import KeptValidation, ValidationStore
from gpuscope.ui.validation.scatter import OutcomeScatter
from gpuscope.ui.validation.work import Run, StudyRows, ValidationWork, own_runs
from gpuscope.ui.widgets.wrapping_label import WrappingLabel

START_SIZE = (1000, 720)


class ValidationPage(QWidget):
    """Works while it is open; closing it stops the work. What there is stays, the last whole comparison for good."""

    def __init__(
        self,
        parent: QWidget | None = None,
        run: Run | None = None,
        own: Callable[[], OwnRuns] = own_runs,
        store: ValidationStore | None = None,
    ) -> None:
        """Nothing is computed before the person asks for it.

        Args:
            parent: as always in Qt.
            run: stands for the engine in tests, as does `own`.
            own: this machine's runs.
            store: where the last comparison is kept; None: in the state folder.
        """
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(self.tr("How good the predictions are – gpuscope"))
        self.resize(*START_SIZE)
        self._studies: list[StudyRows] = []
        self._report: ValidationReport | None = None
        self._own = own
        self._reading = Newest(self)
        self._reading.finished.connect(self._show_own)
        self._store = store or ValidationStore()
        self._keeping = Newest(self)
        self._recalling = Newest(self)
        self._recalling.finished.connect(self._on_recalled)
        self.work = ValidationWork(self, run)
        self.work.progressed.connect(self._on_progress)
        self.work.study_done.connect(self._on_study)
        self.work.finished.connect(self._on_finished)
        self.work.failed.connect(self._on_failed)
        self._make_widgets()
        self._lay_out()
        self._show_state()
        self._recalling.submit(self._store.read)

    def start(self) -> None:
        """Predict everything anew."""
        self._recalling.forget()
        self._studies, self._report = [], None
        self._show_studies()
        self.decisions.setRowCount(0)
        self.sentence.setText(self.tr("Predicting published measurements that the constants were not fitted on…"))
        self.progress.setValue(0)
        self.work.start()
        self._show_state()

    def showEvent(self, event: QShowEvent) -> None:
        """Look at this machine's runs again: that is quick."""
        super().showEvent(event)
        self._reading.submit(self._own)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Nobody looks any more: the work ends, what it has brought stays."""
        if self.work.busy:
            self.work.forget()
            self.sentence.setText(self._sentence_of(complete=False))
        self._show_state()
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    # -- construction ------------------------------------------------------------------------------------------

    def _make_widgets(self) -> None:
        self.sentence = WrappingLabel(self)
        self.sentence.setText(
            self.tr(
                "Predicts what others published, with constants that had not seen it, and compares. This takes a few "
                "minutes of one core; stop it at any time and keep what there is."
            )
        )
        self.start_button = QPushButton(self.tr("&Compare with published measurements"), self)
        set_role(self.start_button, "primary")
        self.stop_button = QPushButton(self.tr("&Stop"), self)
        self.progress = QProgressBar(self)
        self.progress.setAccessibleName(self.tr("Progress of the comparison"))
        self.table = FigureTable(self.tr("Studies"), self)
        self.table.itemSelectionChanged.connect(self._show_chosen)
        self.table.setToolTip(self.tr("Choose a study to see only its marks."))
        self.scatter = OutcomeScatter(self)
        self.nothing = WrappingLabel(self)
        set_role(self.nothing, "muted")
        self.decisions = FigureTable(self.tr("Decisions"), self)
        self.own_sentence = WrappingLabel(self)
        self.own_table = FigureTable(self.tr("Runs on this machine that had been predicted"), self)
        self.all_button = QPushButton(self.tr("Show &all studies"), self)
        self.all_button.clicked.connect(self.table.clearSelection)
        self.start_button.clicked.connect(self.start)
        self.stop_button.clicked.connect(self.work.stop)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        for button in (self.start_button, self.stop_button, self.all_button):
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        head.addWidget(self.start_button)
        head.addWidget(self.stop_button)
        head.addWidget(self.progress, 1)
        head.addStretch(0)
        head.addWidget(self.all_button)
        self.published = QSplitter(Qt.Orientation.Vertical, self)
        self.published.setChildrenCollapsible(False)
        self.published.addWidget(self.table)
        self.published.addWidget(self.scatter)
        self.published.setSizes([260, 400])
        studies = QWidget(self)
        studies_column = QVBoxLayout(studies)
        studies_column.addWidget(self.nothing)
        studies_column.addWidget(self.published, 1)
        studies_column.addStretch(0)
        own = QWidget(self)
        own_column = QVBoxLayout(own)
        own_column.addWidget(self.own_sentence)
        own_column.addWidget(self.own_table, 1)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(studies, self.tr("&Published measurements"))
        self.tabs.addTab(self.decisions, self.tr("&Decisions"))
        self.tabs.addTab(own, self.tr("This &machine"))
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.sentence)
        column.addLayout(head)
        column.addWidget(self.tabs, 1)

    # -- what the work brings ----------------------------------------------------------------------------------

    def _on_progress(self, done: int, parts: int, name: str) -> None:
        self.progress.setMaximum(parts)
        self.progress.setValue(done)
        self.progress.setFormat(self.tr("{0} of {1}: {2}").format(done + 1, parts, name.replace("_", " ")))

    def _on_study(self, study: StudyRows) -> None:
        self._studies.append(study)
        self._show_studies()

    def _on_finished(self, report: ValidationReport) -> None:
        self._show_report(report)
        self._show_own(report.own)
        self._show_state()
        if report.complete:
            kept = KeptValidation(
                day=datetime.now().astimezone().date().isoformat(),
                report=report,
                outcomes=tuple(study.outcomes for study in self._studies),
            )
            self._keeping.submit(partial(self._store.write, kept))

    def _on_recalled(self, kept: KeptValidation | None) -> None:
        if kept is None:
            return
        self._studies = kept.studies()
        self._show_report(kept.report)
        made = self.tr("This is of {0}, by gpuscope {1}; compare again after an update.")
        self.sentence.setText(f"{self.sentence.text()} {made.format(kept.day, kept.version)}")
        self._show_state()

    def _show_report(self, report: ValidationReport) -> None:
        self._report = report
        self._show_studies()
        self.decisions.show_rows(rows.decision_titles(), [rows.decision_row(score) for score in report.decisions])
        failed = [result.name for result in report.studies if result.failure]
        self.sentence.setText(self._sentence_of(complete=report.complete, failed=failed))

    def _on_failed(self, sentence: str) -> None:
        self.sentence.setText(sentence)
        self._show_state()

    def _sentence_of(self, *, complete: bool, failed: Sequence[str] = ()) -> str:
        count = sum(study.figures.rows for study in self._studies)
        parts = [self.tr("{0} measurements of {1} studies were predicted.").format(f"{count:,}", len(self._studies))]
        if not complete:
            parts.append(self.tr("It was stopped: the rest is missing."))
        if failed:
            parts.append(self.tr("These failed: {0}.").format(", ".join(failed)))
        return " ".join(parts)

    def _show_own(self, own: OwnRuns) -> None:
        self.own_sentence.setText(rows.own_sentence(own))
        self.own_table.show_rows(rows.own_titles(), rows.own_rows(own))
        self.own_table.setVisible(bool(own.runs))

    def _show_studies(self) -> None:
        results = {result.name: result for result in self._report.studies} if self._report is not None else {}
        shown = [rows.study_row(study, results.get(study.name)) for study in self._studies]
        failures = [rows.failed_row(result) for result in results.values() if result.failure]
        self.table.show_rows(rows.study_titles(), [*shown, *failures])
        self._show_emptiness()
        self._show_chosen()

    def _show_chosen(self) -> None:
        chosen = [index.row() for index in self.table.selectionModel().selectedRows()]
        picked = [self._studies[row] for row in chosen if row < len(self._studies)]
        self.scatter.show_studies(picked or self._studies, [study.name for study in self._studies])
        self.all_button.setEnabled(bool(picked))

    def _show_state(self) -> None:
        busy = self.work.busy
        self.start_button.setEnabled(not busy)
        self.stop_button.setVisible(busy)
        self.progress.setVisible(busy)
        self._show_emptiness()

    def _show_emptiness(self) -> None:
        """An empty table and a plot without marks would say nothing."""
        empty = not self.table.rowCount()
        self.published.setVisible(not empty)
        self.nothing.setVisible(empty)
        self.all_button.setVisible(not empty)
        self.nothing.setText(
            self.tr("The first study is in work; its rows appear here.")
            if self.work.busy
            else self.tr("Nothing has been compared on this machine yet.")
        )
